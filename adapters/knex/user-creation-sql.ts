import type { Dialect } from './dialects/dialect.ts'
import { idempotencySql } from './idempotency-sql.ts'
import { EVENT_TARGETS, EVENT_VALUES, RECORDED } from './events/event-writes.ts'
import { SHOWN_COLUMNS, WORD_LIST } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { markInForce } from './schema/word-list.ts'

/** The columns of a new user, in the order of their values. */
const COLUMNS = [
  ['id', 'text'], ['name', 'text'], ['name_key', 'text'], ['email', 'text'], ['email_key', 'text'],
  ['version', 'bigint'], ['created_at', 'timestamptz'], ['updated_at', 'timestamptz'], ['fields', 'json'],
  ['tenant', 'text'], ['status', 'text'], ['status_reason', 'text'],
  ['name_words', 'text'], ['email_words', 'text'], ['field_words', 'text'], [WORD_LIST, 'text']
] as const

/** Values of an idempotency key: key, fingerprint, user as JSON, expiry, now. */
const KEY_VALUES = 5

/** How many values the row of a new user has. */
export const COLUMN_COUNT = COLUMNS.length

export const COLUMN_NAMES: readonly string[] = COLUMNS.map(([name]) => name)

/** The statements that create users. */
export function creationSql (dialect: Dialect, names: Names) {
  const { p, batch, object } = dialect
  const { users, events } = names
  const { claim } = idempotencySql(dialect, names)
  const columns = `(${COLUMNS.map(([name]) => name).join(', ')})`
  const stored = (given: (i: number) => string) =>
    COLUMNS.map(([name], i) => name === WORD_LIST ? markInForce(names, given(i)) : given(i)).join(', ')
  const typed = stored((i) => dialect.name === 'postgres' ? `${p(i + 1)}::${COLUMNS[i]?.[1]}` : p(i + 1))
  const [userId, first] = [p(1), COLUMNS.length + 1]

  // A conflict is no error here, so that it aborts no transaction of a host's.
  // Not VALUES: Citus takes no subquery there.
  const insertGiven = `INSERT INTO ${users} ${columns} SELECT ${typed} WHERE true`
  const insert = `${insertGiven} ON CONFLICT DO NOTHING RETURNING id`
  const insertOrFail = `${insertGiven} RETURNING id`
  const insertAllFrom = (rows: string) =>
    `INSERT INTO ${users} ${columns} SELECT ${stored((i) => `q_${COLUMNS[i]?.[0]}`)} ` +
    `FROM ${batch.lockTimeout}${rows} WHERE true${batch.order('q_email_key')} ON CONFLICT DO NOTHING RETURNING id`
  const claimed = `WITH claimed AS (${claim(first, userId)})`
  const insertClaimed = `INSERT INTO ${users} ${columns} SELECT ${typed} FROM claimed RETURNING id`

  /** Records the event whose values begin with the nth, if a statement has written a row. */
  const recording = (before: string, written: string, n: number) =>
    `${before} written AS (${written}), recorded AS (INSERT INTO ${events} (${EVENT_TARGETS}) ` +
    `SELECT ${RECORDED.map(([, type], i) => `${p(n + i)}::${type}`).join(', ')} FROM written) SELECT id FROM written`
  // The database makes what the event shows of the user: it has the values already.
  const data = object(SHOWN_COLUMNS.map((each) => ({ ...each, column: `q_${each.column}` })))
  const recorded = `SELECT ${EVENT_VALUES.map(([name]) => `q_${name}`).join(', ')}, q_id, ${data}, q_tenant`

  return {
    insert,
    insertAll: insertAllFrom(batch.rows(COLUMNS)),
    insertOrFail,
    // Only where `writesTwoTables`. Those that record have the values of the event behind the others.
    insertWithKey: `${claimed} ${insertClaimed}`,
    insertRecorded: recording('WITH', insert, first),
    insertRecordedOrFail: recording('WITH', insertOrFail, first),
    insertWithKeyRecorded: recording(`${claimed},`, insertClaimed, first + KEY_VALUES),
    insertAllRecorded: `WITH q AS MATERIALIZED (SELECT * FROM ${batch.rows([...COLUMNS, ...EVENT_VALUES])}), ` +
      `written AS (${insertAllFrom('q')}), recorded AS (INSERT INTO ${events} (${EVENT_TARGETS}) ` +
      `${recorded} FROM q JOIN written ON written.id = q_id) SELECT id FROM written`,
    /** Its sixth value is the user's id. */
    insertKey: claim(1, p(6))
  }
}
