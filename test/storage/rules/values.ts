// The records, writes and reads of the tests of our rules.
import type { IdPrefix } from '../../../lib/core/ids.ts'
import type { Repository } from '../../../lib/storage/repository.ts'
import type { ApiKeyRecord, EventRecord, Idempotency, UserRecord, VersionGuard } from '../../../lib/storage/storage.ts'
import type { ApiKeyWrite } from '../../../lib/storage/api-key-writes.ts'
import type { UserWrite, WritesOptions } from '../../../lib/storage/user-writes.ts'
import {
  anyVersion, apiKeyOf, eventOf, everyone, firstPage, idempotencyOf as anyIdempotencyOf, idOf, keysOf, rename, timeOf,
  userOf, wordsOf
} from '../../helpers/records.ts'

export {
  anyVersion, apiKeyOf, eventOf, everyone, firstPage, idOf, keysOf, rename, timeOf, userOf, wordsOf
}

type Of<Write extends { type: string }, Type extends Write['type']> = Write & { type: Type }
type More<Type extends UserWrite['type']> = Partial<Omit<Of<UserWrite, Type>, 'type' | 'id'>>

/** How many concurrent calls a race has. */
export const RACERS = 20

export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1)

export const idsOf = (prefix: IdPrefix, numbers: readonly number[]): string[] => numbers.map((n) => idOf(prefix, n))

export const onlyVersion = (...versions: number[]): VersionGuard => ({ ifVersion: versions, unlessVersion: [] })

export const readdress = (value: string) => ({ email: { value, key: value.toLowerCase(), words: wordsOf(value) } })

export const create = (user: UserRecord, more: More<'create'> = {}): Of<UserWrite, 'create'> =>
  ({ type: 'create', user, keys: keysOf(user), event: null, ...more })

/** Adds users to a tenant, with an event of each. */
export async function addTo (
  { write }: { write: Repository['users']['writeOne'] }, tenant: string | undefined, ...numbers: number[]
): Promise<void> {
  for (const n of numbers) {
    await write(create(userOf(n), { event: eventOf(n, 'user.created') }), { tenant })
  }
}

/** At the moment 900 unless another is given. */
export const update = (
  n: number, changes: Of<UserWrite, 'update'>['changes'], more: More<'update'> = {}
): Of<UserWrite, 'update'> =>
  ({ type: 'update', id: idOf('usr', n), changes, updatedAt: timeOf(900), guard: anyVersion, event: null, ...more })

export const remove = (n: number, more: More<'delete'> = {}): Of<UserWrite, 'delete'> =>
  ({ type: 'delete', id: idOf('usr', n), guard: anyVersion, event: null, erase: false, ...more })

/** A deletion into the trash at a moment. */
export const putAway = (n: number, at = 100 + n, more: More<'delete'> = {}): Of<UserWrite, 'delete'> =>
  remove(n, { putAway: { deletedAt: timeOf(at), deletedBy: null }, ...more })

export const restore = (n: number, more: More<'restore'> = {}): Of<UserWrite, 'restore'> =>
  ({ type: 'restore', id: idOf('usr', n), updatedAt: timeOf(900), guard: anyVersion, event: null, ...more })

export const purge = (n: number, more: More<'purge'> = {}): Of<UserWrite, 'purge'> =>
  ({ type: 'purge', id: idOf('usr', n), putAwayBefore: null, guard: anyVersion, event: null, erase: false, ...more })

export const done = (user: UserRecord | null, changed = true) => ({ code: 'done', changed, user })

/** The nth user after a change at the moment 900. */
export const after = (n: number, members: Partial<UserRecord> = {}): UserRecord =>
  userOf(n, { version: 2, updatedAt: timeOf(900), ...members })

export const SINGLE: WritesOptions = { atomic: false, idempotency: null }
export const ATOMIC: WritesOptions = { atomic: true, idempotency: null }

/** The nth idempotency key: new at the moment 0, and expired at 1000. */
export const idempotencyOf = (n: number, members: Partial<Idempotency> = {}): Idempotency =>
  anyIdempotencyOf(n, { expiresAt: timeOf(1000), ...members })

