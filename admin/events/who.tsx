import { useEffect, useId, useState } from 'preact/hooks'
import type { ApiKey, Listed, LoggedEvent, User } from '../api/types.ts'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { useLoad } from '../state/load.ts'
import { type Session, useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { filterQuery } from '../users/query.ts'

const FOUND = 8
const ID = /^(?:usr|key|whk)_[0-9a-z]{26}$/

export type Role = 'subject' | 'actor'

/** Somebody, or something, that events are of or by. */
interface Known { id: string, name: string }

const named = (id: unknown, name: unknown): Known[] =>
  typeof id === 'string' && typeof name === 'string' ? [{ id, name }] : []

/** Those with these letters in their names: of the events that are shown, of the users, and of the newest keys. */
async function find (
  typed: string,
  role: Role,
  shown: readonly LoggedEvent[],
  { client, can, capabilities: { offers, pageSize } }: Session,
  signal: AbortSignal
): Promise<Known[]> {
  const { q } = filterQuery({ q: typed, filters: {} })
  const list = async <Item,>(path: string): Promise<Item[]> =>
    (await client.get<Listed<Item>>(path, { signal })).body.data
  const [users, keys] = await Promise.all([
    q !== undefined && can('users:read')
      ? list<User>(`/users?${new URLSearchParams({ q, limit: String(FOUND) }).toString()}`)
      : [],
    offers.apiKeys && can('keys:read') ? list<ApiKey>(`/api-keys?sort=-createdAt&limit=${pageSize.max}`) : []
  ])
  const others = [
    ...shown.flatMap(({ data, actor }) =>
      role === 'subject' ? named(data['id'], data['name']) : named(actor?.id, actor?.name)),
    ...keys
  ].filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()))
  const all = [...users.map(({ id, name, email }) => ({ id, name: `${name} · ${email}` })), ...others]
  return [...new Map(all.toReversed().map((each) => [each.id, each])).values()].toReversed().slice(0, 2 * FOUND)
}

interface WhoProps {
  role: Role
  /** The id that the log is narrowed to. */
  value: string
  /** Whom it stands for, as far as that is known. */
  name: string | undefined
  shown: readonly LoggedEvent[]
  fault: string | undefined
  onValue: (id: string) => void
}

/** Whom events are of or by: an id, or a name that ids are offered for. What nobody is called may be an id too. */
export function Who ({ role, value, name, shown, fault, onValue }: WhoProps) {
  const { say } = useSpeech()
  const session = useSession()
  const list = useId()
  const [typed, setTyped] = useState('')
  const { value: found, isStale } = useLoad(typed, async (signal) =>
    typed === '' ? [] : await find(typed, role, shown, session, signal))
  useEffect(() => {
    if (typed.length > 1 && !isStale && found?.length === 0) onValue(typed)
  }, [found])
  return (
    <>
      <DebouncedField
        label={say(`events.${role}`)}
        placeholder={say('events.nameOrId')}
        list={list}
        value={value}
        {...(name !== undefined && { hint: name })}
        fault={fault ?? (typed !== '' && !isStale ? say('events.notNarrowed') : undefined)}
        onValue={(text) => {
          const isId = text.trim() === '' || ID.test(text.trim())
          setTyped(isId ? '' : text.trim())
          if (isId) onValue(text)
        }}
      />
      <datalist id={list}>
        {typed !== '' && found?.map(({ id, name }) => <option key={id} value={id} label={name} />)}
      </datalist>
    </>
  )
}
