// The operator's pages, word by word: every block of `sh operator`, on a machine with a running service.
import { spawnSync } from 'node:child_process'
import { test, type Test } from 'tap'
import { scopesOf } from '../lib/api-keys/scopes.ts'
import { createMachine, type Machine } from './helpers/docs/operator.ts'
import { readPage } from './helpers/docs/pages.ts'
import { from } from './helpers/level.ts'
import { get, KEY } from './helpers/service.ts'
import { temporaryDirectory } from './helpers/stores.ts'
import { dumpableDatabase, dumpableServer } from './helpers/dumpable.ts'

const SQLITE = { DATABASE_URL: 'sqlite:/var/lib/fastify-users/data/users.db' }
const missing = ['sqlite3', 'openssl', 'curl'].filter((name) => spawnSync(name, ['--version']).error !== undefined)
const skip = missing.length > 0 && `${missing.join(', ')} not installed`
if (skip !== false && process.env['REQUIRE_SQLITE3'] === '1') throw new Error(skip)

// Another database, an installation from the registry, and more restarts: minutes, in which the commands alone differ.
const rare = from('nightly')
const server = rare === false ? await dumpableServer() : null
const noDump = rare !== false ? rare : server === null && 'no pg_dump here is as new as a server'

async function blocksOf (page: string, kind = 'operator'): Promise<string[]> {
  const { blocks } = await readPage(`docs/${page}.md`)
  return blocks.filter((block) => block.language === 'sh' && block.kind === kind).map(({ text }) => text)
}

/** A machine with one user, and a key from the time before the page's commands. */
async function machineWith (t: Test, settings: Record<string, string>) {
  const machine = await createMachine(t, await temporaryDirectory(t), settings)
  const made = JSON.parse(await cli(machine, 'keys create --name before --scopes users:read,users:write --json'))
  await create(machine, made.key, 'ann@example.org')
  return { machine, key: String(made.key), id: String(made.id) }
}

const cli = (machine: Machine, command: string): Promise<string> => machine.run(
  `set -a; . /etc/fastify-users.env; set +a\ncd /srv/fastify-users\nnode dist/cli/main.js ${command}`
)

async function create ({ origin }: Machine, key: string, email: string): Promise<void> {
  const { status } = await fetch(`${origin}/v1/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ann', email })
  })
  if (status !== 201) throw new Error(`a creation was answered ${status}`)
}

async function emails ({ origin }: Machine, key: string): Promise<string[]> {
  const { body } = await get(`${origin}/v1/users`, key)
  return Object(body).data.map(({ email }: { email: string }) => email)
}

test('on one machine with SQLite, page after page', { skip }, async (t) => {
  // With no cache a key that is revoked is refused immediately.
  const settings = { ...SQLITE, API_KEY_ROUTES: 'true', KEY_CACHE: '0', FASTIFY_USERS_PEPPER: 'p'.repeat(32) }
  const { machine, key, id } = await machineWith(t, settings)
  const rescueKey = () => machine.variable('KEY')
  async function rescue (): Promise<{ id: string, scopes: string[] }> {
    const { body } = await get(`${machine.origin}/v1/api-keys`, await rescueKey())
    return Object(body).data.find(({ name }: { name: string }) => name === 'rescue')
  }

  await t.test('backup and restore: what came after the copy is gone, the rest is there', async (t) => {
    const [copy = '', idle = '', restore = '', check = '', ...more] = await blocksOf('backup')
    t.strictSame(more, [])
    await machine.run(copy)
    await machine.run(idle)
    await create(machine, key, 'bob@example.org')
    await machine.run(restore)
    t.match(await machine.run(check), /No problems: schema version 1, 1 users, all counts correct/)
    t.strictSame(await emails(machine, key), ['ann@example.org'])
    await create(machine, key, 'bob@example.org')
    t.equal((await machine.run(
      'sqlite3 /var/backups/idle.db "SELECT count(*) FROM fastify_users_users"')).trim(), '1')
  })

  await t.test('lost keys: another one is made, and the lost one is refused', async (t) => {
    const [make = '', use = '', revoke = '', ...more] = await blocksOf('lost-keys')
    t.strictSame(more, [])
    await machine.run(make)
    t.match(await rescueKey(), KEY)
    t.strictSame((await rescue()).scopes, scopesOf(false), 'all of the first key')
    t.match(JSON.parse((await machine.run(use)).replace(/^[^{]*/, '')).data[0], { email: 'ann@example.org' })
    t.match(await machine.run(revoke, id), id)
    t.equal((await get(`${machine.origin}/v1/users`, key)).status, 401)
  })

  await t.test('rotating the pepper: keys of the old one are good until it is removed', { skip: rare }, async (t) => {
    const old = await rescueKey()
    const users = ['ann@example.org', 'bob@example.org']
    const [add = '', rotate = '', remove = '', ...more] = await blocksOf('pepper')
    t.strictSame(more, [])
    await machine.run(add)
    t.match(await machine.settings(), /^FASTIFY_USERS_PEPPER=[0-9a-f]{64},p{32}$/m)
    t.strictSame(await emails(machine, old), users)
    await machine.run(rotate, (await rescue()).id)
    t.strictSame(await emails(machine, old), users)
    await machine.run(remove)
    t.match(await machine.settings(), /^FASTIFY_USERS_PEPPER=[0-9a-f]{64}$/m)
    t.equal((await get(`${machine.origin}/v1/users`, old)).status, 401)
    t.strictSame(await emails(machine, await rescueKey()), users)
  })
})

test('backup and restore on PostgreSQL: the same', { skip: noDump }, async (t) => {
  if (server === null) return
  const database = await dumpableDatabase(t, server)
  // A shell would end at an & outside of quotes, and a path among the parameters has slashes of its own.
  const inQuotes = (url: string): string => `'${url}?application_name=a/b&connect_timeout=9'`
  const replicas = (url: string): string => `"${url}?application_name=a/b ${url}"`
  const settings = { DATABASE_URL: inQuotes(database), DATABASE_REPLICAS: replicas(database) }
  const { machine, key } = await machineWith(t, settings)
  const [dump = '', ...restore] = await blocksOf('backup', 'operator pg')
  t.equal(restore.length, 3)
  await machine.run(dump)
  await create(machine, key, 'bob@example.org')
  const printed: string[] = []
  for (const block of restore) printed.push(await machine.run(block))
  t.match(printed.at(-1), /No problems: schema version 1, 1 users, all counts correct/)
  t.strictSame(await emails(machine, key), ['ann@example.org'])
  const restored = database.replace(/[^/]*$/, 'users_restored')
  t.match(await machine.settings(), `DATABASE_URL=${inQuotes(restored)}\nDATABASE_REPLICAS=${replicas(restored)}\n`)
  await create(machine, key, 'bob@example.org')
})

test('upgrading and going back: the service runs, with its users', { skip: skip || rare }, async (t) => {
  const { machine, key } = await machineWith(t, SQLITE)
  const [install = '', change = '', ...back] = await blocksOf('upgrading')
  t.equal(back.length, 2)
  t.match(await machine.run(install), /version 1 of 1/)
  await machine.run(change)
  t.strictSame(await emails(machine, key), ['ann@example.org'])
  await create(machine, key, 'bob@example.org')
  for (const block of back) await machine.run(block)
  t.strictSame(await emails(machine, key), ['ann@example.org', 'bob@example.org'])
})
