// Erasure of events: while others prune the log, while its transaction stays open, and of very many.
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { storageOnKnex } from '../../adapters/knex/storage.ts'
import { postgres } from '../../adapters/postgres.ts'
import { newEvent } from '../../lib/storage/recorded-events.ts'
import { type Repository, repositoryOf } from '../../lib/storage/repository.ts'
import type { NewEvent, Storage } from '../../lib/storage/storage.ts'
import { intercept } from '../helpers/intercept.ts'
import { postgresKnex } from '../helpers/knex-hosts.ts'
import { migrated } from '../helpers/migrated.ts'
import { anyVersion, rename, userOf } from '../helpers/records.ts'
import { steadyClock } from '../helpers/steady-clock.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { addUser, changeUser, removeUser, wholeLog } from '../helpers/writes.ts'

const context = { actor: null, requestId: null }
const eventOf = (type: string): NewEvent => {
  const event = newEvent(type, context)
  if (event === null) throw new Error('there is an event')
  return event
}
const erasure = () => ({ event: eventOf('user.deleted'), erase: true })
/** Adds the nth user, with its event. */
async function create (store: Storage, n: number): Promise<string> {
  return (await addUser(store, userOf(n), { event: eventOf('user.created') })).id
}
const LATER = '2026-02-02T00:00:00.000Z'

async function hostStore (t: Test) {
  const schema = temporarySchema(t)
  const host = postgresKnex(t)
  const store = await migrated(t, knexStorage(host, { schema }))
  return { schema, host, store }
}

test('an erasure leaves no value, though others prune the log meanwhile', async (t) => {
  const { schema, host, store } = await hostStore(t)
  const ann = await create(store, 1)
  await changeUser(store, ann, rename('new'), { updatedAt: LATER, event: eventOf('user.updated') })
  const columns = 'type, happened_at, context, subject, data, before'
  await sql(`INSERT INTO "${schema}".fastify_users_events (id, ${columns})
    SELECT 'evt_0' || lpad(n::text, 25, '0'), type, '2020-01-01', context, subject, data, before
    FROM "${schema}".fastify_users_events, generate_series(1, 1200) AS n WHERE type = 'user.updated'`)
  t.equal((await wholeLog(store)).length, 1202)
  const other = postgres({ connection: pgUrl(), schema })
  t.teardown(() => other.close())
  let pruned = 0
  intercept(host, async (statement, send) => {
    // Before the first part is written.
    if (pruned === 0 && statement.includes('SET data = q_data')) {
      await sql(`DELETE FROM "${schema}".fastify_users_events WHERE happened_at < now() AND position % 3 = 0`)
      pruned++
    }
    return send()
  })
  await removeUser(store, ann, erasure())
  t.equal(pruned, 1)
  const events = await wholeLog(store)
  t.ok(events.length < 1202)
  t.strictSame(events.filter(({ data, before }) => data['name'] !== null || Object(before)?.name === 'new'), [])
})

test('an open erasure transaction does not delay the events of other users', async (t) => {
  const { host, store } = await hostStore(t)
  const ann = await create(store, 1)
  const trx = await host.transaction()
  await removeUser(store.join(trx), ann, erasure())
  // Several rounds: her event is not given up, though whoever took its place in the sequence has ended.
  const others: string[] = []
  for (let n = 2; n < 8; n++) {
    others.push(await create(store, n))
    t.strictSame((await wholeLog(store)).map(({ subject }) => subject), others)
  }
  await trx.commit()
  const events = await wholeLog(store)
  t.strictSame(events.map(({ subject }) => subject), [...others, ann, ann])
  t.strictSame(events.slice(-2).map(({ type, data }) => [type, data['name']]), [
    ['user.created', null], ['user.deleted', null]
  ])
})

test('an event that is erased before it has its position is not given up with the gaps', async (t) => {
  const { host, store } = await hostStore(t)
  const ann = await create(store, 1)
  await wholeLog(store)
  const writing = await host.transaction()
  await changeUser(store.join(writing), ann, rename('new'), { updatedAt: LATER, event: eventOf('user.updated') })
  // Now the place of its event is a gap, behind which the search has gone on.
  for (let n = 2; n < 6; n++) {
    await create(store, n)
    await wholeLog(store)
  }
  await writing.commit()
  const erasing = await host.transaction()
  await removeUser(store.join(erasing), ann, erasure())
  for (let n = 6; n < 10; n++) {
    await create(store, n)
    await wholeLog(store)
  }
  await erasing.commit()
  const ofAnn = (await wholeLog(store)).filter(({ subject }) => subject === ann)
  t.strictSame(ofAnn.map(({ type }) => type), ['user.created', 'user.updated', 'user.deleted'])
})

/** The ways in which the events of a user are erased. */
const ways: Array<[name: string, run: (repository: Repository, id: string) => Promise<unknown>]> = [
  ['a deletion', ({ users }, id) => users.writeOne({
    type: 'delete', id, guard: anyVersion, event: eventOf('user.deleted'), erase: true
  })],
  ['an erasure alone', ({ events }, id) => events.erase(id)]
]

for (const [name, run] of ways) {
  test(`${name} of a user with many events may take longer than another write`, async (t) => {
    const total = 5000
    // 50 ms for a hundred events are three seconds. One has passed when the first part is written.
    const schema = temporarySchema(t)
    const host = postgresKnex(t)
    const advance = steadyClock(t)
    let isLate = false
    intercept(host, (statement, send) => {
      if (!isLate && statement.includes('SET data = q_data')) {
        advance(total + 1000)
        isLate = true
      }
      return send()
    })
    const store = await migrated(t, storageOnKnex(host, { schema }, { limits: { wait: total, busy: 0, total } }))
    const ann = await create(store, 1)
    const events = `"${schema}".fastify_users_events`
    const columns = 'type, happened_at, context, subject, data, before'
    await sql(`INSERT INTO ${events} (id, ${columns}) SELECT 'evt_0' || lpad(n::text, 25, '0'), ${columns}
      FROM ${events}, generate_series(1, 6000) AS n`)
    await run(repositoryOf(store), ann)
    t.equal(isLate, true)
    const named = await sql(`SELECT count(*) FROM ${events} WHERE data ->> 'name' IS NOT NULL`)
    t.strictSame(named, [{ count: '0' }])
  })
}
