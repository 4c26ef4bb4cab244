import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import { ofDriver } from '../adapters/knex/connection/driver-errors.ts'
import { type UsersError, validationFailed } from '../lib/core/errors.ts'
import { StorageError } from '../lib/storage/storage-error.ts'
import { toUsersError } from '../lib/storage/storage-errors.ts'
import type { SourceRow } from '../lib/transfer/source-row.ts'
import { type Mapped, MOMENTS, userOfColumns } from './adopt-mapping.ts'
import { ALWAYS, readSince } from './adopt-since.ts'
import { Refusal } from './failure.ts'
import { printable } from './printable.ts'
import { literally, type SourceDatabase } from './source-database.ts'
import { type Key, sqliteKey, textOfKey, whereKey } from './source-keys.ts'
import { brokenColumns, mayBeAltered } from './source-text.ts'

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
  /** Only rows that were changed since this moment. */
  since?: string
}

/** The rows of a table, and the keys of those that are being imported. */
export interface SourceReader {
  /** How much of the table was read, from 0 to 1; null: there is nothing to read. */
  part: () => number | null
  rows: AsyncIterable<SourceRow[]>
  /** The key of a row, by its line. */
  keyOf: (line: number) => string
  /** Forgets the keys of all rows up to this line. */
  done: (line: number) => void
}

// Each step is a statement of its own, and takes some milliseconds. With 1000 rows, more of them survive garbage
// collections: 179 instead of 147 MB at the peak.
const STEP = 250

// SQLite's drivers round integers that do not fit a double, or throw: those are read as text.
const SQLITE_EXACT = `CASE WHEN typeof(??) = 'integer' AND ?? NOT BETWEEN ${Number.MIN_SAFE_INTEGER}
  AND ${Number.MAX_SAFE_INTEGER} THEN CAST(?? AS TEXT) ELSE ?? END`

/** The keys of the rows of a step, whose lines begin after `before`. */
interface Step {
  before: number
  keys: readonly string[]
}

// A wrong table, column or condition: of these the database's own message is shown, since it quotes the operator.
const WRONG_STATEMENT = /^(?:42[0-9A-Z]{3}|SQLITE_ERROR)$/
// The messages of these quote what is in the table.
const WRONG_VALUE = /^22[0-9A-Z]{3}$/

/** Why a table can't be read: Refusal, or StorageError `unavailable`. No value but a key is in the message. */
function explained (error: unknown, { where, after }: SourceTable, last?: Key): Error {
  const { code, message, driverCode = '' } = ofDriver(error)
  const problem = 'the table cannot be read: '
  if (code === 'unavailable') return new StorageError(code, problem + message, { driverCode })
  if (WRONG_STATEMENT.test(driverCode)) return new Refusal(problem + String(Object(error).message).split(' - ').at(-1))
  if (!WRONG_VALUE.test(driverCode)) return new Refusal(problem + message)
  const given = [...(where === undefined ? [] : ['--where']), ...(after === undefined ? [] : ['--after'])]
  if (given.length > 0) {
    return new Refusal(`${problem}a value of ${given.join(' or ')} does not fit its type (${driverCode})`)
  }
  const place = last === undefined ? '' : `, in a row after ${printable(textOfKey(last.value))}`
  return new Refusal(`${problem}the database cannot return a value${place} (${driverCode})`)
}

function notUtf8 (columns: readonly Mapped[]): UsersError {
  return validationFailed(columns.map(({ pointer }) => ({ pointer, code: 'format', detail: 'must be text in UTF-8' })))
}

function keyOfRow (row: object): Key {
  const { k: value, isInteger } = Object(row)
  return { value, isInteger: Boolean(isInteger) }
}

/** Without this error, a driver that rounds keys would have the same rows read for ever. */
function notGrowing (key: unknown): Refusal {
  const problem = `the column of --key cannot be read in steps, after the row ${printable(textOfKey(key))}`
  return new Refusal(`${problem}: name a column of integers or text`)
}

// Their text does not say whether it is that of a day.
const NUMBERS = /^(?:bigint|numeric)$/

/** The types of the columns of moments, which an empty table has too. */
async function columnTypes (knex: Knex, options: SourceTable): Promise<Map<string, string>> {
  const { table, mapping } = options
  const columns = mapping.filter(({ name }) => MOMENTS.includes(name)).map(({ from }) => from)
  if (columns.length === 0) return new Map()
  const typeOf = (column: string): Knex.Raw =>
    knex.raw('pg_catalog.pg_typeof((SELECT ?? FROM ?? LIMIT 1))::text', [column, table])
  const [types] = await knex.select(Object.fromEntries(columns.map((column, i) => [`t${i}`, typeOf(column)])))
    .catch((error) => { throw explained(error, options) })
  return new Map(columns.map((column, i) => [column, String(Object(types)[`t${i}`])]))
}

