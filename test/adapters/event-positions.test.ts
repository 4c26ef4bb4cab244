// How PostgreSQL's events get their positions, where it is hardest: open transactions, a dump, rights, several readers.
import pg from 'pg'
import { test, type Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import type { EventRecord, NewEvent, Storage } from '../../lib/storage/storage.ts'
import { postgres } from '../../adapters/postgres.ts'
import { until } from '../helpers/until.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { addUser, changeUser, removeUser } from '../helpers/writes.ts'

const ACTIVE = { status: 'active', statusReason: null } as const

const now = () => new Date().toISOString()
const eventOf = (type: string): NewEvent =>
  ({ id: newId('evt'), type, timestamp: now(), actor: null, requestId: null })

async function openStore (t: Test) {
  const schema = temporarySchema(t)
  const store = postgres({ connection: pgUrl(), schema })
  t.teardown(() => store.close())
  await store.open({ migrate: true })
  return { store, schema }
}

async function create (store: Storage): Promise<string> {
  const email = `${newId('usr')}@example.org`
  const time = now()
  const times = { createdAt: time, updatedAt: time }
  const user = { id: newId('usr'), name: 'Ann', email, fields: {}, ...ACTIVE, version: 1, ...times }
  await addUser(store, user, { keys: { emailKey: email, nameKey: 'ann' }, event: eventOf('user.created') })
  return user.id
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

const state = async (schema: string) => (await sql(
  `SELECT last_position::int, frontier::int, gaps::text FROM "${schema}".fastify_users_event_state`
))[0]

test('an event of a transaction that is open for long is found after the search has moved on', async (t) => {
  const { store, schema } = await openStore(t)
  const client = new pg.Client({ connectionString: pgUrl() })
  await client.connect()
  t.teardown(() => client.end())
  const id = await create(store)
  const first = await readAfter(store, null)
  await client.query('BEGIN')
  const late = newId('evt')
  await client.query(`UPDATE "${schema}".fastify_users_users SET version = 2 WHERE id = $1`, [id])
  await client.query(
    `INSERT INTO "${schema}".fastify_users_events (id, type, happened_at, context, subject, data)
     VALUES ($1, 'user.updated', now(), '{"actor":null,"requestId":null}', $2, '{"id":"x","name":"Ann"}')`, [late, id]
  )
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
  const client = new pg.Client({ connectionString: pgUrl() })
  await client.connect()
  t.teardown(() => client.end())
  const insert = `INSERT INTO "${schema}".fastify_users_events (id, type, happened_at, context, subject, data)
    VALUES ($1, 'user.updated', now(), '{"actor":null,"requestId":null}', 'x', '{"id":"x","name":"Ann"}')`
  for (let round = 0; round < 3; round++) {
    await client.query('BEGIN')
    await client.query(insert, [newId('evt')])
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
  const client = new pg.Client({ connectionString: pgUrl() })
  await client.connect()
  t.teardown(() => client.end())
  const insert = (count: number) => sql(`INSERT INTO "${schema}".fastify_users_events
    (id, type, happened_at, context, subject, data) SELECT 'evt_01h455vb4pex5vsknk' || lpad(n::text, 8, '0'),
      'user.updated', now(), '{"actor":null,"requestId":null}', 'x', '{"id":"x","name":"Ann"}'
    FROM generate_series((SELECT count(*) FROM "${schema}".fastify_users_events) + 1,
      (SELECT count(*) FROM "${schema}".fastify_users_events) + ${count}) AS n`)
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
  for (let round = 0; round < 3; round++) {
    await insert(4000)
    await pages()
  }
  await insert(1)
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

test('many readers and writers in several processes agree on the order', async (t) => {
  const { store, schema } = await openStore(t)
  const others = [1, 2].map(() => postgres({ connection: pgUrl(), schema }))
  t.teardown(() => Promise.all(others.map((other) => other.close())))
  const all = [store, ...others]
  const ids = await Promise.all(Array.from({ length: 5 }, () => create(store)))
  const logs: string[][] = all.map(() => [])
  // Each reader reads as fast as it can; a transaction of another test may hold back the last events for a while.
  const readers = all.map((each, i) => until('all 305 events are read', async () => {
    const log = logs[i] ?? []
    log.push(...(await readAfter(each, log.at(-1) ?? null)).map((event) => event.id))
    return log.length >= 305
  }, 30_000))
  const writes = Array.from({ length: 300 }, (_, n) => {
    const name = { value: `Name ${n}`, key: `name ${n}` }
    const event = eventOf('user.updated')
    return changeUser(all[n % 3] ?? store, String(ids[n % 5]), { name }, { updatedAt: now(), event })
  })
  await Promise.all(writes)
  await Promise.all(readers)
  const [expected = []] = logs
  t.equal(new Set(expected).size, 305)
  for (const log of logs) t.strictSame(log, expected)
  for (const id of ids) {
    const events = (await readAfter(store, null)).filter(({ subject }) => subject === id)
    const versions = events.map(({ data }) => data['version'])
    t.strictSame(versions, versions.toSorted((a, b) => Number(a) - Number(b)))
  }
})

test('a read has what was committed before it, also if another process numbers it at that moment', async (t) => {
  const { store, schema } = await openStore(t)
  const others = [1, 2].map(() => postgres({ connection: pgUrl(), schema }))
  t.teardown(() => Promise.all(others.map((other) => other.close())))
  const all = [store, ...others]
  const last = all.map((): string | null => null)
  for (let round = 0; round < 200; round++) {
    await Promise.all(Array.from({ length: 3 }, () => create(store)))
    const read = await Promise.all(all.map((each, i) => readAfter(each, last[i] ?? null)))
    if (read.some((events) => events.length !== 3)) t.fail(`round ${round}: ${read.map((events) => events.length)}`)
    read.forEach((events, i) => { last[i] = events.at(-1)?.id ?? null })
  }
  t.equal((await readAfter(store, null)).length, 600)
})

test('many calls at the same time beside slow transactions leave no committed event without a position', async (t) => {
  const { store, schema } = await openStore(t)
  const others = Array.from({ length: 4 }, () => postgres({ connection: pgUrl(), schema }))
  t.teardown(() => Promise.all(others.map((other) => other.close())))
  const writing = { isOver: false }
  let last: string | null = null
  const reading = others.map(async (other) => {
    while (!writing.isOver) {
      const page = await other.log.read({ after: last, limit: 1000, types: null })
      last = page?.events.at(-1)?.id ?? last
    }
  })
  const slow = Array.from({ length: 4 }, async (_, n) => {
    const client = new pg.Client({ connectionString: pgUrl() })
    await client.connect()
    for (let round = 0; round < 15; round++) {
      await client.query('BEGIN')
      await client.query('SELECT pg_current_xact_id()')
      await client.query(
        `INSERT INTO "${schema}".fastify_users_events (id, type, happened_at, context, subject, data)
          VALUES ($1, 'user.updated', now(), '{"actor":null,"requestId":null}', 'x', '{"id":"x","name":"Ann"}')`,
        [newId('evt')]
      )
      await client.query(`SELECT pg_sleep(${(n + 1) * 0.01})`)
      await client.query(round % 3 === 0 ? 'ROLLBACK' : 'COMMIT')
    }
    await client.end()
  })
  const fast = (async () => { for (let n = 0; n < 300; n++) await create(store) })()
  await Promise.all([...slow, fast])
  writing.isOver = true
  await Promise.all(reading)
  await readAfter(store, null)
  const [{ committed, unnumbered }] = Object(await sql(`SELECT count(*)::int AS committed,
    (count(*) FILTER (WHERE position IS NULL))::int AS unnumbered FROM "${schema}".fastify_users_events`))
  t.strictSame({ committed, unnumbered }, { committed: 340, unnumbered: 0 })
})

test('who may read and write our tables, and number events, can read the log', async (t) => {
  const { schema } = await openStore(t)
  const role = `${schema}_role`
  await sql(`CREATE ROLE "${role}" LOGIN PASSWORD 'password'`)
  t.teardown(() => sql(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`))
  await sql(`GRANT USAGE ON SCHEMA "${schema}" TO "${role}"`)
  const tables = ['users', 'api_keys', 'idempotency_keys', 'migrations', 'events', 'pruned_events', 'counting_blocks',
    'counting_groups', 'counting_changes', 'counting_state'].map((name) => `"${schema}".fastify_users_${name}`)
  await sql(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables.join(', ')} TO "${role}";
    GRANT EXECUTE ON FUNCTION "${schema}".fastify_users_number_events(integer) TO "${role}"`)
  const url = new URL(pgUrl())
  url.username = role
  url.password = 'password'
  const weak = postgres({ connection: url.href, schema })
  t.teardown(() => weak.close())
  const id = await create(weak)
  await changeUser(weak, id, { name: { value: 'X', key: 'x' } }, { updatedAt: now(), event: eventOf('user.updated') })
  await removeUser(weak, id, { event: eventOf('user.deleted'), erase: true })
  t.equal((await readAfter(weak, null)).length, 3)
  t.equal(await weak.log.prune(now(), 10), 2)
})
