// Row-level security as docs/row-level-security.md sets it up: its own SQL, on a service that is no superuser.
import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { testStorage } from '../../adapters/testing/index.ts'
import users from '../../lib/index.ts'
import { readPage } from '../helpers/docs/pages.ts'
import { from } from '../helpers/level.ts'
import { plainId, USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { pgUrl, sql } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const { blocks } = await readPage('docs/row-level-security.md')
const SETUP = blocks.find(({ language, kind }) => language === 'sql' && kind === 'pg')?.text ?? ''

/** A database of a role that is no superuser, and the SQL of the page with names of its own. */
async function database (t: Test) {
  const id = randomBytes(6).toString('hex')
  const [name, service, tenantCode] = [`fenced_${id}`, `service_${id}`, `tenant_code_${id}`]
  await sql(`CREATE ROLE ${service} LOGIN CREATEROLE PASSWORD 'x'`)
  await sql(`CREATE DATABASE ${name} OWNER ${service} TEMPLATE template0`)
  t.teardown(async () => {
    await sql(`DROP DATABASE ${name} WITH (FORCE)`)
    await sql(`DROP ROLE IF EXISTS ${tenantCode}`)
    await sql(`DROP ROLE ${service}`)
  })
  const urlOf = (username: string) =>
    Object.assign(new URL(pgUrl()), { username, password: 'x', pathname: name }).href
  return {
    serviceUrl: urlOf(service),
    tenantUrl: urlOf(tenantCode),
    setup: SETUP.replaceAll('tenant_code', tenantCode).replace('LOGIN;', "LOGIN PASSWORD 'x';")
  }
}

function hostOf (t: Test, connection: string): Knex {
  const host = knex({ client: 'pg', connection, pool: { min: 0, max: 4 } })
  t.teardown(() => host.destroy())
  return host
}

/** Runs work in a transaction of a tenant. */
function inTenant<Result> (host: Knex, tenant: string, work: (trx: Knex.Transaction) => Promise<Result>) {
  return host.transaction(async (trx) => {
    await trx.raw("SELECT set_config('app.tenant', ?, true)", [tenant])
    return work(trx)
  })
}

async function mount (t: Test) {
  const { serviceUrl, tenantUrl, setup } = await database(t)
  const host = hostOf(t, serviceUrl)
  const app = Fastify()
  t.teardown(() => app.close())
  const storage = knexStorage(host)
  await app.register(users, {
    prefix: '/v1',
    storage,
    migrate: true,
    tenants: true,
    eventLog: true,
    trash: true,
    groups: true,
    apiKeys: { routes: true }
  })
  await host.raw(setup)
  const [acme, beta] = [app.users.tenant('acme'), app.users.tenant('beta')]
  const ann = await acme.create({ name: 'Ann', email: 'ann@example.org' })
  const bob = await beta.create({ name: 'Bob', email: 'ann@example.org' })
  const events = async () => (await storage.log.read({ after: null, limit: 20, types: null }))?.events ?? []
  return { app, host, events, tenantHost: hostOf(t, tenantUrl), acme, beta, ann, bob }
}

const namesIn = async (on: Knex | Knex.Transaction) =>
  (await on('fastify_users_users').orderBy('id').select('name')).map(({ name }) => name)

test('the plugin works behind the fence: keys, lists, totals, events, blocks, tenants, their removal', async (t) => {
  const { app, host, events, acme, beta, ann, bob } = await mount(t)
  const { key } = await acme.apiKeys.create({ name: 'acme' })
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject({ url, headers: { authorization: `Bearer ${key}` } })
    return { status: statusCode, body: JSON.parse(body) }
  }
  t.match(await get(`/v1/users/${ann.id}`), { status: 200, body: { tenant: 'acme' } })
  t.match(await get(`/v1/users/${bob.id}`), { status: 404 })
  t.match(await get('/v1/users'), { body: { meta: { total: 1 } } })
  t.equal((await app.users.list()).meta.total, 2)
  await acme.update(ann.id, { name: 'Anna' })
  t.strictSame((await events()).map(({ type }) => type),
    ['user.created', 'user.created', 'api_key.created', 'user.updated'])
  t.strictSame((await app.users.tenants.list()).data, [{ id: 'acme', users: 1 }, { id: 'beta', users: 1 }])

  await acme.import(Array.from({ length: 800 }, (_, n) => ({ name: `User ${n}`, email: `${n}@example.org` })))
  const boundary = async () =>
    (await host('fastify_users_counting_state').where({ scope: '' }).first('boundary')).boundary
  await until('users are in blocks', async () => {
    await app.users.list({ page: 20 })
    return await boundary() !== ''
  })
  t.equal((await app.users.list({ page: 20 })).meta.total, 802)
  await inTenant(host, 'beta', async (trx) => {
    t.equal((await beta.using(trx).list()).meta.total, 1)
    const { data, meta: { total } } = await app.users.using(trx).list()
    t.equal(data.length, 1)
    t.ok(total > 1, 'blocks count the users of every tenant')
  })
  await app.users.tenants.remove('acme')
  t.strictSame((await app.users.tenants.list()).data, [{ id: 'beta', users: 1 }])
})