/** Opens a table. @throws UsageError, Refusal if it can't be read, or its key does not tell rows apart */
export async function readTable (source: SourceDatabase, options: SourceTable): Promise<SourceReader> {
  const { knex, kind } = source
  const { table, key, mapping, where, after, since } = options

  let types = new Map<string, string>()
  const typeOf = (column: string): string => types.get(column) ?? ''
  const { narrow, holds } = since === undefined ? ALWAYS : readSince(since, mapping, typeOf)
  if (kind === 'postgres') types = await columnTypes(knex, options)

  function chosen (): Knex.QueryBuilder {
    const query = knex(table)
    if (where !== undefined) query.whereRaw(`(${literally(where)})`)
    narrow(query)
    return query
  }

  async function keyGiven (text: string): Promise<Key> {
    if (kind === 'postgres') return { value: text, isInteger: false }
    const [smallest] = await chosen().select({ type: knex.raw('typeof(min(??))', [key]) })
      .catch((error) => { throw explained(error, options) })
    return sqliteKey(text, Object(smallest).type)
  }

  const from = (last: Key | undefined): Knex.QueryBuilder =>
    last === undefined ? chosen() : whereKey(chosen(), key, '>', last)
  const exactly = (column: string): Knex.Raw => kind === 'postgres'
    ? knex.raw('??', [column])
    : knex.raw(SQLITE_EXACT, [column, column, column, column])
  const valueOf = ({ name, from: column }: Mapped): Knex.Raw => MOMENTS.includes(name) && NUMBERS.test(typeOf(column))
    ? knex.raw('??::double precision', [column])
    : exactly(column)
  const columns = Object.fromEntries(mapping.map((column, i) => [`c${i}`, valueOf(column)]))
  const valuesOf = (row: object): unknown[] => mapping.map((_, i) => Reflect.get(row, `c${i}`))
  const isInteger = kind === 'postgres' ? knex.raw('false') : knex.raw("typeof(??) = 'integer'", [key])
  const selected = { ...columns, k: exactly(key), isInteger }
  // A misspelt column is told before anything is done.
  await chosen().select(columns).limit(1).catch((error) => { throw explained(error, options) })
  const first = after === undefined ? undefined : await keyGiven(after)
  // A function of the search path may fit the key's type better.
  const keys = knex.raw(kind === 'postgres' ? 'pg_catalog.count(??)' : 'count(??)', [key])
  const [counted] = await from(first).select({ all: knex.raw('count(*)'), keys })
    .catch((error) => { throw explained(error, options) })
  const { all, keys: given } = Object(counted)
  if (Number(all) !== Number(given)) throw new Refusal('the column of --key is NULL in some rows')
  const [twice] = await chosen().select(knex.raw('1')).groupBy(key).havingRaw('count(*) > 1').limit(1)
    .catch((error) => { throw explained(error, options) })
  if (twice !== undefined) throw new Refusal('the column of --key has a value twice: name one whose values all differ')

  const count = Number(all)
  /** The members of a row whose text has bytes that are no UTF-8. @throws Refusal if its key may have */
  async function brokenMembers (of: Key, values: readonly unknown[]): Promise<Mapped[]> {
    // The row could not be found again by another key, nor the rows behind it.
    if (mayBeAltered(of.value)) throw new Refusal('the column of --key has text that is not UTF-8, or U+FFFD')
    const suspect = mapping.filter((_, i) => mayBeAltered(values[i]))
    if (suspect.length === 0) return suspect
    const row = whereKey(chosen(), key, '=', of)
    const broken = await brokenColumns(source, row, suspect.map((column) => column.from))
      .catch((error) => { throw explained(error, options) })
    return suspect.filter((column) => broken?.includes(column.from) !== false)
  }

  async function rowOf (line: number, row: object): Promise<SourceRow> {
    const values = valuesOf(row)
    const broken = await brokenMembers(keyOfRow(row), values)
    try {
      if (broken.length > 0) throw notUtf8(broken)
      return { line, value: userOfColumns(values, mapping) }
    } catch (error) {
      return { line, error: toUsersError(error) }
    }
  }

  const steps: Step[] = []
  let read = 0
  return {
    part: () => count === 0 ? null : Math.min(1, read / count),
    rows: (async function * () {
      let last: Key | undefined = first
      let line = 0
      while (true) {
        const found: object[] = await from(last).select(selected).orderBy(key).limit(STEP)
          .catch((error) => { throw explained(error, options, last) })
        if (found.length === 0) return
        const end = keyOfRow(Object(found.at(-1)))
        if (isDeepStrictEqual(end.value, last?.value)) throw notGrowing(end.value)
        last = end
        read += found.length
        const chosen = found.filter((row) => holds(valuesOf(row)))
        if (chosen.length === 0) continue
        steps.push({ before: line, keys: chosen.map((row) => textOfKey(keyOfRow(row).value)) })
        const rows: SourceRow[] = []
        for (const row of chosen) rows.push(await rowOf(++line, row))
        yield rows
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
