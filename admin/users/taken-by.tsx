import { type Fault, isObject, type Json, type Listed, type User } from '../api/types.ts'
import { useLoad } from '../state/load.ts'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'

/** The way to the user who has a value already that a form was refused for. */
export function TakenBy ({ faults, sent }: { faults: readonly Fault[], sent: Json | undefined }) {
  const { say } = useSpeech()
  const { client, can, capabilities: { filterable } } = useSession()
  const name = faults.find(({ code }) => code === 'taken')?.pointer?.slice(1) ?? ''
  const value = isObject(sent) ? sent[name] : undefined
  const canAsk = can('users:read') && (name === 'email' || filterable.includes(name)) && typeof value === 'string'
  const query = canAsk ? new URLSearchParams({ [name]: value, limit: '1' }).toString() : ''
  const { value: user, isStale } = useLoad(query, async (signal) => query === ''
    ? null
    : (await client.get<Listed<User>>(`/users?${query}`, { signal })).body.data[0] ?? null)
  if (user === null || isStale) return null
  return <p class='fault'>{say('user.takenBy')} <a href={hrefOf(['users', user.id])}><bdi>{user.name}</bdi></a></p>
}
