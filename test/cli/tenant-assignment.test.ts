// fastify-users tenants assign: the built program, which may be killed; and --tenant of what else moves in.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { test, type Test } from 'tap'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { databases, PROGRAM, run } from '../helpers/cli.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { keysOf, userOf } from '../helpers/records.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { until } from '../helpers/until.ts'
import '../helpers/watch-all.ts'

const LOOPBACK = ['--allow-http', '--allow-networks', '127.0.0.0/8']
const USERS = 10_000
const TOGETHER = 1000

for (const { name, skip, create } of databases) {
  async function commands (t: Test) {
    const database = await create(t)
    const env = { DATABASE_URL: database.url }
    const call = (...words: string[]) => run([...words, ...database.args], env)
    await call('migrate')
    const storage = database.open()
    t.teardown(() => storage.close())
    async function fill (count: number): Promise<void> {
      for (let n = 1; n <= count;) {
        const writes = []
        for (; writes.length < TOGETHER && n <= count; n++) {
          writes.push({ type: 'create', user: userOf(n), keys: keysOf(userOf(n)), event: null } as const)
        }
        await repositoryOf(storage).users.write(writes, { atomic: true, idempotency: null })
      }
    }
    return { ...database, env, call, storage, fill }
  }

  test(`${name}: users without a tenant are given to one`, { skip }, async (t) => {
    const { call, fill } = await commands(t)
    await fill(3)
    t.strictSame(await call('tenants', 'assign', 'acme'), {
      code: 1,
      out: '',
      err: '3 users of no tenant would belong to this one for good, with their events: take a backup, then confirm ' +
        'with --yes.\n'
    })
    t.match(await call('tenants', 'assign', 'No', '--yes'), { code: 2, err: /the name of a tenant must be 1 to 64/ })
    t.strictSame(await call('tenants', 'assign', 'acme', '--yes'),
      { code: 0, out: '3 users belong to acme now.\n', err: '' })
    t.equal((await call('tenants')).out, 'TENANT  USERS\nacme    3\n')
    t.strictSame(JSON.parse((await call('tenants', 'assign', 'acme', '--yes', '--json')).out),
      { id: 'acme', assigned: 0, refused: [] })
  })

  test(`${name}: who is refused is named, with the reason`, { skip }, async (t) => {
    const { call, storage } = await commands(t)
    await call('migrate', '--unique', 'legacyId')
    const users = [
      userOf(1), userOf(2, { fields: { legacyId: 7 } }), userOf(3),
      userOf(11, { email: userOf(1).email, tenant: 'acme' }), userOf(12, { fields: { legacyId: 7 }, tenant: 'acme' })
    ]
    const writes = users.map((user) => ({ type: 'create', user, keys: keysOf(user), event: null }) as const)
    await repositoryOf(storage).users.write(writes, { atomic: true, idempotency: null })
    t.strictSame(await call('tenants', 'assign', 'acme', '--yes'), {
      code: 1,
      out: `${userOf(1).id}: the tenant has a user with the same address\n` +
        `${userOf(2).id}: the tenant has a user with the same legacyId\n1 user belongs to acme now.\n`,
      err: '2 users stayed without a tenant\n'
    })
    const again = await call('tenants', 'assign', 'acme', '--yes', '--json')
    t.strictSame({ code: again.code, ...JSON.parse(again.out) }, {
      code: 1,
      id: 'acme',
      assigned: 0,
      refused: [
        { id: userOf(1).id, code: 'email_taken' }, { id: userOf(2).id, code: 'field_taken', field: 'legacyId' }
      ]
    })
  })

  test(`${name}: an assignment that was killed goes on`, { skip }, async (t) => {
    const { args, env, call, storage, fill } = await commands(t)
    await fill(USERS)
    await storage.rebuildCounts()
    const countOf = async (tenant?: string): Promise<number> => {
      const filter = { emailKey: null, words: null, fields: {}, ...(tenant !== undefined && { tenant }) }
      return (await storage.users.list(filter, { order: 'asc', limit: 1, from: { offset: 0 } })).total
    }
    const child = execFile(...plainNode(PROGRAM, 'tenants', 'assign', 'acme', '--yes', ...args),
      { env: { PATH: String(process.env['PATH']), ...env } })
    const ended = once(child, 'exit')
    await until('some are given', async () => await countOf('acme') > 0)
    child.kill('SIGKILL')
    t.strictSame(await ended, [null, 'SIGKILL'])
    const given = await countOf('acme')
    t.ok(given < USERS, `${given} were given`)
    t.equal(await countOf(), USERS)
    const left = new RegExp(`^${USERS - given} users of no tenant`)
    t.match(await call('tenants', 'assign', 'acme'), { code: 1, err: left })
    t.strictSame(await call('tenants', 'assign', 'acme', '--yes'),
      { code: 0, out: `${USERS - given} users belong to acme now.\n`, err: '' })
    t.equal(await countOf('acme'), USERS)
    const { users, counted, wrong } = await storage.verifyCounts()
    t.strictSame({ users, counted, wrong }, { users: USERS, counted: USERS, wrong: 0 })
  })

  test(`${name}: rows of a table move into the tenant of a column`, { skip }, async (t) => {
    const { args, call, execute } = await commands(t)
    await execute('CREATE TABLE @accounts (id INTEGER PRIMARY KEY, name TEXT, email TEXT, company TEXT)')
    await execute(`INSERT INTO @accounts VALUES (1, 'Ann', 'ann@example.org', 'acme'),
      (2, 'Ann', 'ann@example.org', 'beta'), (3, 'Bob', 'bob@example.org', 'No Name'),
      (4, 'Cid', 'cid@example.org', NULL), (5, 'Dan', 'ANN@example.org', 'acme')`)
    const table = `${args[1] === undefined ? '' : `${args[1]}.`}accounts`
    const adopt = (map: string, ...given: string[]) => call('adopt', '--table', table, '--map', map, ...given)
    const map = 'name=name,email=email,tenant=company'
    const reasons = [
      '1 × tenant must be 1 to 64 of a-z, 0-9, _ and -, a letter or digit first: 3',
      '1 × tenant is required: each user belongs to a tenant: 4',
      '1 × email must be unique: 5'
    ]
    t.strictSame(await adopt(map), {
      code: 1,
      out: 'created 2, updated 0, skipped 0, refused 3\n',
      err: [...reasons, 'the last id: 5', '3 users were refused', ''].join('\n')
    }, 'the first rows of a database without tenants need one too')
    t.equal((await call('tenants')).out, 'TENANT  USERS\nacme    1\nbeta    1\n')
    t.match(await adopt(map, '--on-conflict', 'skip', '--where', 'id < 3'), { code: 0, out: /skipped 2, refused 0/ })
    t.match(await adopt(map, '--tenant', 'acme', '--on-conflict', 'skip', '--where', 'id < 3', '--report', 'faults'), {
      code: 1, out: /^id 2: refused: The row names another tenant than the whole import[^]*skipped 1, refused 1\n$/
    })
    t.match(await adopt('name=name,email=email', '--tenant', 'gamma', '--where', 'id <> 5'),
      { code: 1, out: 'created 3, updated 0, skipped 0, refused 1\n' })
    const without = await adopt('name=name,email=email', '--where', 'id = 3')
    t.match(without, { code: 1, err: /tenant is required: each user belongs to a tenant: 3/ })
  })

  test(`${name}: a webhook is made for a tenant`, { skip }, async (t) => {
    const { call } = await commands(t)
    const { url } = await startReceiver(t)
    const made = await call('webhooks', 'create', '--url', url, '--tenant', 'acme', '--json', ...LOOPBACK)
    t.match(JSON.parse(made.out), { tenant: 'acme', secret: /^whsec_/ })
    const { id } = JSON.parse(made.out)
    const listed = async (...words: string[]) =>
      JSON.parse((await call('webhooks', 'list', '--json', ...words)).out).map((each: { id: string }) => each.id)
    t.strictSame(await listed('--tenant', 'acme'), [id])
    t.strictSame(await listed('--tenant', 'beta'), [])
    t.strictSame(await listed(), [id])
    t.match(await call('webhooks', 'replay', id, '--since', '2026-01-01T00:00:00Z', '--tenant', 'beta'),
      { code: 1, err: /no webhook/ })
  })
}
