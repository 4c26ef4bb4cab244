import { useState } from 'preact/hooks'
import type { Json, JsonObject, Schema } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useSpeech } from '../state/texts.ts'
import { Value } from './values.tsx'

type Side = 'yours' | 'theirs'

interface ConflictProps {
  schema: Schema
  /** As the person began; what the person wants; as it is stored now. */
  before: JsonObject
  yours: JsonObject
  theirs: JsonObject
  isBusy: boolean
  onClose: () => void
  /** Called with the members that the person keeps. */
  onChosen: (kept: readonly string[]) => void
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

/** What a person and somebody else have changed, side by side. Where both have changed the same, the person chooses. */
export function Conflict ({ schema, before, yours, theirs, isBusy, onClose, onChosen }: ConflictProps) {
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
