import assert from 'node:assert/strict'
import type {
  CollectionName, EventRecord, Outcome, Page, Rewrite, Row, RowsQuery, RowWrite, Storage, Unit
} from '../../lib/storage/storage.ts'
import { membershipId } from '../../lib/storage/selection.ts'
import { idOf, timeOf, userOf } from './values.ts'

export type AnyRow = Row<CollectionName>
/** The collections whose rows are listed by their members. */
export type Listed = Exclude<CollectionName, 'users'>

/** Each collection whose rows go with one of another, with that one. */
export const OWNERS = {
  keyUses: 'apiKeys', deliveries: 'webhooks', idempotency: 'users', memberships: 'userGroups'
} as const

/** The membership of a user in a group. */
export const membershipOf = (group: string, user: string): Row<'memberships'> =>
  ({ record: { id: membershipId(group, user), version: 1, member: user }, keys: null, of: group })

/** The nth row of each collection: ids sort by n. Those of others are of the nth row of these. */
export const nth: { [Name in CollectionName]: (n: number) => Row<Name> } = {
  users (n) {
    const user = userOf(n)
    const words = { nameWords: ['user', String(n)], emailWords: [`user${n}`], fieldWords: [`field${n}`] }
    return {
      record: user, keys: { emailKey: user.email.toLowerCase(), nameKey: user.name.toLowerCase(), ...words }, of: null
    }
  },
  trash (n) {
    const { record, keys } = nth.users(n)
    return { record: { ...record, deletedAt: timeOf(n), deletedBy: null }, keys, of: null }
  },
  apiKeys: (n) => ({
    record: {
      id: idOf('key', n),
      version: 1,
      name: `Key ${n}`,
      scopes: ['users:read', 'users:write'],
      start: `uk_${String(n).padStart(12, '0')}`,
      digest: String(n).padStart(43, 'x'),
      createdAt: timeOf(n),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      rotatedFrom: null,
      rotatedAt: null,
      lifetime: null
    },
    keys: null,
    of: null
  }),
  keyUses: (n) => ({
    record: { id: `${idOf('key', n)}/2026-01-31`, version: 1, day: '2026-01-31', uses: n },
    keys: null,
    of: idOf('key', n)
  }),
  webhooks: (n) => ({
    record: {
      id: idOf('whk', n),
      version: 1,
      url: `https://receiver.example.org/${n}`,
      types: ['user.*'],
      description: null,
      enabled: true,
      disabledReason: null,
      secrets: [{ text: `whsec_${n}`, expiresAt: null }],
      after: null,
      failingSince: null,
      pausedUntil: null,
      createdAt: timeOf(n),
      updatedAt: timeOf(n)
    },
    keys: null,
    of: null
  }),
  deliveries: (n) => ({
    record: {
      id: idOf('dlv', n),
      version: 1,
      webhook: idOf('whk', n),
      event: idOf('evt', n),
      type: 'user.created',
      status: 'pending',
      dueAt: timeOf(n),
      claims: 0,
      failures: 0,
      attempts: [],
      testEvent: null,
      createdAt: timeOf(n)
    },
    keys: null,
    of: idOf('whk', n)
  }),
  idempotency: (n) => ({
    record: { id: `k${n}`.padEnd(43, '_'), version: 1, fingerprint: 'f'.repeat(43), expiresAt: timeOf(n), kept: { n } },
    keys: null,
    of: idOf('usr', n)
  }),
  userGroups: (n) => ({
    record: {
      id: idOf('grp', n),
      version: 1,
      name: `Group ${n}`,
      nameKey: `group ${n}`,
      externalId: null,
      members: 0,
      createdAt: timeOf(n),
      updatedAt: timeOf(n)
    },
    keys: null,
    of: null
  }),
  memberships: (n) => membershipOf(idOf('grp', n), idOf('usr', n)),
  marks: (n) => ({ record: { id: `rule/${n}`, version: 1 }, keys: null, of: null })
}

/** Every collection, so that owners come before what goes with them. */
export const COLLECTIONS = [
  'users', 'trash', 'apiKeys', 'keyUses', 'webhooks', 'deliveries', 'userGroups', 'memberships', 'idempotency', 'marks'
] as const satisfies readonly CollectionName[]

/** The collection that a row of this one goes with, or null. */
export const ownerOf = (name: CollectionName) =>
  name === 'keyUses' || name === 'deliveries' || name === 'idempotency' || name === 'memberships' ? OWNERS[name] : null

/** What another version of a row of each collection has. */
export const CHANGES: { [Name in CollectionName]: object } = {
  users: { name: 'New', updatedAt: timeOf(500) },
  trash: { deletedAt: timeOf(500) },
  apiKeys: { revokedAt: timeOf(500) },
  keyUses: { uses: 77 },
  webhooks: { enabled: false, disabledReason: 'gone' },
  deliveries: { status: 'failed', dueAt: null },
  userGroups: { name: 'New', nameKey: 'new', members: 7 },
  memberships: {},
  idempotency: { expiresAt: timeOf(500) },
  marks: {}
}

