import { isStorageError, StorageError } from '../../lib/errors.ts'
import type { Creation, Idempotency, Storage, UserKeys, UserRecord } from '../../lib/storage.ts'
import { requireSameRequest } from '../../lib/storage-rules.ts'
import type { Upkeep } from './blocks/upkeep.ts'
import { isLost } from './driver-errors.ts'
import { groupWrites } from './group-commit.ts'
import type { Names } from './names.ts'
import { toSnapshot } from './rows.ts'
import type { Run, Session } from './session.ts'

type CreationStore = Pick<Storage, 'createUser' | 'pruneIdempotency'>
type FindUser = (id: string) => Promise<UserRecord | null>

// PostgreSQL ended the statement, or its wait for a lock: the creation that holds the key goes on.
const WAITED_TOO_LONG = new Set(['57014', '55P03'])

/** The columns of a new user, in the order of their values. */
const CREATED = [
  ['id', 'text'], ['name', 'text'], ['name_key', 'text'], ['email', 'text'], ['email_key', 'text'],
  ['version', 'bigint'], ['created_at', 'timestamptz'], ['updated_at', 'timestamptz'], ['fields', 'json']
] as const

function isSame (a: UserRecord, b: UserRecord | null): boolean {
  return b !== null && a.name === b.name && a.email === b.email && a.createdAt === b.createdAt && JSON.stringify(a.fields) === JSON.stringify(b.fields)
}

/** Creation of users in SQL, alone or together with an idempotency key. */
export function knexCreation ({ dialect, limit, lanes, run, once, attempt, atomically }: Session, { users, idempotency: idempotencyTable }: Names, findUser: FindUser, upkeep: Pick<Upkeep, 'created'>): CreationStore {
  const { p, many } = dialect
  const columns = `(${CREATED.map(([name]) => name).join(', ')})`
  const values = CREATED.map((_column, i) => p(i + 1)).join(', ')
  // A conflict is no error here, so that it spoils no transaction of a host's.
  const insert = `INSERT INTO ${users} ${columns} VALUES (${values}) ON CONFLICT DO NOTHING RETURNING id`
  const insertAll = `INSERT INTO ${users} ${columns} SELECT ${CREATED.map(([name]) => `q_${name}`).join(', ')} ` +
    `FROM ${many.lockTimeout}${many.rows(CREATED)} WHERE true${many.order('q_email_key')} ON CONFLICT DO NOTHING RETURNING id`
  const grouped = lanes === 0 ? null : groupWrites(lanes, (all) => once(insertAll, many.values(all)))
  const claim = (first: number, id: string) => `INSERT INTO ${idempotencyTable} AS k (key, fingerprint, user_id, answer, expires_at) ` +
    `VALUES (${p(first)}, ${p(first + 1)}, ${id}, ${p(first + 2)}, ${p(first + 3)}) ON CONFLICT (key) DO UPDATE SET ` +
    'fingerprint = excluded.fingerprint, user_id = excluded.user_id, answer = excluded.answer, expires_at = excluded.expires_at ' +
    `WHERE k.expires_at <= ${p(first + 4)} RETURNING 1 AS claimed`
  const claimAndInsert = `WITH claimed AS (${claim(10, p(1))}) INSERT INTO ${users} ${columns} ` +
    `SELECT ${p(1)}, ${p(2)}, ${p(3)}, ${p(4)}, ${p(5)}, ${p(6)}::int, ${p(7)}::timestamptz, ${p(8)}::timestamptz, ${p(9)}::json FROM claimed RETURNING id`
  const claimAlone = claim(1, p(6))
  const plainInsert = `INSERT INTO ${users} ${columns} VALUES (${values})`
  const recall = `SELECT fingerprint, user_id AS "userId", answer FROM ${idempotencyTable} WHERE key = ${p(1)} AND expires_at > ${p(2)}`
  const prune = `DELETE FROM ${idempotencyTable} WHERE expires_at <= ${p(1)}`

  async function createAlone (user: UserRecord, row: ReadonlyArray<string | number>): Promise<Creation> {
    const alone = async () => (await run(insert, row))[0]
    if (await (grouped === null ? alone() : grouped(user.id, row, alone)) === undefined) {
      const holder = await findUser(user.id)
      if (holder === null) throw new StorageError('email_taken', 'another user has the e-mail key')
      // Ours all the same, where the reply to the first try was lost: the id was made before.
      if (!isSame(user, holder)) throw new StorageError('fault', 'the id is taken')
    }
    return { user, replayed: false }
  }

  /** Whether user and key were written: false where the key is known. */
  async function writeBoth (user: UserRecord, row: ReadonlyArray<string | number>, { key, fingerprint, now, expiresAt }: Idempotency): Promise<boolean> {
    const values = [key, fingerprint, JSON.stringify(user), expiresAt, now]
    if (dialect.name === 'postgres') {
      const rows = limit === null
        ? await attempt(claimAndInsert, [...row, ...values])
        : await atomically(async (on) => {
          await on(limit)
          return on(claimAndInsert, [...row, ...values])
        })
      return rows.length > 0
    }
    return atomically(async (on: Run) => {
      if ((await on(recall, [key, now])).length > 0) return false
      // The user first: should a host end its transaction between the two, there is no key without its user.
      await on(plainInsert, row)
      await on(claimAlone, [...values, user.id])
      return true
    })
  }

  async function createOnce (user: UserRecord, row: ReadonlyArray<string | number>, idempotency: Idempotency): Promise<Creation> {
    while (true) {
      if (await writeBoth(user, row, idempotency)) return { user, replayed: false }
      const [known] = await run(recall, [idempotency.key, idempotency.now])
      // Gone meanwhile, with its user or by its age: the key is free.
      if (known === undefined) continue
      requireSameRequest(known['fingerprint'], idempotency)
      return { user: toSnapshot(known['answer']), replayed: known['userId'] !== user.id }
    }
  }

  return {
    async createUser (user: UserRecord, { nameKey, emailKey }: UserKeys, idempotency: Idempotency | null) {
      const { id, name, email, fields, version, createdAt, updatedAt } = user
      const row = [id, name, nameKey, email, emailKey, version, createdAt, updatedAt, JSON.stringify(fields)]
      upkeep.created()
      const create = () => idempotency === null ? createAlone(user, row) : createOnce(user, row, idempotency)
      try {
        // Once more where the connection was lost: the second try finds what the first one has done.
        return await create().catch((error) => isLost(error) ? create() : Promise.reject(error))
      } catch (error) {
        if (idempotency !== null && isStorageError(error) && error.driverCode !== undefined && WAITED_TOO_LONG.has(error.driverCode)) {
          throw new StorageError('idempotency_in_progress', 'the first creation with the key is still running', error.driverCode)
        }
        throw error
      }
    },

    async pruneIdempotency (now) {
      await run(prune, [now])
    }
  }
}
