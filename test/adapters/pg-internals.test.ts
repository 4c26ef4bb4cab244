// What is used of pg beyond its documented interface. Where one of these fails, read
// adapters/knex/drivers/pg-internals.ts again with the new version of pg: the message says what breaks without it.
import { EventEmitter } from 'node:events'
import pg from 'pg'
import { test, type Test } from 'tap'
import { pgDriver } from '../../adapters/knex/drivers/pg.ts'
import { canPipeline, cork, destroySocket, onCommandComplete } from '../../adapters/knex/drivers/pg-internals.ts'
import { connectPg } from '../helpers/postgres.ts'
import { pgUrl } from '../helpers/stores.ts'

/** A connected client that pipelines, or not, closed with the test. */
async function connect (t: Test, pipeline: boolean): Promise<pg.Client> {
  const options: object = { connectionString: pgUrl(), pipeline }
  const client = new pg.Client(options)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** The bytes that wait in the corked socket of a client. */
const waitingBytes = (client: pg.Client): number => Object(client).connection.stream.writableLength

test('a client has its protocol as an emitter, and that has its socket', async (t) => {
  const client = await connectPg(t)
  const { connection } = Object(client)
  t.ok(connection instanceof EventEmitter, 'else the command tag of COMMIT is not seen: find what emits it now')
  for (const method of ['cork', 'uncork', 'destroy']) {
    const what = 'else reads are not sent in one packet, and a server that does not answer holds its callers'
    t.type(connection.stream[method], 'function', what)
  }
})

test('what is sent to a corked client leaves at the end of the turn', async (t) => {
  const client = await connect(t, true)
  cork(client)
  cork(client)
  const results = [1, 2, 3].map((n) => client.query(`SELECT ${n} AS n`))
  t.ok(waitingBytes(client) > 0, 'else pg writes to another stream than the one that is corked')
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(Object(client).connection.stream.writableCorked, 0, 'else nothing is sent any more')
  t.strictSame((await Promise.all(results)).map(({ rows }) => rows), [[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
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

test('a client that can pipeline says so, and sends statements without waiting for answers', async (t) => {
  const needed = 'else postgres() must find out otherwise whether pg can pipeline, or it batches nothing any more'
  t.equal(canPipeline(new pg.Client()), true, needed)
  t.equal(canPipeline({}), false)
  for (const pipeline of [true, false]) {
    const client = await connect(t, pipeline)
    cork(client)
    const first = client.query('SELECT 1 AS n')
    const after = waitingBytes(client)
    const second = client.query('SELECT 2 AS n')
    t.equal(waitingBytes(client) > after, pipeline, needed)
    t.strictSame((await Promise.all([first, second])).map(({ rows }) => rows), [[{ n: 1 }], [{ n: 2 }]])
  }
})

test('a pipelined statement that fails takes no other with it', async (t) => {
  const client = await connect(t, true)
  const query = (text: string) => client.query({ text, values: [] })
  const results = await Promise.allSettled([query('SELECT 1'), query('SELECT 1 / 0'), query('SELECT 2'), query('x')])
  t.strictSame(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    'else reads may not share a connection')
})

test('nothing of a statement that is done is kept by the query of pg', async (t) => {
  const values = ['a', 'b']
  const sent: Array<readonly unknown[]> = []
  const result = { rows: [{ n: '1' }] }
  const answer = (works: boolean) => ({
    async query ({ values }: { values: unknown[] }) {
      sent.push(values)
      t.strictSame(values, ['a', 'b'])
      if (!works) throw new Error('refused')
      return result
    }
  })
  t.strictSame(await pgDriver.run(answer(true), 'SELECT $1, $2', values), [{ n: '1' }])
  t.strictSame(result.rows, [])
  await t.rejects(pgDriver.run(answer(false), 'SELECT $1, $2', values), { message: 'refused' })
  t.strictSame(sent, [[], []])
  t.strictSame(values, ['a', 'b'], 'the caller may send them again')
})
