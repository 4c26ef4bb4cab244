import type { Context } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { gather, type Several } from '../core/gather.ts'
import { idAt, newId } from '../core/ids.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { isStorageError } from '../storage/storage-error.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Repository } from '../storage/repository.ts'
import type { UserFilter, UserRecord } from '../storage/storage.ts'
import { belongsTo } from '../storage/storage-rules.ts'
import type { UserWrite, WriteOutcome, WriteScope } from '../storage/user-writes.ts'
import { doneOf, publishedTypes, type PublishUser, writeAlone } from '../users/outcomes.ts'
import { keysOf } from '../users/rules.ts'
import { findIn } from '../users/write-checks.ts'
import type { FindAway, FindHolder, IsIn, Verdict } from './import-judge.ts'
import { textOfKey, type UniqueKey } from './import-keys.ts'
import type { ImportRow } from './import-row.ts'

/**
 * What an import reads and writes. Writes throw `field_taken` for a value that is unique without the mount's knowledge:
 * another mount on the storage has asked for it.
 */
export interface ImportStore {
  find: FindHolder
  isIn: IsIn
  /** Adds the user of a row. null: somebody has one of its keys now. `id` is null where none was made. */
  create (row: ImportRow): Promise<{ id: string | null } | null>
  /** False: somebody has changed the user since, or has one of its new keys. */
  update (row: ImportRow, verdict: Verdict & { status: 'updated' }): Promise<boolean>
  /** Frees what it holds. */
  close (): Promise<void>
}

export interface ImportStoreParts {
  repository: Repository
  publish: PublishUser
  makeEvent: MakeEvent
}

/** True for what the storage itself refuses, for example by a trigger or a constraint of the host's. */
export const isFault = (error: unknown): error is UsersError =>
  error instanceof UsersError && isStorageError(error.cause) && error.cause.code === 'fault'

const EVERYBODY: UserFilter = { emailKey: null, words: null, fields: {} }
const FIRST = { order: 'asc', limit: 1, from: { offset: 0 } } as const
// Values of a field that are looked up by one statement.
const TOGETHER_MAX = 64
// Rows that join groups, a whole batch: four parts would meet at the rows of the groups, and import 0.8 times as many.
const ROWS_TOGETHER_MAX = 256
const TAKEN = ['email_taken', 'version_mismatch']

type Users = Repository['users']

/** The tenant of a key; without one, the importer's. */
const tenantOf = (key: Pick<UniqueKey, 'tenant'>, own: string | undefined): Pick<UserFilter, 'tenant'> => {
  const tenant = key.tenant ?? own
  return tenant === undefined ? {} : { tenant }
}

/** Makes the search for who holds a value of a unique field. Concurrent searches share statements. */
function findByField ({ list }: Users, own: string | undefined): FindHolder {
  async function holderOf ({ name, value, ...within }: UniqueKey): Promise<UserRecord | null> {
    const { items } = await list({ ...EVERYBODY, fields: { [name]: value }, ...tenantOf(within, own) }, FIRST)
    return items[0] ?? null
  }

  /** The holders of values of one field, in one tenant. */
  async function holdersOf (keys: readonly UniqueKey[]): Promise<ReadonlyArray<UserRecord | null>> {
    const [first] = keys
    if (first === undefined || keys.length === 1) return Promise.all(keys.map(holderOf))
    const { name } = first
    const filter = { ...EVERYBODY, anyOf: { [name]: keys.map(({ value }) => value) }, ...tenantOf(first, own) }
    const { items, total } = await list(filter, { ...FIRST, limit: keys.length })
    // Without `tenant`, users of several tenants may share a value.
    if (total > items.length) return Promise.all(keys.map(holderOf))
    const holders = new Map<unknown, UserRecord>()
    // The holder that is listed first counts, as in a look-up of one value.
    for (const user of items.toReversed()) holders.set(user.fields[name], user)
    return keys.map(({ value }) => holders.get(value) ?? null)
  }

  return gather(TOGETHER_MAX, textOfKey, async (keys: Several<UniqueKey>) => {
    const groups = new Map<string, UniqueKey[]>()
    for (const key of keys) {
      const group = `${key.name} ${key.tenant}`
      groups.set(group, [...groups.get(group) ?? [], key])
    }
    const found = new Map<UniqueKey, UserRecord | null>()
    await Promise.all([...groups.values()].map(async (group) => {
      const holders = await holdersOf(group)
      for (const [i, key] of group.entries()) found.set(key, holders[i] ?? null)
    }))
    return keys.map((key) => found.get(key) ?? null)
  })
}

/** Makes the search for who holds a key in a storage. */
export function holdersIn (repository: Repository, own: string | undefined): FindHolder {
  const { users } = repository
  const byField = findByField(users, own)
  return (key) => fromStorage(async () => {
    if (key.name === 'id') return findIn(repository, String(key.value), own)
    if (key.name !== 'email') return byField(key)
    const filter = { ...EVERYBODY, emailKey: String(key.value), ...tenantOf(key, own) }
    const { items } = await users.list(filter, FIRST)
    return items[0] ?? null
  })
}

