import { isStorageError, StorageError } from '../../lib/core/storage-error.ts'
import { requireSameRequest } from '../../lib/core/storage-rules.ts'
import type { Creation, Idempotency, Storage, UserKeys, UserRecord } from '../../lib/core/storage.ts'
import { groupCommits } from './batching/group-commit.ts'
import { isLost } from './connection/driver-errors.ts'
import type { Executor } from './connection/executor.ts'
import type { Compaction } from './counting/compaction.ts'
import type { Names } from './tables/names.ts'
import { toCreatedUser } from './tables/rows.ts'
import { creationSql } from './user-creation-sql.ts'

type CreationStore = Pick<Storage, 'createUser' | 'pruneIdempotency'>
type FindUser = (id: string) => Promise<UserRecord | null>
type Values = ReadonlyArray<string | number>

// PostgreSQL ended the statement, or its wait for a lock: the creation that holds the key is still running.
const WAITED_TOO_LONG = ['57014', '55P03']

function isSame (a: UserRecord, b: UserRecord): boolean {
  return a.name === b.name && a.email === b.email && a.createdAt === b.createdAt &&
    JSON.stringify(a.fields) === JSON.stringify(b.fields)
}

function waitedTooLong (error: unknown): boolean {
  return isStorageError(error) && error.driverCode !== undefined && WAITED_TOO_LONG.includes(error.driverCode)
}

/** Creation of users in SQL, alone or together with an idempotency key. */
export function knexCreation (
  executor: Executor,
  names: Names,
  findUser: FindUser,
  { onCreate }: Pick<Compaction, 'onCreate'>
): CreationStore {
  const { dialect, batching, query, transaction } = executor
  const sql = creationSql(dialect, names)
  const grouped = batching === null
    ? null
    : groupCommits(batching.groups, (all, since) =>
      query(sql.insertAll, dialect.batch.values(all), { retry: false, since }))

  async function createWithoutKey (
    user: UserRecord,
    emailKey: string,
    values: Values,
    asked: number
  ): Promise<Creation> {
    const alone = async (since: number) => (await query(sql.insert, values, { waitsFor: emailKey, since }))[0]
    const row = await (grouped === null ? alone(asked) : grouped(user.id, values, alone))
    if (row !== undefined) return { user, replayed: false }
    const holder = await findUser(user.id)
    if (holder === null) throw new StorageError('email_taken', 'another user has the e-mail key')
    // It is ours if the answer to the first attempt was lost: the id was made before that.
    if (!isSame(user, holder)) throw new StorageError('fault', 'another user has the id')
    return { user, replayed: false }
  }

  /** Writes user and key; false if the key is known. */
  async function writeBoth (
    user: UserRecord,
    waitsFor: string,
    values: Values,
    idempotency: Idempotency,
    since: number
  ): Promise<boolean> {
    const { key, fingerprint, now, expiresAt } = idempotency
    const keyValues = [key, fingerprint, JSON.stringify(user), expiresAt, now]
    if (dialect.writesTwoTables) {
      const options = { savepoint: true, bounded: true, waitsFor, since }
      return (await query(sql.insertWithKey, [...values, ...keyValues], options)).length > 0
    }
    return transaction(async (on) => {
      if ((await on(sql.findKey, [key, now])).length > 0) return false
      // The user first: if the host ends its transaction between the two, no key is left without its user.
      await on(sql.insertOrFail, values)
      await on(sql.insertKey, [...keyValues, user.id])
      return true
    }, { waitsFor, since })
  }

  async function createWithKey (
    user: UserRecord,
    emailKey: string,
    values: Values,
    idempotency: Idempotency,
    since: number
  ): Promise<Creation> {
    while (true) {
      if (await writeBoth(user, emailKey, values, idempotency, since)) return { user, replayed: false }
      const [known] = await query(sql.findKey, [idempotency.key, idempotency.now])
      // Deleted with its user, or expired, since: the key is free again.
      if (known === undefined) continue
      requireSameRequest(known['fingerprint'], idempotency)
      return { user: toCreatedUser(known['createdUser']), replayed: known['userId'] !== user.id }
    }
  }

  return {
    async createUser (user: UserRecord, { nameKey, emailKey }: UserKeys, idempotency: Idempotency | null) {
      const { id, name, email, fields, version, createdAt, updatedAt } = user
      const values = [id, name, nameKey, email, emailKey, version, createdAt, updatedAt, JSON.stringify(fields)]
      onCreate()
      const since = performance.now()
      const create = () => idempotency === null
        ? createWithoutKey(user, emailKey, values, since)
        : createWithKey(user, emailKey, values, idempotency, since)
      try {
        // Again if the connection was lost: the second attempt finds what the first one did.
        return await create().catch((error) => isLost(error) ? create() : Promise.reject(error))
      } catch (error) {
        if (idempotency === null || !waitedTooLong(error)) throw error
        throw new StorageError('idempotency_in_progress', 'the first creation with the key is still running')
      }
    },

    async pruneIdempotency (now) {
      await query(sql.pruneKeys, [now])
    }
  }
}
