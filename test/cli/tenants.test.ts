// The commands of tenants, and --tenant of the others.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { databases, run } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

for (const { name, skip, create } of databases) {
  async function commands (t: Test) {
    const { url, args } = await create(t)
    const env = { DATABASE_URL: url }
    const call = (...words: string[]) => run([...words, ...args], env)
    await call('migrate')
    const file = async (text: string, ending = 'csv') => {
      const path = join(await temporaryDirectory(t), `users.${ending}`)
      await writeFile(path, text)
      return path
    }
    return { call, file }
  }

  test(`${name}: users move into a tenant and out of it`, { skip }, async (t) => {
    const { call, file } = await commands(t)
    const plain = await file('name,email\nAnn,ann@example.org\nBob,bob@example.org\n')
    const named = await file('name,email,tenant\nAnn,ann@example.org,beta\nBob,bob@example.org,acme\n')
    t.match(await call('import', plain, '--tenant', 'acme'), { code: 0, out: /created 2,/ })
    t.match(await call('import', plain, '--tenant', 'A B'), { code: 2, err: /--tenant must be 1 to 64 of a-z/ })
    t.match(await call('import', plain),
      { code: 1, err: /2 × tenant is required: each user belongs to a tenant: line 2, line 3/ })
    t.match(await call('import', named, '--tenant', 'acme', '--on-conflict', 'skip'),
      { code: 1, out: /skipped 1, refused 1/, err: /1 × The row names another tenant than the whole import.*: line 2/ })
    t.match(await call('import', named, '--on-conflict', 'update', '--dry-run'),
      { code: 0, out: /created 1, updated 0, skipped 1/ })
    t.match(await call('import', named, '--on-conflict', 'skip'), { code: 0, out: /created 1, updated 0, skipped 1/ })
    t.equal((await call('tenants')).out, 'TENANT  USERS\nacme    2\nbeta    1\n')
    const counts = [{ id: 'acme', users: 2 }, { id: 'beta', users: 1 }]
    t.strictSame(JSON.parse((await call('tenants', '--json')).out), counts)

    const all = await call('export')
    t.equal(all.out.match(/"tenant":"(?:acme|beta)"/g)?.length, 3)
    t.match(await call('export', '--format', 'csv', '--columns', 'email,tenant', '--tenant', 'beta'),
      { code: 0, out: /"ann@example\.org","beta"/ })
    t.equal((await call('export', '--tenant', 'nobody')).out, '')
    t.match(await call('tenants', 'delete', 'acme'), { code: 1, err: /its 2 users would be lost[^]*--yes/ })
    t.match(await call('tenants', 'delete', 'acme', '--yes'), { code: 0, out: /^acme is deleted/ })
    t.match(await call('tenants', 'delete', 'acme', '--yes'), { code: 1, err: /there is no tenant with this name/ })
    t.match(await call('tenants', 'delete', 'No'), { code: 2, err: /the name of a tenant must be/ })
    t.equal((await call('tenants')).out, 'TENANT  USERS\nbeta    1\n')
    t.match(await call('import', await file(all.out, 'ndjson'), '--on-conflict', 'skip'),
      { code: 0, out: /created 2, updated 0, skipped 1/ })
    t.equal((await call('tenants')).out, 'TENANT  USERS\nacme    2\nbeta    1\n')
  })

  test(`${name}: keys are those of the tenant`, { skip }, async (t) => {
    const { call } = await commands(t)
    const made = JSON.parse((await call('keys', 'create', '-n', 'own', '--tenant', 'acme', '--json')).out)
    t.equal(made.tenant, 'acme')
    t.match(await call('keys', 'create', '-n', 'platform', '-s', 'tenants:read'), { code: 0 })
    t.equal(JSON.parse((await call('keys', 'list', '--json')).out).length, 2)
    t.strictSame(JSON.parse((await call('keys', 'list', '--tenant', 'acme', '--json')).out).map(
      ({ id }: { id: string }) => id), [made.id])
    t.match(await call('keys', 'revoke', made.id, '--tenant', 'beta'), { code: 1, err: /There is no API key/ })
    t.match(await call('keys', 'revoke', made.id, '--tenant', 'acme'), { code: 0 })
  })
}
