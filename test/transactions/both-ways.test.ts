// Every method of `app.users.using(trx)` does what the one of `app.users` does: one script, run both ways.
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import type { UserMethods, UsersOptions } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { fields, filterable, withoutType } from '../helpers/fields.ts'
import { postgresKnex, recordEvents } from '../helpers/knex-hosts.ts'
import { from } from '../helpers/level.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { temporarySchema } from '../helpers/stores.ts'

type Run = <Value>(work: (users: UserMethods) => Promise<Value>) => Promise<Value>

const NOBODY = 'usr_01h455vb4pex5vsknk084sn02q'

/** What a script sees, without ids, times and cursors, which no two runs have in common. */
function comparable (value: unknown): unknown {
  const places = new Map<string, string>()
  const placeOf = (id: string): string => {
    if (!places.has(id)) places.set(id, `id ${places.size}`)
    return String(places.get(id))
  }
  const text = JSON.stringify(value, (_name, each) => typeof each === 'string'
    ? each.replace(/\b(usr|evt)_[0-9a-z]{26}\b/g, placeOf).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
      .replace(/^eyJ[\w-]+$/, 'cursor')
    : each)
  return JSON.parse(text)
}

/**
 * Calls every method, with what it accepts and what it refuses, and returns each result or error. `of`: what each new
 * user has beside its name and address.
 */
async function script (run: Run, of: object): Promise<unknown[]> {
  const seen: unknown[] = []
  async function step<Value> (name: string, work: (users: UserMethods) => Promise<Value>): Promise<Value | undefined> {
    try {
      const value = await run(work)
      seen.push([name, value ?? null])
      return value
    } catch (error) {
      const { code, name: kind, message, errors } = Object(error)
      seen.push([name, { code, kind, message, errors }])
      return undefined
    }
  }
  const make = async (name: string, more: object = {}, options: object = {}) =>
    String((await step(`create ${name}`, (users) => users.create(
      withoutType({ name, email: `${name.toLowerCase()}@example.org`, ...of, ...more }), options)))?.id)
  const all = async <Item>(items: AsyncIterable<Item>) => {
    const found: Item[] = []
    for await (const item of items) found.push(item)
    return found
  }

  const ann = await make('Ann', { plan: 'pro', seats: 2 }, { idempotencyKey: 'a' })
  await make('Ann', { plan: 'pro', seats: 2 }, { idempotencyKey: 'a' })
  await make('Ann', { seats: 3 }, { idempotencyKey: 'a' })
  await make('ANN')
  await make('x', { email: 'no address' })
  const bob = await make('Bob', { status: 'suspended', statusReason: 'why' })
  const [cid, dan] = [await make('Cid'), await make('Dan')]
  const first = await step('list the first', (users) => users.list({ sort: 'email', limit: 1 }))
  await step('list the next', (users) => users.list({ sort: 'email', limit: 1, cursor: String(first?.next) }))
  for (const id of [ann, NOBODY, 'x']) {
    await step('get', (users) => users.get(id))
    await step('isActive', (users) => users.isActive(id))
    await step('update', (users) => users.update(id, { name: 'Anna' }, { ifMatch: 1 }))
    await step('update again', (users) => users.update(id, { status: 'suspended' }, { ifMatch: '*' }))
  }
  await step('update to a taken address', (users) => users.update(bob, { email: 'ANN@example.org' }))
  await step('update nothing', (users) => users.update(bob, { name: 'Bob' }))
  await step('update wrongly', (users) => users.update(bob, withoutType({ nmae: 'Bob' })))
  for (const query of [
    {}, { q: 'an' }, { q: 'x' }, { email: 'Bob@example.org' }, { sort: '-name', limit: 2 }, { after: ann }, { page: 9 },
    { status: 'active' }, { plan: 'pro' }, { 'seats[gte]': 2 }, { ids: `${bob},${ann}` }, { limit: 1000 }, { nope: 1 }
  ]) {
    await step(`list ${JSON.stringify(query)}`, (users) => users.list(withoutType(query)))
    await step(`iterate ${JSON.stringify(query)}`, (users) => all(users.iterate(withoutType(query))))
  }
  await step('iterate a snapshot', (users) => all(users.iterate({ sort: 'email' }, { snapshot: true })))
  const rows = [{ name: 'Bert', email: 'bob@example.org' }, { name: '', email: 'e@example.org' },
    { name: 'Eve', email: 'eve@example.org', createdAt: '2020-01-01T00:00:00.000Z' }].map((row) => ({ ...row, ...of }))
  for (const onConflict of ['fail', 'skip', 'update'] as const) {
    for (const dryRun of [true, false]) {
      const results: unknown[] = []
      const onResult = (result: unknown) => { results.push(result) }
      await step(`import ${onConflict} ${dryRun}`, async (users) =>
        [await users.import(rows, { onConflict, dryRun, onResult }), results.splice(0)])
    }
  }
  await step('import a table', (users) =>
    users.import(['name,email\nFay,fay@example.org\n'], { format: 'csv' }))
  for (const [atomic, idempotencyKey] of [[false, 'b'], [false, 'b'], [true, 'b'], [true, 'b']] as const) {
    await step('batch', (users) => users.batch([
      { op: 'create', body: withoutType({ name: 'Gus', email: `gus${atomic}@example.org`, ...of }) },
      { op: 'update', id: cid, body: { name: `Cid ${atomic}` } }, { op: 'delete', id: NOBODY }
    ], { atomic, idempotencyKey }))
  }
  for (const options of [{ ifMatch: 9 }, { ifMatch: 1 }, {}, { purge: true }, { erase: true }, { erase: true }]) {
    await step(`delete ${JSON.stringify(options)}`, (users) => users.delete(dan, options))
  }
  await step('delete', (users) => users.delete(cid))
  await step('listDeleted', (users) => users.listDeleted())
  await step('restore', (users) => users.restore(cid, { idempotencyKey: 'c' }))
  await step('restore again', (users) => users.restore(cid, { idempotencyKey: 'c' }))
  await step('restore who is not deleted', (users) => users.restore(ann))
  for (const [id, options] of [
    [bob, {}], [bob, { erase: true }], [bob, { erase: true, ifMatch: 1 }], [ann, { erase: true }],
    [NOBODY, { erase: true }]
  ] as const) await step('delete or erase', (users) => users.delete(id, options))
  await step('listDeleted afterwards', (users) => users.listDeleted())
  return seen
}

