// What is used of pg beyond its documented interface. Where one of these fails, read
// adapters/knex/drivers/pg.ts again with the new version of pg: the message says what breaks without it.
import pg from 'pg'
import { test } from 'tap'
import { pgDriver } from '../../adapters/knex/drivers/pg.ts'
import { takesStatements } from '../../adapters/knex/drivers/pg-statement.ts'
import { connectPg } from '../helpers/postgres.ts'
import { pgUrl } from '../helpers/stores.ts'

/** Counts how often a method of the protocol is called. */
function counted (client: pg.Client, name: string): () => number {
  const { connection } = Object(client)
  const original = connection[name]
  let calls = 0
  connection[name] = function (...args: unknown[]) {
    calls++
    return original.apply(this, args)
  }
  return () => calls
}

test('a client takes our statements', async (t) => {
  const client = await connectPg(t)
  t.ok(takesStatements(client), 'else each statement costs as much as by pg: read pg-statement.ts again')
  const [parsed, described] = [counted(client, 'parse'), counted(client, 'describe')]
  const sum = 'SELECT $1::int + 1 AS sum, $2::text AS text'
  for (const [n, text] of [[1, 'a'], [2, null], [3, '']] as const) {
    t.strictSame(await pgDriver.run(client, sum, [n, text], true), [{ sum: String(n + 1), text }])
  }
  t.strictSame([parsed(), described()], [1, 1], 'prepared once, and asked for its columns once')
  t.strictSame(await pgDriver.run(client, sum, [4, 'b']), [{ sum: '5', text: 'b' }])
  t.strictSame([parsed(), described()], [2, 2], 'one without a name is both each time')

  const many = 'SELECT n FROM generate_series(1, $1::int) AS g (n)'
  for (const n of [0, 3, 0]) t.equal((await pgDriver.run(client, many, [n], true)).length, n)
  t.strictSame(await pgDriver.run(client, 'CREATE TEMPORARY TABLE kept (n int)', []), [])
  const insert = 'INSERT INTO kept VALUES ($1)'
  for (let i = 0; i < 2; i++) t.strictSame(await pgDriver.run(client, insert, [i], true), [])
})

test('lists are arrays, whatever their texts have', async (t) => {
  const client = await connectPg(t)
  const lists = [
    [],
    ['a', 'b'], ['"', '\\', '\\"', '{}', ',', ' ', '', 'NULL', 'null'],
    ['\n\t', '\u{1f600}', "'"],
    [null, 'x'],
    [1, 2.5, -3]
  ]
  for (const list of lists) {
    const [row] = await pgDriver.run(client, 'SELECT to_json($1::text[]) AS list', [list], true)
    t.strictSame(JSON.parse(String(row?.['list'])), list.map((each) => each === null ? null : String(each)))
  }
  const [row] = await pgDriver.run(client, 'SELECT to_json($1::text[][]) AS list', [[['a', '"'], ['b', null]]])
  t.strictSame(JSON.parse(String(row?.['list'])), [['a', '"'], ['b', null]])
})

test('a statement that fails leaves the connection to the next, prepared or not', async (t) => {
  const client = await connectPg(t)
  const divide = 'SELECT 1 / $1::int AS n'
  for (const prepare of [true, false]) {
    await t.rejects(pgDriver.run(client, divide, [0], prepare), { code: '22012' })
    await t.rejects(pgDriver.run(client, 'SELECT nowhere FROM nothing WHERE $1 = 1', [1], prepare), { code: '42P01' })
    await t.rejects(pgDriver.run(client, 'COPY pg_class FROM STDIN', []), { code: /^\w{5}$/ })
    t.strictSame(await pgDriver.run(client, divide, [1], prepare), [{ n: '1' }])
  }
  await client.query('CREATE TEMPORARY TABLE wide (a int, b int)')
  const star = 'SELECT * FROM wide WHERE a = $1'
  t.strictSame(await pgDriver.run(client, star, [1], true), [])
  await client.query('ALTER TABLE wide DROP COLUMN b, ADD COLUMN c int')
  const what = 'else values may be given to columns of before'
  await t.rejects(pgDriver.run(client, star, [1], true), { code: '0A000' }, what)
})

test('a time limit of the connection ends our statements', async (t) => {
  const client = new pg.Client({ connectionString: pgUrl(), query_timeout: 100 })
  await client.connect()
  t.teardown(() => client.end())
  await t.rejects(pgDriver.run(client, 'SELECT pg_sleep(1)', []), { message: 'Query read timeout' })
})

test('a pipelined connection gets the own statements of pg', async (t) => {
  const client = new pg.Client({ connectionString: pgUrl(), pipeline: true })
  await client.connect()
  t.teardown(() => client.end())
  t.notOk(takesStatements(client))
  const run = (n: number) => pgDriver.run(client, 'SELECT $1::int + 1 AS n', [n], true)
  t.strictSame(await Promise.all([1, 2].map(run)), [[{ n: '2' }], [{ n: '3' }]])
  await t.rejects(pgDriver.run(client, 'SELECT 1 / $1::int', [0]), { code: '22012' })
  await t.rejects(pgDriver.run({}, 'SELECT 1', []), { name: 'TypeError' })
})

// As OpenTelemetry's instrumentation does with `addSqlCommenterCommentToQueries`, and with each callback.
test('a tracer may copy our statements, and replace their callbacks', async (t) => {
  const client = await connectPg(t)
  const query = client.query.bind(client)
  const seen: unknown[] = []
  const commented = (statement: object): unknown => {
    const { text, callback } = Object(statement)
    const copy = { ...statement, text: `${text} /* traced */` }
    return query(Object.assign(copy, {
      callback (error: unknown, result: { rows: unknown[] }) {
        seen.push(error == null ? result.rows : Object(error).code)
        callback(error, result)
      }
    }))
  }
  t.intercept(client, 'query', { value: commented })
  const run = (n: number) => pgDriver.run(client, 'SELECT $1::int + 1 AS n, now() AS at', [n])
  const [row] = await run(1)
  t.match(row, { n: '2', at: /^\d{4}-/ }, 'text, whatever parsers pg has')
  await t.rejects(pgDriver.run(client, 'SELECT 1 / $1::int', [0]), { code: '22012' })
  t.match(seen, [[{ n: '2' }], '22012'])
})