/** A row with other members of its record. */
export const withMembers = <Kind extends AnyRow>(row: Kind, members: object): Kind =>
  Object({ ...row, record: { ...row.record, ...members } })

/** A row with the id of another, and unique values of its own. */
export function withIdOf (name: CollectionName, there: AnyRow): AnyRow {
  const n = 9000
  return withMembers(nth[name](n), { id: there.record.id, ...(name === 'keyUses' && { day: '2025-01-31' }) })
}

/** The next version of a row. */
export const nextOf = <Kind extends AnyRow>(row: Kind, members: object = {}): Kind =>
  withMembers(row, { version: row.record.version + 1, ...members })

const write = (name: CollectionName, put: AnyRow | null, was: AnyRow | null): RowWrite => Object({ in: name, put, was })
export const add = (name: CollectionName, put: AnyRow): RowWrite => write(name, put, null)
export const move = (name: CollectionName, was: AnyRow, put: AnyRow = nextOf(was)): RowWrite => write(name, put, was)
export const drop = (name: CollectionName, was: AnyRow): RowWrite => write(name, null, was)

export const unitOf = (
  writes: readonly RowWrite[], events: readonly EventRecord[] = [], rewrites: readonly Rewrite[] = []
): Unit => ({ writes, events, rewrites })

/** Makes one unit. */
export async function commit (
  storage: Storage, writes: readonly RowWrite[], events?: readonly EventRecord[], rewrites?: readonly Rewrite[]
): Promise<Outcome> {
  const outcomes = await storage.commit([unitOf(writes, events, rewrites)])
  assert.equal(outcomes.length, 1, 'commit: a unit has one outcome')
  return outcomes[0] ?? { code: 'ok' }
}

export const OK: Outcome = { code: 'ok' }
export const changedAt = (at: number): Outcome => ({ code: 'changed', at })

/** Makes one unit that nothing refuses. */
export async function make (
  storage: Storage, writes: readonly RowWrite[], events?: readonly EventRecord[], rewrites?: readonly Rewrite[]
): Promise<void> {
  assert.deepEqual(await commit(storage, writes, events, rewrites), OK)
}

/** Adds the nth rows that are missing. */
async function addMissing (storage: Storage, name: CollectionName, numbers: readonly number[]): Promise<void> {
  const rows = numbers.map((n) => nth[name](n))
  const there = await storage.find(name, rows.map(({ record: { id } }) => ({ id })))
  await make(storage, rows.filter((_, i) => there[i] === null).map((row) => add(name, row)))
}

/** Adds the nth rows of a collection, and what they need where it is not there. */
export async function addNth (storage: Storage, name: CollectionName, ...numbers: number[]): Promise<void> {
  const owner = ownerOf(name)
  if (owner !== null) await addMissing(storage, owner, numbers)
  if (name === 'memberships') await addMissing(storage, 'users', numbers)
  await make(storage, numbers.map((n) => add(name, nth[name](n))))
}

/** The row with this id, or null. */
export async function rowIn<Name extends CollectionName> (
  storage: Storage, name: Name, id: string
): Promise<Row<Name> | null> {
  const rows = await storage.find(name, [{ id }])
  assert.equal(rows.length, 1, 'find: a key has one answer')
  return rows[0] ?? null
}

const everyRow = { order: 'asc', limit: 1000, from: { offset: 0 } } as const

/** All rows of a collection, as its list gives them. */
export const listAll = <Name extends Listed>(
  storage: Storage, name: Name, query: Omit<RowsQuery, 'page'> = {}
): Promise<Page<Row<Name>>> => storage.list(name, { ...query, page: everyRow })

/** How many rows each collection has, and how many events there are. */
export async function countAll (storage: Storage): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const all = { emailKey: null, words: null, fields: {} }
  counts['users'] = (await storage.users.list(all, everyRow)).total
  for (const name of COLLECTIONS) {
    if (name !== 'users') counts[name] = (await storage.list(name, { page: everyRow })).total
  }
  counts['events'] = (await storage.log.read({ after: null, limit: 1000, types: null }))?.events.length ?? 0
  return counts
}

/** The nth event, with the same members each time unless some are given. */
export function eventOf (n: number, members: Partial<EventRecord> = {}): EventRecord {
  const { record } = nth.users(1)
  const { fields, ...data } = record
  return {
    id: idOf('evt', n),
    type: 'user.updated',
    timestamp: timeOf(n),
    actor: { type: 'api_key', id: idOf('key', 7), name: 'Key 7' },
    requestId: `req-${n}`,
    subject: record.id,
    data: { ...data, fields },
    before: null,
    ...members
  }
}
