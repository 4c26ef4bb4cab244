import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import { ofDriver } from '../adapters/knex/connection/driver-errors.ts'
import { StorageError } from '../lib/core/storage-error.ts'
import type { SourceRow } from '../lib/transfer/source-row.ts'
import { type Mapped, userOfColumns } from './adopt-mapping.ts'
import { Refusal, UsageError } from './failure.ts'
import { literally, type SourceDatabase } from './source-database.ts'

/** Which rows of which table are read, and in which order. */
export interface SourceTable {
  table: string
  /** A column that tells rows apart. */
  key: string
  mapping: readonly Mapped[]
  /** A condition in SQL. */
  where?: string
  /** Only rows with a greater key. */
  after?: string
  /** Only rows that were changed since, by the column of `updatedAt`, or by that of `createdAt` where it is NULL. */
  since?: string
}

/** The rows of a table, and the keys of those that are being imported. */
export interface SourceReader {
  count: number
  rows: AsyncIterable<SourceRow[]>
  /** The key of a row, by its line. */
  keyOf: (line: number) => string
  /** Forgets the keys of all rows up to this line. */
  done: (line: number) => void
}

// Each step is a statement of its own, and takes some milliseconds. With 1000 rows, more of them survive garbage
// collections: 179 instead of 147 MB at the peak.
const STEP = 250

// SQLite has moments as text or as numbers of seconds or milliseconds. Their sum is off by up to 0.1 ms: rows that
// were changed up to a millisecond before are read too.
const SQLITE_MOMENT = `CASE typeof(??) WHEN 'text' THEN julianday(??)
  ELSE (CASE WHEN abs(??) < 1e11 THEN ?? ELSE ?? / 1000.0 END) / 86400.0 + 2440587.5 END`
const SQLITE_SINCE = `(${SQLITE_MOMENT}) >= julianday(?) - 1.0 / 86400000`

// SQLite's drivers round integers that do not fit a double, or throw: those are read as text.
const SQLITE_EXACT = `CASE WHEN typeof(??) = 'integer' AND ?? NOT BETWEEN ${Number.MIN_SAFE_INTEGER}
  AND ${Number.MAX_SAFE_INTEGER} THEN CAST(?? AS TEXT) ELSE ?? END`
// Without the plus sign, text in a column without a type would be compared as a number.
const SQLITE_AFTER_INTEGER = '?? > +CAST(? AS INTEGER)'

/** True if `since` misses rows that were only changed: there is no column that says when. */
export function missesChanges ({ mapping, since }: SourceTable): boolean {
  return since !== undefined && !mapping.some(({ name }) => name === 'updatedAt')
}

/** The column that says when a row was changed, and the one that does where that is NULL. @throws UsageError */
function sinceColumns (mapping: readonly Mapped[]): { changed: string, created?: string } {
  const columnOf = (member: string) => mapping.find(({ name }) => name === member)?.from
  const [changed, created] = [columnOf('updatedAt'), columnOf('createdAt')]
  if (changed !== undefined && created !== undefined) return { changed, created }
  const only = changed ?? created
  if (only === undefined) throw new UsageError('--since needs a column of updatedAt or createdAt in --map')
  return { changed: only }
}

/** The keys of the rows of a step, whose lines begin after `before`. */
interface Step {
  before: number
  keys: readonly string[]
}

/** The key of the last row that was read. */
interface Last {
  value: Knex.Value
  isInteger: boolean
}

// A wrong table, column or condition: of these the database's own message is shown, since it quotes the operator.
const WRONG_STATEMENT = /^(?:42[0-9A-Z]{3}|SQLITE_ERROR)$/
// The messages of these quote what is in the table.
const WRONG_VALUE = /^22[0-9A-Z]{3}$/

/** Why a table can't be read: Refusal, or StorageError `unavailable`. No value of a row is in the message. */
function explained (error: unknown): Error {
  const { code, message, driverCode = '' } = ofDriver(error)
  const problem = 'the table can not be read: '
  if (code === 'unavailable') return new StorageError(code, problem + message, { driverCode })
  if (WRONG_STATEMENT.test(driverCode)) return new Refusal(problem + String(Object(error).message).split(' - ').at(-1))
  if (!WRONG_VALUE.test(driverCode)) return new Refusal(problem + message)
  return new Refusal(`${problem}a value of --where, --after or --since does not fit its type (${driverCode})`)
}

