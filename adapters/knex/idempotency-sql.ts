import type { Dialect, TypedColumn } from './dialects/dialect.ts'
import type { Names } from './tables/names.ts'

const TARGETS = '(key, fingerprint, user_id, result, expires_at)'
const RENEW = 'ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, user_id = excluded.user_id, ' +
  'result = excluded.result, expires_at = excluded.expires_at'

const ROW: readonly TypedColumn[] = [
  ['key', 'text'], ['fingerprint', 'text'], ['user_id', 'text'], ['result', 'text'], ['expires_at', 'timestamptz']
]

// Separates a batch's key from the index of a write. A caller's key is shorter than a part's, so the two never
// collide.
const PART = '#'
const AFTER_PART = '$'

/** The key of the row that keeps the user of the write at this index of a batch. */
export const partKey = (key: string, index: number): string => `${key}${PART}${index}`

/** A batch's parts lie between these. */
export const partBounds = (key: string): [from: string, to: string] => [`${key}${PART}`, `${key}${AFTER_PART}`]

/** The index in the key of a part. */
export const indexOfPart = (partOf: string, key: string): number => Number(partOf.slice(key.length + PART.length))

/**
 * The statements of idempotency keys. A row keeps the user of a creation, or the outcomes of a batch, whose users
 * are in rows of their own: each goes with its user.
 */
export function idempotencySql ({ p, batch, isIn }: Dialect, { idempotencyKeys, users }: Names) {
  /** Inserts a key, or renews an expired one. Its values from the nth: key, fingerprint, result, expiry, now. */
  const claim = (n: number, userId: string) =>
    `INSERT INTO ${idempotencyKeys} AS k ${TARGETS} VALUES (${p(n)}, ${p(n + 1)}, ${userId}, ${p(n + 2)}, ` +
    `${p(n + 3)}) ${RENEW} WHERE k.expires_at <= ${p(n + 4)} RETURNING 1 AS claimed`

  return {
    claim,
    claimForBatch: claim(1, 'NULL'),
    find: 'SELECT fingerprint, user_id AS "userId", result ' +
      `FROM ${idempotencyKeys} WHERE key = ${p(1)} AND expires_at > ${p(2)}`,
    setUser: `UPDATE ${idempotencyKeys} SET user_id = ${p(2)} WHERE key = ${p(1)}`,
    setResult: `UPDATE ${idempotencyKeys} SET result = ${p(2)} WHERE key = ${p(1)}`,
    keepParts: `INSERT INTO ${idempotencyKeys} ${TARGETS} SELECT ${ROW.map(([name]) => `q_${name}`).join(', ')} ` +
      `FROM ${batch.rows(ROW)}`,
    /** 1: ids of users. */
    findUsers: `SELECT id FROM ${users} WHERE ${isIn('id', 1, 'text')}`,
    findParts: `SELECT key, result FROM ${idempotencyKeys} WHERE key > ${p(1)} AND key < ${p(2)}`,
    dropParts: `DELETE FROM ${idempotencyKeys} WHERE key > ${p(1)} AND key < ${p(2)}`,
    prune: `DELETE FROM ${idempotencyKeys} WHERE expires_at <= ${p(1)}`
  }
}
