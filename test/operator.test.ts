// The operator's pages, word by word: every block of `sh operator`, on a machine with a running service.
import { spawnSync } from 'node:child_process'
import { test, type Test } from 'tap'
import { scopesOf } from '../lib/api-keys/scopes.ts'
import { createMachine, type Machine } from './helpers/docs/operator.ts'
import { readPage } from './helpers/docs/pages.ts'
import { get, KEY } from './helpers/service.ts'
import { temporaryDirectory } from './helpers/stores.ts'
import { dumpableDatabase, dumpableServer } from './helpers/dumpable.ts'

const SQLITE = { DATABASE_URL: 'sqlite:/var/lib/fastify-users/data/users.db' }
const missing = ['sqlite3', 'openssl', 'curl'].filter((name) => spawnSync(name, ['--version']).error !== undefined)
const skip = missing.length > 0 && `${missing.join(', ')} not installed`
if (skip !== false && process.env['REQUIRE_SQLITE3'] === '1') throw new Error(skip)

const server = await dumpableServer()
const noDump = server === null && 'no pg_dump here is as new as a server'

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

test('backup and restore on SQLite: what came after the copy is gone, the rest is there', { skip }, async (t) => {
  const { machine, key } = await machineWith(t, SQLITE)
  const [copy = '', compact = '', restore = '', check = '', ...more] = await blocksOf('backup')
  t.strictSame(more, [])
  await machine.run(copy)
  await machine.run(compact)
  await create(machine, key, 'bob@example.org')
  await machine.run(restore)
  t.match(await machine.run(check), /No problems: schema version 1, 1 users, every number right/)
  t.strictSame(await emails(machine, key), ['ann@example.org'])
  await create(machine, key, 'bob@example.org')
  t.equal((await machine.run(
    'sqlite3 /var/backups/compact.db "SELECT count(*) FROM fastify_users_users"')).trim(), '1')
})

test('backup and restore on PostgreSQL: the same', { skip: noDump }, async (t) => {
  if (server === null) return
  const database = await dumpableDatabase(t, server)
  const replicas = `"${database} ${database}"`
  const { machine, key } = await machineWith(t, { DATABASE_URL: database, DATABASE_REPLICAS: replicas })
  const [dump = '', ...restore] = await blocksOf('backup', 'operator pg')
  t.equal(restore.length, 3)
  await machine.run(dump)
  await create(machine, key, 'bob@example.org')
  const printed: string[] = []
  for (const block of restore) printed.push(await machine.run(block))
  t.match(printed.at(-1), /No problems: schema version 1, 1 users, every number right/)
  t.strictSame(await emails(machine, key), ['ann@example.org'])
  const restored = database.replace(/[^/]*$/, 'users_restored')
  t.match(await machine.settings(), `DATABASE_URL=${restored}\nDATABASE_REPLICAS="${restored} ${restored}"\n`)
  await create(machine, key, 'bob@example.org')
})

test('upgrading and going back: the service runs, with its users', { skip }, async (t) => {
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

test('lost keys: another one is made, and the lost one is refused', { skip }, async (t) => {
  const { machine, key, id } = await machineWith(t, SQLITE)
  const [make = '', use = '', revoke = '', ...more] = await blocksOf('lost-keys')
  t.strictSame(more, [])
  await machine.run(make)
  t.match(await machine.variable('KEY'), KEY)
  const made: Array<{ name: string, scopes: string[] }> = JSON.parse(await cli(machine, 'keys list --json'))
  t.strictSame(made.find(({ name }) => name === 'rescue')?.scopes, scopesOf(false), 'all of the first key')
  t.match(JSON.parse((await machine.run(use)).replace(/^[^{]*/, '')).data[0], { email: 'ann@example.org' })
  t.match(await machine.run(revoke, id), id)
  await machine.run('systemctl restart fastify-users')
  t.equal((await get(`${machine.origin}/v1/users`, key)).status, 401)
})

test('rotating the pepper: keys of the old one are good until it is removed', { skip }, async (t) => {
  const { machine, key, id } = await machineWith(t, { ...SQLITE, FASTIFY_USERS_PEPPER: 'p'.repeat(32) })
  const [add = '', rotate = '', remove = '', ...more] = await blocksOf('pepper')
  t.strictSame(more, [])
  await machine.run(add)
  t.match(await machine.settings(), /^FASTIFY_USERS_PEPPER=[0-9a-f]{64},p{32}$/m)
  t.strictSame(await emails(machine, key), ['ann@example.org'])
  await machine.run(rotate, id)
  t.strictSame(await emails(machine, key), ['ann@example.org'])
  await machine.run(remove)
  t.match(await machine.settings(), /^FASTIFY_USERS_PEPPER=[0-9a-f]{64}$/m)
  t.equal((await get(`${machine.origin}/v1/users`, key)).status, 401)
  t.strictSame(await emails(machine, await machine.variable('KEY')), ['ann@example.org'])
})
