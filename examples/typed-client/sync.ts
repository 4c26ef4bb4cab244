/** Keeps the users in step with a directory elsewhere, by the client and the types of the API's description. */
import { ClientError, createClient, type FieldsOf, type UsersClient } from 'fastify-users/client'
import type { components } from './api.d.ts'

/** The host's own fields: `openapi-typescript openapi.json -o api.d.ts` */
type Fields = FieldsOf<components['schemas']['users.User']>
type Users = UsersClient<Fields>

export interface Person { name: string, email: string, hasLeft?: boolean }
export type Outcome = 'created' | 'changed' | 'same' | 'deleted'

export const usersOf = (baseUrl: string, key: string): Users => createClient<Fields>({ baseUrl, key })

/** Brings one person; who changes the user meanwhile loses nothing. */
async function bring (users: Users, { name, email, hasLeft = false }: Person): Promise<Outcome> {
  const { data: [known] } = await users.list({ email })
  if (known === undefined) {
    if (hasLeft) return 'same'
    await users.create({ name, email })
    return 'created'
  }
  if (hasLeft) {
    await users.delete(known.id)
    return 'deleted'
  }
  const { version } = await users.update(known.id, (user) => user.name === name ? null : { name })
  return version === known.version ? 'same' : 'changed'
}

/** Brings everybody, and counts. If two jobs bring a person concurrently, one of them counts it. */
export async function sync (users: Users, people: Iterable<Person>): Promise<Record<Outcome, number>> {
  const counts: Record<Outcome, number> = { created: 0, changed: 0, same: 0, deleted: 0 }
  for (const person of people) {
    try {
      counts[await bring(users, person)]++
    } catch (error) {
      if (!(error instanceof ClientError) || !['email_taken', 'user_not_found'].includes(error.code)) throw error
      counts.same++
    }
  }
  return counts
}
