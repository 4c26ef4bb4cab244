import type { Context } from '../core/context.ts'
import { idAt, newId } from '../core/ids.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { isStorageError } from '../storage/storage-error.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Storage, UserFilter, UserRecord } from '../storage/storage.ts'
import type { PublishUser } from '../users/service.ts'
import type { FindHolder, Verdict } from './import-judge.ts'
import type { ImportRow } from './import-row.ts'

/**
 * What an import reads and writes. Writes throw `field_taken` for a value that is unique without the mount's knowledge:
 * another mount on the storage has asked for it.
 */
export interface ImportStore {
  find: FindHolder
  /** Adds the user of a row. null: somebody has one of its keys now. `id` is null where none was made. */
  create (row: ImportRow): Promise<{ id: string | null } | null>
  /** False: somebody has changed the user since, or has one of its new keys. */
  update (row: ImportRow, verdict: Verdict & { status: 'updated' }): Promise<boolean>
  /** Frees what it holds. */
  close (): Promise<void>
}

export interface ImportStoreParts {
  storage: Storage
  publish: PublishUser
  makeEvent: MakeEvent
}

const EVERYBODY: UserFilter = { emailKey: null, prefix: null, fields: {} }
const FIRST = { order: 'asc', limit: 1, from: { offset: 0 } } as const
const TAKEN = ['email_taken', 'version_mismatch']

/** Makes the search for who holds a key in a storage. */
export function findIn (storage: Storage): FindHolder {
  const first = async (filter: Partial<UserFilter>): Promise<UserRecord | null> => {
    const { items } = await storage.listUsers({ ...EVERYBODY, ...filter }, FIRST)
    return items[0] ?? null
  }
  return ({ name, value }) => fromStorage(() => {
    if (name === 'id') return storage.findUser(String(value))
    return first(name === 'email' ? { emailKey: String(value) } : { fields: { [name]: value } })
  })
}

/** The user that a row makes. Its id is as old as the user is, so that users are listed by their creation. */
export function userOfRow (row: ImportRow): UserRecord {
  const { name, email, fields, version, line } = row
  const createdAt = row.createdAt ?? new Date().toISOString()
  const made = row.createdAt === null ? newId('usr') : idAt('usr', Date.parse(createdAt), line)
  return {
    id: row.id ?? made,
    name: name.value,
    email: email.value,
    fields,
    version,
    createdAt,
    updatedAt: row.updatedAt ?? createdAt
  }
}

/** An import into a storage. Who makes it is in `context`; `unique`: the fields that the mount knows to be unique. */
export function importInto (
  { storage, publish, makeEvent }: ImportStoreParts,
  unique: ReadonlySet<string>,
  context: Context
): ImportStore {
  const isTaken = (error: unknown): boolean => isStorageError(error) &&
    (TAKEN.includes(error.code) || (error.code === 'field_taken' && unique.has(String(error.field))))

  const isSameId = async (error: unknown, id: string): Promise<boolean> =>
    isStorageError(error) && error.code === 'fault' && await storage.findUser(id) !== null

  return {
    find: findIn(storage),

    create: (row) => fromStorage(async () => {
      const user = userOfRow(row)
      const event = makeEvent('user.created', context)
      try {
        await storage.createUser(user, { emailKey: row.email.key, nameKey: row.name.key }, null, event)
      } catch (error) {
        if (isTaken(error) || await isSameId(error, user.id)) return null
        throw error
      }
      publish('user.created', user, context, event)
      return { id: user.id }
    }),

    update: (_row, { target, changes, updatedAt }) => fromStorage(async () => {
      const event = makeEvent('user.updated', context)
      const onlyThis = { ifVersion: [target.version], unlessVersion: [] }
      try {
        const result = await storage.updateUser(target.id, changes, updatedAt, onlyThis, event)
        if (result === null) return false
        publish('user.updated', result.user, context, event)
        return true
      } catch (error) {
        if (isTaken(error)) return false
        throw error
      }
    }),

    async close () {}
  }
}