test('a transaction that names a tenant has its rows alone, whatever the statement', async (t) => {
  const { app, host, acme, beta, ann, bob } = await mount(t)
  await inTenant(host, 'acme', async (trx) => {
    t.strictSame(await namesIn(trx), ['Ann'])
    t.equal(await trx('fastify_users_users').where({ id: bob.id }).update({ name: 'X' }), 0)
    t.equal((await acme.using(trx).get(ann.id)).name, 'Ann')
    // As if the plugin forgot the tenant.
    await t.rejects(app.users.using(trx).get(bob.id), { code: 'user_not_found' })
    await t.rejects(app.users.using(trx).delete(bob.id), { code: 'user_not_found' })
    t.equal((await app.users.using(trx).list()).data.length, 1)
    await acme.using(trx).create({ name: 'Cora', email: 'cora@example.org' }, { idempotencyKey: 'one' })
  })
  await t.rejects(inTenant(host, 'acme', (trx) => beta.using(trx).create({ name: 'X', email: 'x@example.org' })),
    { code: 'internal' })
  t.strictSame(await namesIn(host), ['Ann', 'Bob', 'Cora'], 'after the transaction the connection names none')
})

test('a role of its own sees nothing until its transaction names a tenant', async (t) => {
  const { app, host, events, tenantHost, acme, beta, ann, bob } = await mount(t)
  await acme.create({ name: 'Dora', email: 'dora@example.org' })
  // From before the service had tenants.
  await host.raw(`INSERT INTO fastify_users_users ${USER_COLUMN_LIST}
    VALUES ('${plainId(1)}', 'Of none', 'of none', 'none@example.org', 'none@example.org', 1, now(), now())`)
  t.strictSame(await namesIn(tenantHost), [])
  await inTenant(tenantHost, 'acme', async (trx) => {
    const own = acme.using(trx)
    t.strictSame(await namesIn(trx), ['Ann', 'Dora'])
    t.equal((await own.list()).meta.total, 2)
    const group = await own.groups.create({ name: 'Team' })
    t.equal((await own.groups.changeMembers(group.id, { add: [ann.id] })).members, 1)
    t.equal((await own.groups.members(group.id)).meta.total, 1)
    t.equal((await own.update(ann.id, { name: 'Anna' })).version, 2)
    const { id } = await own.create({ name: 'Emma', email: 'emma@example.org' })
    await own.delete(id)
    t.equal((await own.listDeleted()).meta.total, 1)
    t.equal((await own.restore(id)).version, 2)
    await own.delete(id, { purge: true })
    const gone = await own.create({ name: 'Gus', email: 'gus@example.org' })
    await own.delete(gone.id)
    await t.rejects(beta.using(trx).get(bob.id), { code: 'user_not_found' })
  })
  const deletedIn = async (on: Knex | Knex.Transaction) => (await on('fastify_users_deleted_users').select('id')).length
  t.equal(await deletedIn(tenantHost), 0)
  t.equal(await deletedIn(host), 1)
  t.equal(await inTenant(tenantHost, 'beta', deletedIn), 0)
  t.equal(await inTenant(tenantHost, 'acme', deletedIn), 1)
  t.strictSame(await namesIn(tenantHost), [], 'the setting is empty now, and matches no user of none')
  await t.rejects(tenantHost('fastify_users_api_keys').select(), /permission denied/)
  const seen = await inTenant(tenantHost, 'acme', (trx) => app.users.using(trx).list())
  t.strictSame([seen.data.map(({ name }) => name), seen.meta.total], [['Anna', 'Dora'], 2], 'numbers are fenced too')
  await t.rejects(inTenant(tenantHost, 'acme', (trx) =>
    acme.using(trx).create({ name: 'Fay', email: 'fay@example.org' }, { idempotencyKey: 'one' })), { code: 'internal' })
  const last = (await events()).slice(-8).map(({ type, tenant }) => [type, tenant])
  t.strictSame(last, [
    'user.updated', 'user.created', 'user.deleted', 'user.restored', 'user.deleted', 'user.purged', 'user.created',
    'user.deleted'
  ].map((type) => [type, 'acme']))
})

test('a service that does not own the tables needs the same policy, and the owner its own', async (t) => {
  const { host, events, tenantHost, ann } = await mount(t)
  const { user: other } = tenantHost.client.connectionSettings
  await host.raw(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${other};
    GRANT EXECUTE ON FUNCTION fastify_users_number_events(integer) TO ${other}`)
  const storage = knexStorage(tenantHost)
  const read = async () => ({
    user: await storage.users.find(ann.id),
    events: (await storage.log.read({ after: null, limit: 9, types: null }))?.events.length
  })
  t.strictSame(await read(), { user: null, events: 0 })
  for (const table of ['users', 'api_keys', 'events', 'webhooks', 'deleted_users']) {
    await host.raw(`ALTER POLICY no_tenant_named ON fastify_users_${table} TO CURRENT_USER, ${other}`)
  }
  t.match(await read(), { user: { id: ann.id, tenant: 'acme' }, events: 2 })

  // The owner needs its own. As pg_dump sets it:
  await t.rejects(host.raw('SET row_security = off; SELECT * FROM fastify_users_users'), /row-level security policy/)
  await host.raw('DROP POLICY no_tenant_named ON fastify_users_events')
  t.strictSame(await events(), [])
})

test('the duties of the kit about tenants and events hold behind the fence', { skip: from('ci') }, async (t) => {
  const { serviceUrl, setup } = await database(t)
  const client = new pg.Client({ connectionString: serviceUrl })
  await client.connect()
  t.teardown(() => client.end())
  const [role = '', ...fence] = setup.split(/\n(?=\nDO )/)
  await client.query(role)
  let count = 0
  testStorage({
    test: (name, run) => { if (/\btenants\b|^eventLog/.test(name)) t.test(name, run) },
    create: async () => {
      const schema = `kit_${++count}`
      const storage = postgres({ connection: serviceUrl, schema })
      await storage.open({ migrate: true })
      await client.query(`SET search_path = ${schema}; ${fence.join('\n')}`)
      return storage
    },
    seed: 1,
    quick: true,
    progress: () => {},
    report: () => {}
  })
})