/** Options of a call with the nth idempotency key. */
export const keyed = (n: number, members: Partial<Idempotency> = {}): WritesOptions =>
  ({ atomic: false, idempotency: idempotencyOf(n, members) })

export const addKey = (
  n: number, members: Partial<ApiKeyRecord> = {}, more: Partial<Of<ApiKeyWrite, 'create'>> = {}
): Of<ApiKeyWrite, 'create'> =>
  ({ type: 'create', key: apiKeyOf(n, members), onlyFirst: false, event: null, ...more })

export async function addKeys ({ apiKeys }: Repository, ...keys: ApiKeyRecord[]): Promise<void> {
  for (const key of keys) await apiKeys.write({ type: 'create', key, onlyFirst: false, event: null })
}

/** At the moment 50, with an overlap until 200. */
export const rotate = (
  from: number, to: number, { successor = {}, ...more }:
    Partial<Omit<Of<ApiKeyWrite, 'rotate'>, 'successor'>> & { successor?: Partial<ApiKeyRecord> } = {}
): Of<ApiKeyWrite, 'rotate'> => ({
  type: 'rotate',
  id: idOf('key', from),
  successor: apiKeyOf(to, { rotatedFrom: idOf('key', from), ...successor }),
  now: timeOf(50),
  expiresAt: timeOf(200),
  event: null,
  ...more
})

export const revoke = (
  n: number, at: number, more: Partial<Of<ApiKeyWrite, 'revoke'>> = {}
): Of<ApiKeyWrite, 'revoke'> => ({
  type: 'revoke', id: idOf('key', n), revokedAt: timeOf(at), keepOneWith: [], successors: false, event: null, ...more
})

export const touch = (n: number, at: number, ifBefore: number): ApiKeyWrite =>
  ({ type: 'touch', id: idOf('key', n), usedAt: timeOf(at), ifBefore: timeOf(ifBefore) })

export async function usersIn ({ users }: Repository, tenant?: string): Promise<UserRecord[]> {
  const filter = { ...everyone, ...(tenant !== undefined && { tenant }) }
  return (await users.list(filter, firstPage())).items
}

export async function awayIn ({ trash }: Repository): Promise<UserRecord[]> {
  return (await trash.list({ offset: 0, limit: 1000 })).items.map(({ user }) => user)
}

export async function keysIn ({ apiKeys }: Repository): Promise<ApiKeyRecord[]> {
  return (await apiKeys.list(firstPage())).items
}

export async function eventsIn ({ events }: Repository, tenant?: string): Promise<EventRecord[]> {
  const page = await events.read({ after: null, limit: 1000, types: null, ...(tenant !== undefined && { tenant }) })
  if (page === null) throw new Error('the log has no beginning')
  return page.events
}

/** The users who are found by an address, as numbers. */
export async function holdersOf ({ users }: Repository, emailKey: string): Promise<string[]> {
  return (await users.list({ ...everyone, emailKey }, firstPage())).items.map(({ id }) => id)
}

/** What became of concurrent calls: their values, and the codes of the errors. */
export async function concurrently<Value> (
  call: (i: number) => Promise<Value>, calls = RACERS
): Promise<{ values: Value[], codes: unknown[] }> {
  const results = await Promise.allSettled(Array.from({ length: calls }, (_, i) => call(i)))
  return {
    values: results.flatMap((result) => result.status === 'fulfilled' ? [result.value] : []),
    codes: results.flatMap((result) => result.status === 'rejected' ? [Object(result.reason).code] : [])
  }
}

/** How many outcomes have each code. */
export function tally (outcomes: ReadonlyArray<{ code: string }>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of outcomes) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** Makes writes one after the other, and gives the outcome of the last. */
export const makes = (...writes: UserWrite[]) => async ({ users }: Repository) => {
  let last: unknown
  for (const write of writes) last = await users.writeOne(write)
  return last
}
export const writesKeys = (...writes: ApiKeyWrite[]) => async ({ apiKeys }: Repository) => {
  let last: unknown
  for (const write of writes) last = await apiKeys.write(write)
  return last
}
