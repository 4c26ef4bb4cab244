import { useState } from 'preact/hooks'
import type { Json, JsonObject, Listed, LoggedEvent, Schema } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useLoad } from '../state/load.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Value } from './values.tsx'

type Side = 'yours' | 'theirs'

interface ConflictProps {
  schema: Schema
  /** As the person began; what the person wants; as it is stored now. */
  before: JsonObject
  yours: JsonObject
  theirs: JsonObject
  /** The id of the user. */
  id: string
  isBusy: boolean
  onClose: () => void
  /** Called with the members that the person keeps. */
  onChosen: (kept: readonly string[]) => void
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Who has changed the user last, and when. */
function LatestChange ({ id }: { id: string }) {
  const { say, ago, time } = useSpeech()
  const { client, can, capabilities: { offers } } = useSession()
  const loaded = useLoad(id, async (signal) => offers.events && can('events:read')
    ? (await client.get<Listed<LoggedEvent>>(`/users/${id}/events?limit=1`, { signal })).body.data[0] ?? null
    : null)
  if (loaded.value === null) return null
  const { actor, timestamp } = loaded.value
  const who = actor === null ? say('events.server') : `\u2068${actor.name ?? actor.id}\u2069`
  return <p title={time(timestamp)}>{say('conflict.by', { who, when: ago(timestamp) })}</p>
}

/** What a person and somebody else have changed, side by side. Where both have changed the same, the person chooses. */
export function Conflict ({ schema, before, yours, theirs, id, isBusy, onClose, onChosen }: ConflictProps) {
  const { say } = useSpeech()
  const kind = kindOf(schema)
  const properties = kind.is === 'object' ? Object.entries(kind.properties) : []
  const rows = properties.filter(([name]) => !isSame(yours[name], theirs[name]))
  const [choices, setChoices] = useState<Readonly<Record<string, Side>>>(() => Object.fromEntries(
    rows.flatMap(([name]): Array<[string, Side]> => {
      if (isSame(before[name], yours[name])) return [[name, 'theirs']]
      return isSame(before[name], theirs[name]) ? [[name, 'yours']] : []
    })
  ))
  const [isLate, setLate] = useState(false)
  const option = (name: string, schema: Schema, side: Side, value: Json | undefined) => (
    <td role='cell' data-label={say(`conflict.${side}`)}>
      <label class='check'>
        <input
          type='radio'
          name={`conflict-${name}`}
          checked={choices[name] === side}
          onChange={() => setChoices({ ...choices, [name]: side })}
        />
        <span>
          <span class='visually-hidden'>{labelOf(name, schema)}, {say(`conflict.${side}`)}: </span>
          <Value value={value} schema={schema} />
        </span>
      </label>
    </td>
  )
  return (
    <Dialog title={say('conflict.title')} look='wide' onClose={onClose}>
      <LatestChange id={id} />
      <p>{say('conflict.help')}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (rows.some(([name]) => choices[name] === undefined)) setLate(true)
          else onChosen(rows.filter(([name]) => choices[name] === 'yours').map(([name]) => name))
        }}
      >
        <table role='table' aria-label={say('conflict.title')}>
          <thead role='rowgroup'>
            <tr role='row'>
              {(['field', 'yours', 'theirs'] as const).map((each) => (
                <th key={each} role='columnheader' scope='col'>{say(`conflict.${each}`)}</th>
              ))}
            </tr>
          </thead>
          <tbody role='rowgroup'>
            {rows.map(([name, inner]) => (
              <tr key={name} role='row'>
                <th role='rowheader' scope='row'>{labelOf(name, inner)}</th>
                {option(name, inner, 'yours', yours[name])}
                {option(name, inner, 'theirs', theirs[name])}
              </tr>
            ))}
          </tbody>
        </table>
        {isLate && <p class='alert' role='alert'>{say('conflict.choose')}</p>}
        <div class='bar'>
          <button type='submit' class='primary' disabled={isBusy}>{say('conflict.save')}</button>
          <button type='button' onClick={onClose}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