const OPTIONS: Record<string, Partial<UsersOptions>> = {
  'no options': {},
  'an event log': { eventLog: true },
  'an event log, a trash and own fields': {
    eventLog: true, trash: { retention: 3600 }, fields: { schema: fields, filterable, unique: ['seats'] }
  },
  'preconditions that are required': { eventLog: true, requireIfMatch: true },
  'a tenant': { eventLog: true, trash: { retention: 3600 }, tenants: true },
  'all tenants': { eventLog: true, trash: { retention: 3600 }, tenants: true }
}

async function host (t: Test, store: string) {
  if (store === 'postgres') return { knex: postgresKnex(t), schema: temporarySchema(t) }
  const knex = sqliteHost(':memory:')
  t.teardown(() => knex.destroy())
  return { knex }
}

for (const store of ['sqlite', 'postgres']) {
  for (const [name, options] of Object.entries(OPTIONS)) {
    // What options change is decided in lib: one of them, with all that is stored, shows that PostgreSQL is as SQLite.
    const skip = store === 'postgres' && options.fields === undefined && from('nightly')
    test(`methods in a transaction do what those outside of it do, with ${name}, on ${store}`, { skip }, async (t) => {
      const [plain, apart, together] = await Promise.all(['plain', 'apart', 'together'].map(async (way) => {
        const { knex, ...schema } = await host(t, store)
        const { app } = await testApp(t, { ...options, storage: knexStorage(knex, schema) })
        const users = name === 'a tenant' ? app.users.tenant('acme') : app.users
        const of = name === 'all tenants' ? { tenant: 'acme' } : {}
        const heard = recordEvents(app.users)
        const seen = way === 'plain'
          ? await script((work) => work(users), of)
          : way === 'apart'
            ? await script((work) => knex.transaction((trx) => work(users.using(trx))), of)
            : await knex.transaction((trx) => script((work) => work(users.using(trx)), of))
        const logged = options.eventLog === true ? (await users.events.list({ type: 'user.*', limit: 100 })).data : []
        return comparable({ seen, users: (await users.list()).data, logged, heard: await heard() })
      }))
      t.strictSame(apart, plain, 'each call in a transaction of its own')
      t.strictSame(together, plain, 'all calls in one transaction')
    })
  }
}
