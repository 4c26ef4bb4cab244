// Three nodes of Galera on this machine, which are written and broken: what was acknowledged must be there, once, with
// its event. Needs Debian's mariadb-server, galera-4 and rsync: npm run build && node faults/galera.mjs
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import { mariadb } from '../dist/adapters/mariadb.js'
import users from '../dist/lib/index.js'
import { freePort } from '../test/servers/free-port.mjs'

const { createConnection } = createRequire(import.meta.url)('mysql2/promise')

const PROVIDER = '/usr/lib/galera/libgalera_smm.so'
const WRITERS = 8
const START_MS = 60_000
const SILENT_MS = 9000

/** The server refuses to run as root. */
const owner = process.getuid() === 0
  ? Object.fromEntries(['uid', 'gid'].map((name) =>
    [name, Number(execFileSync('id', [`-${name[0]}`, 'mysql'], { encoding: 'utf8' }))]))
  : {}

function ownDirectory (path) {
  mkdirSync(path, { recursive: true })
  if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid)
  return path
}

const base = mkdtempSync(join(tmpdir(), 'fastify-users-galera-'))
chmodSync(base, 0o755)
ownDirectory(base)

/** A node, not started yet. `group`: the port of the group's messages; two more are free behind it. */
async function createNode (name) {
  const [data, temporary] = [ownDirectory(join(base, name)), ownDirectory(join(base, `${name}-tmp`))]
  const common = ['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`]
  execFileSync('mariadb-install-db', [...common, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { ...owner, stdio: 'ignore' })
  const [port, group, state, increments] = [await freePort(), await freePort(), await freePort(), await freePort()]
  return { name, common, socket: join(base, `${name}.sock`), port, group, state, increments }
}

const nodes = [await createNode('first'), await createNode('second'), await createNode('third')]
process.on('exit', () => {
  for (const { child } of nodes) child?.kill('SIGKILL')
  rmSync(base, { recursive: true, force: true })
})

/** The rows of a statement on a node; none if it does not answer. */
async function ask ({ socket }, sql) {
  try {
    const connection = await createConnection({ socketPath: socket, user: 'root' })
    const [rows] = await connection.query(sql).finally(() => connection.end())
    return rows
  } catch {
    return []
  }
}

async function ready (node) {
  const deadline = performance.now() + START_MS
  while ((await ask(node, "SHOW STATUS LIKE 'wsrep_ready'"))[0]?.Value !== 'ON') {
    if (node.child.exitCode !== null || performance.now() > deadline) throw new Error(`${node.name} does not start`)
    await delay(100)
  }
}

async function start (node, isFirst = false) {
  const all = nodes.map(({ group }) => `127.0.0.1:${group}`).join(',')
  const provider = {
    'gmcast.listen_addr': `tcp://127.0.0.1:${node.group}`,
    'ist.recv_addr': `127.0.0.1:${node.increments}`,
    'evs.keepalive_period': 'PT0.5S',
    'evs.suspect_timeout': 'PT2S',
    'evs.inactive_timeout': 'PT5S'
  }
  const options = [
    ...node.common, `--socket=${node.socket}`, `--port=${node.port}`, '--bind-address=127.0.0.1',
    '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--wsrep-on=ON', `--wsrep-provider=${PROVIDER}`,
    `--wsrep-cluster-address=gcomm://${isFirst ? '' : all}`, '--wsrep-cluster-name=users',
    `--wsrep-node-address=127.0.0.1:${node.group}`, `--wsrep-node-name=${node.name}`, '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${node.state}`,
    `--wsrep-provider-options=${Object.entries(provider).map((each) => each.join('=')).join(';')}`,
    ...isFirst ? ['--wsrep-new-cluster'] : []
  ]
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  node.child = spawn('mariadbd', options, { ...owner, env, stdio: 'ignore' })
  await ready(node)
}

async function open ({ socket }) {
  const app = Fastify()
  const connection = { socketPath: socket, user: 'root', database: 'app' }
  await app.register(users, {
    storage: mariadb({ connection, statementTimeoutMs: 3000 }), migrate: true, eventLog: true
  })
  return app.ready()
}

let made = 0
/** Creates users on servers while something happens. */
async function load (apps, ms, happens) {
  const acknowledged = []
  const over = new AbortController()
  let failed = 0
  const times = []
  const writing = apps.flatMap((app) => Array.from({ length: WRITERS }, async () => {
    while (!over.signal.aborted) {
      const email = `user${made++}@example.org`
      try {
        await app.users.create({ name: 'Ann', email })
        acknowledged.push(email)
        times.push(performance.now())
      } catch {
        failed++
        await delay(20)
      }
    }
  }))
  const began = performance.now()
  await delay(ms / 3)
  const since = performance.now()
  await happens()
  await delay(ms * 2 / 3)
  over.abort()
  await Promise.all(writing)
  const after = [since, ...times.filter((time) => time > since)]
  const silent = Math.max(...after.map((time, i) => time - (after[i - 1] ?? time)))
  return { acknowledged, failed, silent, rate: acknowledged.length / (performance.now() - began) * 1000 }
}

let errors = 0
async function judge (what, node, { acknowledged, failed, silent, rate }) {
  const found = (await ask(node, "SELECT json_value(record, '$.email') AS email FROM app.fastify_users_users"))
    .map(({ email }) => email)
  const [events] = await ask(node, "SELECT count(*) AS n FROM app.fastify_users_events WHERE type = 'user.created'")
  const [counted] = await ask(node, 'SELECT sum(users) AS n FROM app.fastify_users_user_counts')
  const all = new Set(found)
  const wrong = {
    lost: acknowledged.filter((email) => !all.has(email)).length,
    twice: found.length - all.size,
    events: Number(events?.n) - found.length,
    counted: Number(counted?.n) - found.length
  }
  errors += Object.values(wrong).filter((each) => each !== 0).length
  const { lost, twice } = wrong
  console.log(`| ${what} | ${acknowledged.length} | ${lost} | ${twice} | ${wrong.events} | ${failed} | ` +
    `${Math.round(rate)} | ${Math.round(silent)} |`)
}

const [first, second, third] = nodes
await start(first, true)
await start(second)
await start(third)
await ask(first, 'CREATE DATABASE app')
const apps = [await open(first), await open(second), await open(third)]
console.log('| What happens | acknowledged | lost | twice | events wrong | failed | per second | silent, ms |')
console.log('|---|--:|--:|--:|--:|--:|--:|--:|')
await judge('one node is written', third, await load([apps[0]], 3000, async () => {}))
await judge('a node that is not written is killed', first,
  await load([apps[0]], SILENT_MS, async () => { third.child.kill('SIGKILL') }))
await start(third)
await judge('three nodes are written', second, await load(apps, 6000, async () => {}))
await judge('another node stands still for 9 s', second, await load([apps[1]], 12_000, async () => {
  first.child.kill('SIGSTOP')
  await delay(SILENT_MS)
  first.child.kill('SIGCONT')
}))
await ready(first)
await judge('one of two that are written is killed', third,
  await load([apps[1], apps[2]], SILENT_MS, async () => { second.child.kill('SIGKILL') }))
process.exit(errors === 0 ? 0 : 1)
