// fastify-users adopt: moments in every form that databases have, and the rows that were changed since one.
import { test } from 'tap'
import { readMapping } from '../../cli/adopt-mapping.ts'
import { readTable, type SourceTable } from '../../cli/adopt-source.ts'
import { UsageError } from '../../cli/failure.ts'
import type { SourceDatabase } from '../../cli/source-database.ts'
import { from } from '../helpers/level.ts'
import { pgUrlWith } from '../helpers/postgres.ts'
import { pgSourceOf, sourceOf, usersOf } from '../helpers/sources.ts'
import { pgUrl } from '../helpers/stores.ts'

const columns = { properties: {} }
const SINCE = '2026-03-01T08:00:00Z'

/** The keys of the rows of a table that were changed since. */
async function keysSince (
  source: SourceDatabase, table: string, since: string, map = 'name=id,email=id,updatedAt=at'
): Promise<string[]> {
  const given: SourceTable = { table, key: 'id', mapping: readMapping(map, columns), since }
  return (await usersOf(source, given)).map(([key]) => key)
}

test('finds rows that were changed exactly at --since, as numbers and as text', async (t) => {
  const length = from('nightly') === false ? 300 : 30
  const times = Array.from({ length }, (_, i) => 1793491200000 + i * 7919)
  const values = times.map((time, i) => {
    const text = new Date(time).toISOString().replace('T', ' ').replace('Z', '')
    return `(${i}, ${time}, ${time - time % 1000} / 1000, '${text}')`
  })
  const { source } = await sourceOf(t, 'CREATE TABLE accounts (id INTEGER PRIMARY KEY, ms, s, at)',
    `INSERT INTO accounts VALUES ${values.join()}`)
  for (const [column, unit] of [['ms', 1], ['s', 1000], ['at', 1]] as const) {
    const missed: string[] = []
    for (const [i, time] of times.entries()) {
      const since = new Date(time - time % unit).toISOString()
      const mapping = readMapping(`name=id,email=id,updatedAt=${column}`, columns)
      const users = await usersOf(source, { table: 'accounts', key: 'id', mapping, since, where: `id = ${i}` })
      if (users.length === 0) missed.push(since)
    }
    t.strictSame(missed, [], column)
    const later = new Date(Number(times.at(-1)) + 1).toISOString()
    t.strictSame(await keysSince(source, 'accounts', later, `name=id,email=id,updatedAt=${column}`), [])
  }
})

// At the moment or later, or no moment at all: the import refuses that row.
const TEXTS = [
  ['a', '2026-03-01 08:00:00'], ['b', '2026-03-01 23:59:59'], ['c', '2026-03-01T08:00:00Z'],
  ['d', '2026-03-01t08:00:00.000z'], ['e', '2026-03-01 08:00:00+00'], ['f', '2026-03-01 08:00:00+0000'],
  ['g', '2026-03-01 10:00:00+02'], ['h', '2026-03-01 09:00 +01:00'], ['i', '1772352000'], ['j', '1772352000000'],
  ['k', '1772352000.5'], ['l', '2026-03-02'], ['m', 'soon']
] as const
const EARLIER = [
  ['n', '2026-03-01 07:59:59'], ['o', '2026-03-01t07:59:59z'], ['p', '2026-03-01 08:59:59+01'], ['q', '1772351999'],
  ['r', '1772351999999'], ['s', '2026-03-01']
] as const
const texts = (rows: ReadonlyArray<readonly [string, string]>) => rows.map(([id, at]) => `('${id}', '${at}')`).join()

test('--since is one moment, whatever text it and the column have', async (t) => {
  const statements = (table: string) => [`CREATE TABLE ${table} (id TEXT PRIMARY KEY, at TEXT)`,
    `INSERT INTO ${table} VALUES ${texts(TEXTS)}, ${texts(EARLIER)}, ('t', NULL)`]
  const { source: sqlite } = await sourceOf(t, ...statements('accounts'))
  const { source: postgres, schema } = await pgSourceOf(t, pgUrl(), ...statements('@accounts'))
  for (const [source, table] of [[sqlite, 'accounts'], [postgres, `${schema}.accounts`]] as const) {
    for (const since of [SINCE, '2026-03-01t08:00:00z', '2026-03-01T09:00:00+01:00', '2026-03-02T07:59:00+23:59']) {
      t.strictSame(await keysSince(source, table, since), TEXTS.map(([key]) => key), `${source.kind} ${since}`)
    }
    await t.rejects(keysSince(source, table, '2026-02-30T00:00:00Z'),
      new UsageError('--since must be an RFC 3339 date and time'))
  }
})

