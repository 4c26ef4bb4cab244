// What is used of pg beyond its documented interface. Where one of these fails, read
// adapters/knex/drivers/pg.ts again with the new version of pg: the message says what breaks without it.
import { EventEmitter } from 'node:events'
import pg from 'pg'
import { test } from 'tap'
import { destroySocket, onCommandComplete, pgDriver } from '../../adapters/knex/drivers/pg.ts'
import { connectPg } from '../helpers/postgres.ts'
import { pgUrl } from '../helpers/stores.ts'

test('a client has its protocol as an emitter, and that has its socket', async (t) => {
  const client = await connectPg(t)
  const { connection } = Object(client)
  t.ok(connection instanceof EventEmitter, 'else the command tag of COMMIT is not seen: find what emits it now')
  t.type(connection.stream.destroy, 'function', 'else a server that does not answer holds its callers')
})

test('a client whose socket is destroyed gives up its statements', async (t) => {
  const client = new pg.Client({ connectionString: pgUrl() })
  await client.connect()
  client.on('error', () => {})
  const waiting = client.query('SELECT pg_sleep(5)')
  destroySocket(client)
  const what = 'else nobody is told of a server that does not answer'
  await t.rejects(waiting, { message: /^Connection terminated/ }, what)
})

test('the protocol emits the command tag of each statement', async (t) => {
  const client = await connectPg(t)
  const tags: string[] = []
  const remove = onCommandComplete(client, (tag) => tags.push(tag))
  for (const statement of ['BEGIN', 'SELECT 1', 'COMMIT', 'BEGIN']) await client.query(statement)
  await t.rejects(client.query('SELECT 1 / 0'), { code: '22012' })
  await client.query('COMMIT')
  t.strictSame(tags, ['BEGIN', 'SELECT 1', 'COMMIT', 'BEGIN', 'ROLLBACK'],
    'else events are emitted for what PostgreSQL has rolled back: find where pg reports the tag of COMMIT')
  remove?.()
  await client.query('SELECT 1')
  t.equal(tags.length, 5, 'a removed listener is not called')
  t.equal(onCommandComplete({}, () => {}), null)
})

test('nothing of a statement that is done is kept by the query of pg', async (t) => {
  const values = ['a', 'b']
  const sent: Array<readonly unknown[]> = []
  const result = { rows: [{ n: '1' }] }
  const answer = (works: boolean) => ({
    query ({ values }: { values: unknown[] }, done: (error: Error | null, made?: typeof result) => void) {
      sent.push(values)
      t.strictSame(values, ['a', 'b'])
      setImmediate(() => works ? done(null, result) : done(new Error('refused')))
    }
  })
  t.strictSame(await pgDriver.run(answer(true), 'SELECT $1, $2', values), [{ n: '1' }])
  t.strictSame(result.rows, [])
  await t.rejects(pgDriver.run(answer(false), 'SELECT $1, $2', values), { message: 'refused' })
  t.strictSame(sent, [[], []])
  t.strictSame(values, ['a', 'b'], 'the caller may send them again')
})
