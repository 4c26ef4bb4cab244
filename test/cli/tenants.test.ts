// The commands of tenants, --tenant of the others, and an assignment that is killed.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { UserRecord } from '../../lib/storage/storage.ts'
import { databases, start } from '../helpers/cli.ts'
import { keysOf, userOf } from '../helpers/records.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const USERS = 10_000
const TOGETHER = 1000

for (const { name, skip, create } of databases) {
  async function commands (t: Test) {
    const database = await create(t)
    await database.cli('migrate')
    const storage = database.open()
    t.teardown(() => storage.close())
    return {
      ...database,
      storage,
      async add (users: readonly UserRecord[]): Promise<void> {
        const writes = users.map((user) => ({ type: 'create', user, keys: keysOf(user), event: null }) as const)
        await repositoryOf(storage).users.write(writes, { atomic: true, idempotency: null })
      },
      async file (text: string, ending = 'csv'): Promise<string> {
        const path = join(await temporaryDirectory(t), `users.${ending}`)
        await writeFile(path, text)
        return path
      }
    }
  }

  test(`${name}: users move into a tenant and out of it`, { skip }, async (t) => {
    const { cli, file } = await commands(t)
    const plain = await file('name,email\nAnn,ann@example.org\nBob,bob@example.org\n')
    const named = await file('name,email,tenant\nAnn,ann@example.org,beta\nBob,bob@example.org,acme\n')
    t.match(await cli('import', plain, '--tenant', 'acme'), { code: 0, out: /created 2,/ })
    t.match(await cli('import', plain, '--tenant', 'A B'), {
      code: 2, err: /--tenant must be 1 to 64 characters of a-z/
    })
    t.match(await cli('import', plain),
      { code: 1, err: /2 × tenant is required: each user belongs to a tenant: line 2, line 3/ })
    t.match(await cli('import', named, '--tenant', 'acme', '--on-conflict', 'skip'),
      { code: 1, out: /skipped 1, refused 1/, err: /1 × The row and the import name different tenants.*: line 2/ })
    t.match(await cli('import', named, '--on-conflict', 'update', '--dry-run'),
      { code: 0, out: /created 1, updated 0, skipped 1/ })
    t.match(await cli('import', named, '--on-conflict', 'skip'), { code: 0, out: /created 1, updated 0, skipped 1/ })
    t.equal((await cli('tenants')).out, 'TENANT  USERS\nacme    2\nbeta    1\n')
    t.strictSame(JSON.parse((await cli('tenants', '--json')).out),
      [{ id: 'acme', users: 2 }, { id: 'beta', users: 1 }])

    const all = await cli('export')
    t.equal(all.out.match(/"tenant":"(?:acme|beta)"/g)?.length, 3)
    t.match(await cli('export', '--format', 'csv', '--columns', 'email,tenant', '--tenant', 'beta'),
      { code: 0, out: /"ann@example\.org","beta"/ })
    t.equal((await cli('export', '--tenant', 'nobody')).out, '')
    t.match(await cli('tenants', 'delete', 'acme'), { code: 1, err: /its 2 users would be lost[^]*--yes/ })
    t.match(await cli('tenants', 'delete', 'acme', '--yes'), { code: 0, out: /^acme is deleted/ })
    t.match(await cli('tenants', 'delete', 'acme', '--yes'), { code: 1, err: /there is no tenant with this name/ })
    t.match(await cli('tenants', 'delete', 'No'), { code: 2, err: /the name of a tenant must be/ })
    t.equal((await cli('tenants')).out, 'TENANT  USERS\nbeta    1\n')
    t.match(await cli('import', await file(all.out, 'ndjson'), '--on-conflict', 'skip'),
      { code: 0, out: /created 2, updated 0, skipped 1/ })
    t.equal((await cli('tenants')).out, 'TENANT  USERS\nacme    2\nbeta    1\n')
  })

  test(`${name}: keys and webhooks are those of the tenant`, { skip }, async (t) => {
    const { cli } = await commands(t)
    const json = async (...words: string[]) => JSON.parse((await cli(...words, '--json')).out)
    const target = ['--url', 'http://127.0.0.1:1/', '--allow-http', '--allow-networks', '127.0.0.0/8']
    t.match(await cli('keys', 'create', '-n', 'platform', '-s', 'tenants:read'), { code: 0 })
    t.match(await cli('webhooks', 'create', ...target), { code: 0 })
    const made = {
      keys: await json('keys', 'create', '-n', 'own', '--tenant', 'acme'),
      webhooks: await json('webhooks', 'create', ...target, '--tenant', 'acme')
    }
    for (const [what, { id, tenant }] of Object.entries(made)) {
      t.equal(tenant, 'acme')
      const listed = async (...words: string[]) =>
        (await json(what, 'list', ...words)).map((each: { id: string }) => each.id)
      t.equal((await listed()).length, 2, what)
      t.strictSame(await listed('--tenant', 'acme'), [id])
      t.strictSame(await listed('--tenant', 'beta'), [])
    }
    const { keys, webhooks } = made
    t.match(await cli('keys', 'revoke', keys.id, '--tenant', 'beta'), { code: 1, err: /There is no API key/ })
    t.match(await cli('keys', 'revoke', keys.id, '--tenant', 'acme'), { code: 0 })
    t.match(await cli('webhooks', 'replay', webhooks.id, '--since', '2026-01-01T00:00:00Z', '--tenant', 'beta'),
      { code: 1, err: /no webhook/ })
  })

  test(`${name}: users without a tenant are given to one, and who is refused is named`, { skip }, async (t) => {
    const { cli, add } = await commands(t)
    await cli('migrate', '--unique', 'legacyId')
    await add([
      userOf(1), userOf(2, { fields: { legacyId: 7 } }), userOf(3),
      userOf(11, { email: userOf(1).email, tenant: 'acme' }), userOf(12, { fields: { legacyId: 7 }, tenant: 'acme' })
    ])
    t.strictSame(await cli('tenants', 'assign', 'acme'), {
      code: 1,
      out: '',
      err: '3 users of no tenant would belong to this one for good, with their events: take a backup, then confirm ' +
        'with --yes.\n'
    })
    t.match(await cli('tenants', 'assign', 'No', '--yes'), { code: 2, err: /the name of a tenant must be 1 to 64/ })
    t.strictSame(await cli('tenants', 'assign', 'acme', '--yes'), {
      code: 1,
      out: `${userOf(1).id}: the tenant has a user with the same address\n` +
        `${userOf(2).id}: the tenant has a user with the same legacyId\n1 user belongs to acme now.\n`,
      err: '2 users could not be assigned\n'
    })
    const again = await cli('tenants', 'assign', 'acme', '--yes', '--json')
    const refused = [
      { id: userOf(1).id, code: 'email_taken' }, { id: userOf(2).id, code: 'field_taken', field: 'legacyId' }
    ]
    t.strictSame([again.code, JSON.parse(again.out)], [1, { id: 'acme', assigned: 0, refused }])
  })

  test(`${name}: an assignment that was killed goes on`, { skip }, async (t) => {
    const { url, args, cli, storage, add } = await commands(t)
    for (let n = 0; n < USERS; n += TOGETHER) await add(Array.from({ length: TOGETHER }, (_, i) => userOf(n + i)))
    await storage.rebuildCounts()
    const countOf = async (tenant?: string): Promise<number> => {
      const filter = { emailKey: null, words: null, fields: {}, ...(tenant !== undefined && { tenant }) }
      return (await storage.users.list(filter, { order: 'asc', limit: 1, from: { offset: 0 } })).total
    }
    const child = start(['tenants', 'assign', 'acme', '--yes', ...args], { DATABASE_URL: url })
    const ended = once(child, 'exit')
    await until('some are given', async () => await countOf('acme') > 0)
    child.kill('SIGKILL')
    t.strictSame(await ended, [null, 'SIGKILL'])
    const given = await countOf('acme')
    t.ok(given < USERS, `${given} were given`)
    t.equal(await countOf(), USERS)
    const left = new RegExp(`^${USERS - given} users of no tenant`)
    t.match(await cli('tenants', 'assign', 'acme'), { code: 1, err: left })
    t.strictSame(await cli('tenants', 'assign', 'acme', '--yes'),
      { code: 0, out: `${USERS - given} users belong to acme now.\n`, err: '' })
    t.equal(await countOf('acme'), USERS)
    const { users, counted, wrong } = await storage.verifyCounts()
    t.strictSame({ users, counted, wrong }, { users: USERS, counted: USERS, wrong: 0 })
  })

  test(`${name}: rows of a table move into the tenant of a column`, { skip }, async (t) => {
    const { cli, execute, tableOf } = await commands(t)
    await execute('CREATE TABLE @accounts (id INTEGER PRIMARY KEY, name TEXT, email TEXT, company TEXT)')
    await execute(`INSERT INTO @accounts VALUES (1, 'Ann', 'ann@example.org', 'acme'),
      (2, 'Ann', 'ann@example.org', 'beta'), (3, 'Bob', 'bob@example.org', 'No Name'),
      (4, 'Cid', 'cid@example.org', NULL), (5, 'Dan', 'ANN@example.org', 'acme')`)
    const adopt = (map: string, ...given: string[]) =>
      cli('adopt', '--table', tableOf('accounts'), '--map', map, ...given)
    const map = 'name=name,email=email,tenant=company'
    const reasons = [
      '1 × tenant must be 1 to 64 characters of a-z, 0-9, _ and -, beginning with a letter or digit: 3',
      '1 × tenant is required: each user belongs to a tenant: 4',
      '1 × email must be unique: 5'
    ]
    t.strictSame(await adopt(map), {
      code: 1,
      out: 'created 2, updated 0, skipped 0, refused 3\n',
      err: [...reasons, 'the last id: 5', '3 users were refused', ''].join('\n')
    }, 'the first rows of a database without tenants need one too')
    t.equal((await cli('tenants')).out, 'TENANT  USERS\nacme    1\nbeta    1\n')
    t.match(await adopt(map, '--on-conflict', 'skip', '--where', 'id < 3'), { code: 0, out: /skipped 2, refused 0/ })
    t.match(await adopt(map, '--tenant', 'acme', '--on-conflict', 'skip', '--where', 'id < 3', '--report', 'faults'), {
      code: 1, out: /^id 2: refused: The row and the import name different tenants[^]*skipped 1, refused 1\n$/
    })
    t.match(await adopt('name=name,email=email', '--tenant', 'gamma', '--where', 'id <> 5'),
      { code: 1, out: 'created 3, updated 0, skipped 0, refused 1\n' })
    const without = await adopt('name=name,email=email', '--where', 'id = 3')
    t.match(without, { code: 1, err: /tenant is required: each user belongs to a tenant: 3/ })
  })
}
