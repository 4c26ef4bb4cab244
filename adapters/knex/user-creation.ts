import { StorageError } from '../../lib/storage/storage-error.ts'
import { requireSameRequest } from '../../lib/storage/storage-rules.ts'
import type { Idempotency, NewEvent, UserKeys, UserRecord } from '../../lib/storage/storage.ts'
import { groupCommits } from './batching/group-commit.ts'
import { isLost, waitedTooLong } from './connection/driver-errors.ts'
import type { Executor } from './connection/executor.ts'
import type { Compaction } from './counting/hand-counting.ts'
import type { Bookkeeping } from './bookkeeping.ts'
import { idempotencySql } from './idempotency-sql.ts'
import { namingTakenField } from './schema/field-indexes.ts'
import type { Names } from './tables/names.ts'
import { toCreatedUser, wordsText } from './tables/rows.ts'
import { type Asked, type Insertion, userInsertions } from './user-insertions.ts'
import type { FindByEmailKey } from './user-lookup.ts'
import type { WordList } from './schema/word-list.ts'

/** The new user, or the user of the first creation with the idempotency key, as it was then. */
interface Creation {
  user: UserRecord
  replayed: boolean
}

export interface Creations {
  /** @throws StorageError as `writeUsers` does, and if the creation is refused */
  create (
    user: UserRecord, keys: UserKeys, idempotency: Idempotency | null, event: NewEvent | null
  ): Promise<Creation>
  /** Deletes the idempotency keys that are expired. */
  prune (now: string): Promise<void>
}

interface CreationParts {
  findUser: (id: string) => Promise<UserRecord | null>
  findByEmailKey: FindByEmailKey
  compaction: Pick<Compaction, 'onCreate'>
  books: Bookkeeping
  words: WordList
}

function isSame (a: UserRecord, b: UserRecord): boolean {
  return a.name === b.name && a.email === b.email && a.createdAt === b.createdAt &&
    JSON.stringify(a.fields) === JSON.stringify(b.fields) && a.tenant === b.tenant && a.status === b.status
}

/** Creation of users in SQL, alone or together with an idempotency key. */
export function knexCreation (
  executor: Executor,
  names: Names,
  { findUser, findByEmailKey, compaction: { onCreate }, books, words }: CreationParts
): Creations {
  const { dialect, batching, query } = executor
  const sql = idempotencySql(dialect, names)
  const { valuesAmongMany, insert, insertOrFail, insertAll, insertWithKey } = userInsertions(executor, names, books)
  const groupOf = (isRecorded: boolean) => batching === null
    ? null
    // One at a time: of two, the second may commit first, and move the page of a list that was read in between.
    : groupCommits({ ...batching, groups: 1 }, (all, since) => insertAll(all, since, isRecorded))
  const plainGroup = groupOf(false)
  const recordedGroup = groupOf(true)

  /** `again`: true for a retry, because the answer to the first attempt was lost. */
  async function createWithoutKey (insertion: Insertion, asked: Asked, again: boolean): Promise<Creation> {
    const { user } = insertion
    const grouped = insertion.event === null ? plainGroup : recordedGroup
    const alone = (since: number) => insert(insertion, { ...asked, since })
    const row = await (grouped === null
      ? alone(asked.since)
      : grouped(user.id, valuesAmongMany(insertion), alone))
    if (row !== undefined) return { user, replayed: false }
    const holder = await findUser(user.id)
    if (holder === null) {
      const holders = await findByEmailKey(asked.waitsFor, user.tenant ?? '')
      if (holders.length > 0) {
        throw new StorageError('email_taken', 'another user has the e-mail key')
      }
      // The address is free again, or another unique value is taken. Insert again: the database’s error names the
      // constraint.
      await insertOrFail(insertion, asked)
      return { user, replayed: false }
    }
    if (!again || !isSame(user, holder)) throw new StorageError('fault', 'another user has the id')
    return { user, replayed: false }
  }

  async function createWithKey (
    insertion: Insertion,
    idempotency: Idempotency,
    asked: Asked
  ): Promise<Creation> {
    const { user } = insertion
    while (true) {
      if (await insertWithKey(insertion, idempotency, asked)) return { user, replayed: false }
      const [known] = await query(sql.find, [idempotency.key, idempotency.now])
      // The key has since expired, or was deleted with its user: it is free again.
      if (known === undefined) continue
      requireSameRequest(known['fingerprint'], idempotency)
      return { user: toCreatedUser(known['result']), replayed: known['userId'] !== user.id }
    }
  }

  return {
    async create (user, { nameKey, emailKey, nameWords, emailWords, fieldWords }, idempotency, event) {
      const { id, name, email, fields, version, createdAt, updatedAt, tenant = '', status, statusReason } = user
      const listed = words.wordsOf(fields, fieldWords)
      const insertion = {
        user,
        values: [
          id, name, nameKey, email, emailKey, String(version), createdAt, updatedAt, JSON.stringify(fields), tenant,
          status, statusReason ?? '', wordsText(nameWords), wordsText(emailWords), listed.words, listed.list
        ],
        event
      }
      onCreate(user.tenant)
      const asked = { waitsFor: emailKey, since: performance.now() }
      const create = (again: boolean) => namingTakenField(names, fields, () => idempotency === null
        ? createWithoutKey(insertion, asked, again)
        : createWithKey(insertion, idempotency, asked))
      try {
        // Retry if the connection was lost: the second attempt finds what the first one wrote.
        return await create(false).catch((error) => isLost(error) ? create(true) : Promise.reject(error))
      } catch (error) {
        // The call that holds the key is still running.
        if (idempotency === null || !waitedTooLong(error)) throw error
        throw new StorageError('idempotency_in_progress', 'the first creation with the key is still running')
      }
    },

    async prune (now) {
      await query(sql.prune, [now])
    }
  }
}