const TYPES = [
  ['timestamp', "'2026-03-01 07:59:59'", "'2026-03-01 08:00:00'"],
  ['timestamptz', "'2026-03-01 08:59:59+01'", "'2026-03-01 09:00:00+01'"],
  ['date', "'2026-03-01'", "'2026-03-02'"],
  ['integer', '1772351999', '1772352000'],
  ['bigint', '1772351999999', '1772352000000'],
  ['numeric', '1772351999.75', '1772352000.25'],
  ['double precision', '1772351999.75', '1772352000.25'],
  ['text', "'2026-03-01 07:59:59'", "'2026-03-01 08:00:00'"]
] as const

test('--since is one moment in columns of every type of PostgreSQL, and where one of two is NULL', async (t) => {
  const url = pgUrlWith({ options: '-c timezone=Europe/Berlin -c datestyle=German -c extra_float_digits=-15' })
  const { source, schema } = await pgSourceOf(t, url, ...TYPES.flatMap(([type, before, since], i) => [
    `CREATE TABLE @a${i} (id TEXT PRIMARY KEY, at ${type}, made ${type})`,
    `INSERT INTO @a${i} VALUES ('a', ${before}, ${since}), ('b', ${since}, ${before}), ('c', NULL, ${before}),
      ('d', NULL, ${since}), ('e', ${since}, NULL), ('f', NULL, NULL)`
  ]))
  const both = 'name=id,email=id,createdAt=made,updatedAt=at'
  for (const [i, [type]] of TYPES.entries()) {
    t.strictSame(await keysSince(source, `${schema}.a${i}`, '2026-03-01T09:00:00+01:00'), ['b', 'e'], type)
    t.strictSame(await keysSince(source, `${schema}.a${i}`, SINCE, both), ['b', 'd', 'e'], `${type}, or created`)
  }
})

const MOMENTS = [
  ['timestamptz', "'0001-01-01 00:00:00+00'", '0001-01-01T00:00:00+00:00'],
  ['timestamptz', "'1890-05-01 12:00:00.25+00'", '1890-05-01T12:00:00.25+00:00'],
  ['timestamptz', "'infinity'", 'infinity'],
  ['timestamp', "'2019-05-01 12:00:00'", '2019-05-01T12:00:00Z'],
  ['date', "'2019-05-01'", '2019-05-01T00:00:00Z'],
  ['bigint', '0', '1970-01-01T00:00:00.000Z'],
  ['bigint', '86400000', '1972-09-27T00:00:00.000Z'],
  ['integer', '86400000', '1972-09-27T00:00:00.000Z'],
  ['numeric', '1556712000.25', '2019-05-01T12:00:00.250Z'],
  ['numeric', '0', '1970-01-01T00:00:00.000Z']
] as const

test('reads moments of PostgreSQL whatever time zone and style of dates the database has', async (t) => {
  const mapping = readMapping('name=id,email=id,createdAt=at', columns)
  const tables = MOMENTS.flatMap(([type, at], i) =>
    [`CREATE TABLE @a${i} (id TEXT PRIMARY KEY, at ${type})`, `INSERT INTO @a${i} VALUES ('a', ${at})`])
  for (const options of ['-c timezone=Europe/Berlin -c datestyle=German', '-c datestyle=SQL,DMY']) {
    const { source, schema } = await pgSourceOf(t, pgUrlWith({ options }), ...tables)
    for (const [i, [type, at, moment]] of MOMENTS.entries()) {
      t.strictSame(await usersOf(source, { table: `${schema}.a${i}`, key: 'id', mapping }),
        [['a', { name: 'a', email: 'a', createdAt: moment }]], `${options}: ${type} ${at}`)
    }
  }
})

test('how much of a table was read counts the rows that were left out', async (t) => {
  const { source } = await sourceOf(t, 'CREATE TABLE accounts (id INTEGER PRIMARY KEY, at INTEGER)',
    'INSERT INTO accounts WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) ' +
    'SELECT i, i FROM n')
  const mapping = readMapping('name=id,email=id,updatedAt=at', columns)
  const since = new Date(501_000).toISOString()
  const { rows, part } = await readTable(source, { table: 'accounts', key: 'id', mapping, since })
  t.equal(part(), 0)
  const parts: Array<[number, number | null]> = []
  for await (const step of rows) parts.push([step.length, part()])
  t.strictSame(parts, [[100, 1]])
  const empty = await readTable(source, { table: 'accounts', key: 'id', mapping, where: 'id < 0' })
  t.equal(empty.part(), null)
})