/** Without this error, a driver that rounds keys would have the same rows read for ever. */
function notGrowing (key: unknown): Refusal {
  const problem = `the column of --key can not be read in steps, after the row ${String(key)}`
  return new Refusal(`${problem}: name one of integers or text`)
}

/** Opens a table. @throws UsageError, Refusal if it can't be read, or its key does not tell rows apart */
export async function readTable ({ knex, kind }: SourceDatabase, options: SourceTable): Promise<SourceReader> {
  const { table, key, mapping, where, after, since } = options

  function chosen (): Knex.QueryBuilder {
    const query = knex(table)
    if (where !== undefined) query.whereRaw(`(${literally(where)})`)
    if (since !== undefined) {
      const isSince = (column: string): Knex.Raw => kind === 'postgres'
        ? knex.raw('?? >= ?', [column, since])
        : knex.raw(SQLITE_SINCE, [column, column, column, column, column, since])
      const { changed, created } = sinceColumns(mapping)
      // Not by coalesce(): the columns may be of different types.
      query.where((either) => {
        either.where(isSince(changed))
        if (created !== undefined) either.orWhere((never) => never.whereNull(changed).where(isSince(created)))
      })
    }
    return query
  }

  const from = (last: Last | undefined): Knex.QueryBuilder => last === undefined
    ? chosen()
    : chosen().whereRaw(last.isInteger ? SQLITE_AFTER_INTEGER : '?? > ?', [key, last.value])
  const exactly = (column: string): Knex.Raw => kind === 'postgres'
    ? knex.raw('??', [column])
    : knex.raw(SQLITE_EXACT, [column, column, column, column])
  const columns = Object.fromEntries(mapping.map((column, i) => [`c${i}`, exactly(column.from)]))
  const isInteger = kind === 'postgres' ? knex.raw('false') : knex.raw("typeof(??) = 'integer'", [key])
  const selected = { ...columns, k: exactly(key), isInteger }
  // A misspelt column is told before anything is done.
  await chosen().select(columns).limit(1).catch((error) => { throw explained(error) })
  const first = after === undefined ? undefined : { value: after, isInteger: false }
  const [counted] = await from(first).count({ all: '*', keys: key }).catch((error) => { throw explained(error) })
  const { all, keys } = Object(counted)
  if (Number(all) !== Number(keys)) throw new Refusal('the column of --key is NULL in some rows')
  const [twice] = await chosen().select(knex.raw('1')).groupBy(key).havingRaw('count(*) > 1').limit(1)
    .catch((error) => { throw explained(error) })
  if (twice !== undefined) throw new Refusal('the column of --key has a value twice: name one that tells rows apart')

  const steps: Step[] = []
  return {
    count: Number(all),
    rows: (async function * () {
      let last: Last | undefined = first
      let line = 0
      while (true) {
        const found: object[] = await from(last).select(selected).orderBy(key).limit(STEP)
          .catch((error) => { throw explained(error) })
        if (found.length === 0) return
        const { k: value, isInteger } = Object(found.at(-1))
        if (isDeepStrictEqual(value, last?.value)) throw notGrowing(value)
        last = { value, isInteger: Boolean(isInteger) }
        steps.push({ before: line, keys: found.map((row) => String(Reflect.get(row, 'k'))) })
        yield found.map((row) => (
          { line: ++line, value: userOfColumns(mapping.map((_, i) => Reflect.get(row, `c${i}`)), mapping) }
        ))
      }
    })(),
    keyOf (line) {
      const step = steps.findLast(({ before }) => before < line)
      return step?.keys[line - step.before - 1] ?? ''
    },
    done (line) {
      const kept = steps.findIndex(({ before, keys }) => before + keys.length > line)
      steps.splice(0, kept === -1 ? steps.length : kept)
    }
  }
}