/**
 * Makes the function that says why a new user can't have the id: a user is put away under it, and could not be restored
 * any more, or it is that of a user of another tenant. null: nobody has it.
 */
export function awayIn ({ users, trash }: Repository, own: string | undefined, hasTrash: boolean): FindAway {
  const taken = (detail: string): UsersError =>
    new UsersError('field_taken', { errors: [{ pointer: '/id', code: 'taken', detail }] })
  return (id) => fromStorage(async () => {
    const away = hasTrash ? await trash.find(id) : null
    // Of another tenant nothing is told.
    if (away !== null && belongsTo(away.user, own)) {
      return taken('must be unique: a deleted user has it, and can be restored or purged')
    }
    const isOthers = away !== null || (own !== undefined && await users.find(id) !== null)
    return isOthers ? taken('must be unique') : null
  })
}

/** The user that a row makes. Its id is as old as the user is, so that users are listed by their creation. */
export function userOfRow (row: ImportRow): UserRecord {
  const { name, email, fields, members, version, line, tenant } = row
  const createdAt = row.createdAt ?? new Date().toISOString()
  const made = row.createdAt === null ? newId('usr') : idAt('usr', Date.parse(createdAt), line)
  return {
    id: row.id ?? made,
    name: name.value,
    email: email.value,
    fields,
    ...members,
    version,
    createdAt,
    updatedAt: row.updatedAt ?? createdAt,
    ...(tenant !== undefined && { tenant })
  }
}

/** Says who is a member of groups of a storage. */
export const membersIn = ({ groups }: Pick<Repository, 'groups'>): IsIn =>
  (group, user) => fromStorage(() => groups.has(group, user))

type RowWrite = UserWrite & { type: 'create' | 'update' }

/**
 * Makes what writes a row. Rows that join groups are written together: each changes the row of its groups, and alone
 * they would wait for each other.
 */
function writerOf (repository: Repository, scope: WriteScope): (write: RowWrite) => Promise<WriteOutcome> {
  const alone = (write: RowWrite): Promise<WriteOutcome> =>
    writeAlone(repository, write, scope).then(({ outcome }) => outcome)

  async function all (writes: readonly RowWrite[]): Promise<ReadonlyArray<() => WriteOutcome>> {
    try {
      const asked = { ...scope, atomic: false, idempotency: null }
      const { outcomes } = await fromStorage(() => repository.users.write(writes, asked))
      return outcomes.map((outcome) => () => outcome)
    } catch (error) {
      // Of a transaction of the host's nothing can be written after a fault.
      if (writes.length === 1 || repository.isJoined || !isFault(error)) throw error
    }
    const settled: Array<() => WriteOutcome> = []
    for (const write of writes) {
      settled.push(await alone(write).then((outcome) => () => outcome, (error: unknown) => () => { throw error }))
    }
    return settled
  }

  const idOf = (write: RowWrite): string => write.type === 'create' ? write.user.id : write.id
  const together = gather(ROWS_TOGETHER_MAX, idOf, all)
  return async (write) => (write.joins ?? []).length === 0 ? alone(write) : (await together(write))()
}

/** An import into a storage. Who makes it is in `context`; `unique`: the fields that the mount knows to be unique. */
export function importInto (
  { repository, publish, makeEvent }: ImportStoreParts,
  stored: Pick<ImportStore, 'find' | 'isIn'>,
  scope: WriteScope,
  unique: ReadonlySet<string>,
  context: Context
): ImportStore {
  const isTaken = (outcome: WriteOutcome): boolean =>
    TAKEN.includes(outcome.code) || (outcome.code === 'field_taken' && unique.has(outcome.field))

  const write = writerOf(repository, scope)

  return {
    ...stored,

    create: (row) => fromStorage(async () => {
      const user = userOfRow(row)
      const event = makeEvent('user.created', context)
      try {
        const outcome = await write({ type: 'create', user, keys: keysOf(row), event, joins: row.joins })
        if (isTaken(outcome)) return null
        publish('user.created', doneOf(outcome).user, context, event)
      } catch (error) {
        const mayBeTheId = error instanceof UsersError && error.code === 'internal'
        if (mayBeTheId && await findIn(repository, user.id, scope.tenant) !== null) return null
        throw error
      }
      return { id: user.id }
    }),

    update: async ({ joins }, { target: { id, version }, changes, updatedAt }) => {
      const event = makeEvent('user.updated', context)
      const guard = { ifVersion: [version], unlessVersion: [] }
      const outcome = await write({ type: 'update', id, changes, updatedAt, guard, event, joins })
      if (isTaken(outcome) || outcome.code === 'not_found') return false
      const { user, changed, types } = doneOf(outcome)
      if (!changed) return true
      for (const [type, recorded] of publishedTypes('user.updated', types, event)) {
        publish(type, user, context, recorded)
      }
      return true
    },

    async close () {}
  }
}
