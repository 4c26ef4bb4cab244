// The profiles of PostgreSQL: which one a server gets, and moving the tables from one to the other.
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import type { KnexStorage } from '../../adapters/knex/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { EventRecord, UserRecord } from '../../lib/storage/storage.ts'
import { assignUsers } from '../../lib/storage/tenant-assignment.ts'
import { poorConnection, poorSchema } from '../helpers/poor-postgres.ts'
import { eventOf, everyone, firstPage, userOf } from '../helpers/records.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { addUser, removeUser } from '../helpers/writes.ts'

let made = 0
let events = 0

const create = (storage: KnexStorage, name: string, tenant?: string): Promise<UserRecord> =>
  addUser(storage, userOf(++made, { name, ...tenant === undefined ? {} : { tenant } }), {
    event: eventOf(++events, 'user.created')
  })

const remove = (storage: KnexStorage, id: string) =>
  removeUser(storage, id, { event: eventOf(++events, 'user.deleted') })

/** Makes stores on one schema, closed with the test. */
function openersOf (t: Test) {
  const schema = temporarySchema(t)
  const open = (profile?: 'classic' | 'portable') => {
    const storage = postgres({ connection: pgUrl(), schema, ...profile === undefined ? {} : { profile } })
    t.teardown(() => storage.close())
    return storage
  }
  return { schema, open }
}

const pageOf = (storage: KnexStorage, tenant?: string) =>
  storage.users.list({ ...everyone, ...tenant === undefined ? {} : { tenant } }, firstPage(100))

/** All events behind one, in the log's order. */
async function eventsAfter (storage: KnexStorage, after: string | null): Promise<EventRecord[]> {
  const page = await storage.log.read({ after, limit: 1000, types: null })
  return page?.events ?? []
}

test('a server that can do little gets the profile that needs little', async (t) => {
  const [connection, schema] = [await poorConnection(), await poorSchema(t)]
  const storage = postgres({ connection, schema })
  t.teardown(() => storage.close())
  await t.rejects(storage.open(), { code: 'schema_behind' }, 'without tables')
  await storage.open({ migrate: true })
  await storage.open()
  t.match(await storage.inspect(), { profile: 'portable', missing: [], pending: [] })
  const other = postgres({ connection, schema })
  t.teardown(() => other.close())
  t.throws(() => other.join({}), /call open\(\) before join\(\), or give the option profile/)
  const user = await create(storage, 'ann')
  t.strictSame(await other.users.find(user.id), await storage.users.find(user.id), 'also before it is opened')
  t.strictSame(await other.server.upkeep(), await storage.server.upkeep())
  const classic = postgres({ connection, schema: await poorSchema(t), profile: 'classic' })
  t.teardown(() => classic.close())
  await t.rejects(classic.open({ migrate: true }), { code: 'fault' }, 'the other one is not to be had')
})

test('where numbers are kept by hand, a user who is given to a tenant is counted there', async (t) => {
  const storage = openersOf(t).open('portable')
  await storage.open({ migrate: true })
  for (const name of ['ann', 'bob', 'cem']) await create(storage, name)
  await create(storage, 'dee', 'beta')
  await assignUsers(repositoryOf(storage).tenants.assign, 'acme', () => {})
  const totals = [undefined, 'acme', 'beta'].map(async (tenant) => (await pageOf(storage, tenant)).total)
  t.strictSame(await Promise.all(totals), [4, 3, 1])
  t.match(await storage.verifyCounts(), { users: 4, counted: 4, wrong: 0 })
})

test('the tables of another profile are refused, and what the server cannot do is found before the first write',
  async (t) => {
    const { schema, open } = openersOf(t)
    await open().open({ migrate: true })
    t.equal((await open().inspect()).profile, 'classic', 'a server that can do all')
    await t.rejects(open('portable').open(), {
      code: 'schema_behind',
      message: /the tables have the profile classic, not portable: call storage\.open\(\{ migrate: true \}\)/
    })
    await open().open()
    await sql(`CREATE OR REPLACE FUNCTION "${schema}".fastify_users_counting_delete() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'not supported' USING ERRCODE = '0A000'; END $$`)
    await t.rejects(open().open(), { code: 'schema_behind', message: /profile classic of the tables \(0A000\)/ })
  })

test('tables move from one profile to the other and back, with every number, event and key', async (t) => {
  const { schema, open } = openersOf(t)
  const running = open()
  await running.open({ migrate: true, filterable: ['plan'] })
  for (let i = 0; i < 20; i++) await create(running, `before-${i}`, i % 2 === 0 ? 'acme' : undefined)
  const first = await eventsAfter(running, null)
  const last = first.at(-1)?.id ?? null
  // These two have no positions yet.
  const ann = await create(running, 'ann', 'acme')
  await remove(running, (await create(running, 'gone')).id)

  for (const profile of ['portable', 'classic', 'portable'] as const) {
    await open(profile).open({ migrate: true })
    await running.open({ filterable: ['plan'] })
    t.match(await running.inspect({ filterable: ['plan'] }), { profile, missing: [], unindexed: [] }, profile)
    const [all, acme] = [await pageOf(running), await pageOf(running, 'acme')]
    t.strictSame([all.total, acme.total], [21, 11], `${profile}: totals`)
    t.strictSame(acme.items.at(-1), ann)
    t.match(await running.verifyCounts(), { users: 21, counted: 21, wrong: 0 })
    t.strictSame((await eventsAfter(running, null)).slice(0, 20), first, `${profile}: the events have their order`)
    t.strictSame((await eventsAfter(running, last)).map(({ type }) => type),
      ['user.created', 'user.created', 'user.deleted'], `${profile}: a reader goes on from where it was`)
    const bob = await create(running, 'bob', 'acme')
    t.equal((await pageOf(running, 'acme')).total, 12, `${profile}: a new user counts`)
    t.equal((await eventsAfter(running, last)).at(-1)?.subject, bob.id, `${profile}: its event is the last one`)
    await remove(running, bob.id)
    await sql(`DELETE FROM "${schema}".fastify_users_events WHERE subject = '${bob.id}'`)
    await running.rebuildCounts()
    t.match(await running.verifyCounts(), { users: 21, counted: 21, wrong: 0 }, `${profile}: counted again`)
  }
})
