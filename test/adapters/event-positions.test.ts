// How PostgreSQL's events get their positions, where it is hardest: open transactions, a dump, rights, several readers.
import { test, type Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import type { EventRecord, NewEvent, Storage } from '../../lib/storage/storage.ts'
import { postgres } from '../../adapters/postgres.ts'
import { from } from '../helpers/level.ts'
import { migrated } from '../helpers/migrated.ts'
import { connectPg, urlOfRole } from '../helpers/postgres.ts'
import { userOf } from '../helpers/records.ts'
import { until } from '../helpers/until.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { addUser, changeUser, removeUser } from '../helpers/writes.ts'

const ROUNDS = from('nightly') === false ? 200 : 60
const now = () => new Date().toISOString()
const eventOf = (type: string): NewEvent =>
  ({ id: newId('evt'), type, timestamp: now(), actor: null, requestId: null })

async function openStore (t: Test) {
  const schema = temporarySchema(t)
  const store = postgres({ connection: pgUrl(), schema })
  return { store: await migrated(t, store), schema }
}

async function create (store: Storage): Promise<string> {
  const id = newId('usr')
  await addUser(store, userOf(0, { id, email: `${id}@example.org` }), { event: eventOf('user.created') })
  return id
}

async function readAfter (store: Storage, after: string | null): Promise<EventRecord[]> {
  const all: EventRecord[] = []
  while (true) {
    const page = await store.log.read({ after: all.at(-1)?.id ?? after, limit: 50, types: null })
    if (page === undefined || page === null) throw new Error('the event is not there')
    all.push(...page.events)
    if (!page.more) return all
  }
}

const insertion = (schema: string): string =>
  `INSERT INTO "${schema}".fastify_users_events (id, type, happened_at, context, subject, data)
    VALUES ($1, 'user.updated', now(), '{"actor":null,"requestId":null}', 'x', '{"id":"x","name":"Ann"}')`

const state = async (schema: string) => (await sql(
  `SELECT last_position::int, frontier::int, gaps::text FROM "${schema}".fastify_users_event_state`
))[0]

test('an event of a transaction that is open for long is found after the search has moved on', async (t) => {
  const { store, schema } = await openStore(t)
  const client = await connectPg(t)
  await create(store)
  const first = await readAfter(store, null)
  await client.query('BEGIN')
  const late = newId('evt')
  await client.query(insertion(schema), [late])
  const seen = first.map((event) => event.id)
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 30 }, () => create(store)))
    seen.push(...(await readAfter(store, seen.at(-1) ?? null)).map((event) => event.id))
  }
  t.equal(seen.length, 151)
  t.strictSame(await state(schema), { last_position: 151, frontier: 152, gaps: '{[2,3)}' }, 'its place is left open')
  await client.query('COMMIT')
  t.strictSame((await readAfter(store, seen.at(-1) ?? null)).map((event) => event.id), [late])
  t.strictSame(await state(schema), { last_position: 152, frontier: 152, gaps: '{}' })
})

test('a rolled-back event leaves no gap once the transactions that were open at the time have ended', async (t) => {
  const { store, schema } = await openStore(t)
  const client = await connectPg(t)
  for (let round = 0; round < 3; round++) {
    await client.query('BEGIN')
    await client.query(insertion(schema), [newId('evt')])
    await client.query('ROLLBACK')
    await create(store)
  }
  t.equal((await readAfter(store, null)).length, 3)
  t.strictSame(await state(schema), { last_position: 3, frontier: 6, gaps: '{[1,2),[3,4),[5,6)}' })
  // Other tests have transactions of their own, which may have been open meanwhile.
  await until('the gaps are dropped', async () => {
    await create(store)
    await readAfter(store, null)
    return (await state(schema))?.['gaps'] === '{}'
  })
})

test('a read costs the same while a transaction stays open, however much is numbered meanwhile', async (t) => {
  const { store, schema } = await openStore(t)
  const client = await connectPg(t)
  const insert = (first: number, last = first) => sql(`INSERT INTO "${schema}".fastify_users_events
    (id, type, happened_at, context, subject, data) SELECT 'evt_01h455vb4pex5vsknk' || lpad(n::text, 8, '0'),
      'user.updated', now(), '{"actor":null,"requestId":null}', 'x', '{"id":"x","name":"Ann"}'
    FROM generate_series(${first}, ${last}) AS n`)
  /** The pages of the database that one numbering looks at. */
  async function pages (): Promise<number> {
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT "${schema}".fastify_users_number_events(5000)`
    const [row] = await sql(explain)
    const [{ Plan: plan }] = Object(row)['QUERY PLAN']
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  }
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SELECT pg_current_xact_id()')
  await create(store)
  await readAfter(store, null)
  await insert(1)
  const before = await pages()
  for (const first of [10_000, 20_000, 30_000]) {
    await insert(first, first + 3999)
    await pages()
  }
  await insert(2)
  const after = await pages()
  await client.query('COMMIT')
  t.ok(after < before + 200, `${before} pages, and ${after} after 12,000 events`)
})

test('after a dump is restored into a cluster with smaller transaction ids, nothing is missed', async (t) => {
  const { store, schema } = await openStore(t)
  await create(store)
  const [first] = await readAfter(store, null)
  await sql(`UPDATE "${schema}".fastify_users_event_state SET settling_xid = '9000000000000000000'`)
  for (let round = 0; round < 3; round++) {
    await create(store)
    await readAfter(store, null)
  }
  t.equal((await readAfter(store, String(first?.id))).length, 3)
  t.strictSame(await state(schema), { last_position: 4, frontier: 4, gaps: '{}' })
})

test('a read has what was committed before it, also if another process numbers it at that moment', async (t) => {
  const { store, schema } = await openStore(t)
  const others = [1, 2].map(() => postgres({ connection: pgUrl(), schema }))
  t.teardown(() => Promise.all(others.map((other) => other.close())))
  const all = [store, ...others]
  const last = all.map((): string | null => null)
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(Array.from({ length: 3 }, () => create(store)))
    const read = await Promise.all(all.map((each, i) => readAfter(each, last[i] ?? null)))
    if (read.some((events) => events.length !== 3)) t.fail(`round ${round}: ${read.map((events) => events.length)}`)
    read.forEach((events, i) => { last[i] = events.at(-1)?.id ?? null })
  }
  t.equal((await readAfter(store, null)).length, 3 * ROUNDS)
})

test('who may read and write our tables, and number events, can read the log', async (t) => {
  const { schema } = await openStore(t)
  const tables = ['users', 'api_keys', 'idempotency_keys', 'migrations', 'events', 'pruned_events', 'counting_blocks',
    'counting_groups', 'counting_changes', 'counting_state'].map((name) => `"${schema}".fastify_users_${name}`)
  const connection = await urlOfRole(t, `${schema}_role`, [
    `USAGE ON SCHEMA "${schema}"`, `SELECT, INSERT, UPDATE, DELETE ON ${tables.join(', ')}`,
    `EXECUTE ON FUNCTION "${schema}".fastify_users_number_events(integer)`
  ])
  const weak = postgres({ connection, schema })
  t.teardown(() => weak.close())
  const id = await create(weak)
  await changeUser(weak, id, { name: { value: 'X', key: 'x' } }, { updatedAt: now(), event: eventOf('user.updated') })
  await removeUser(weak, id, { event: eventOf('user.deleted'), erase: true })
  t.equal((await readAfter(weak, null)).length, 3)
  t.equal(await weak.log.prune(now(), 10), 2)
})
