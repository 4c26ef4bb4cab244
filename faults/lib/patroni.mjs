// Two nodes of PostgreSQL that Patroni keeps, with etcd as its memory: it promotes one when the other is gone.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../test/servers/free-port.mjs'
import { programPath } from '../../test/servers/program.mjs'
import { killAll, owner } from './postgres.mjs'
import { openProxy } from './proxy.mjs'
import { until } from './until.mjs'

const DEBIAN = '/usr/lib/postgresql'
const START_MS = 120_000
const PASSWORD = 'password'
// The least that Patroni takes: its leader is gone when it has not been heard of for this many seconds.
const TTL_S = 20

/** The programs of the newest PostgreSQL of Debian, or null. */
function programsOfPostgres () {
  if (!existsSync(DEBIAN)) return null
  const newest = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a))
    .find((version) => existsSync(join(DEBIAN, version, 'bin', 'initdb')))
  return newest === undefined ? null : join(DEBIAN, newest, 'bin')
}

/** Why there can be no cluster here; null: there can. */
export function withoutPatroni () {
  const missing = ['patroni', 'etcd'].filter((name) => programPath(name) === undefined)
  if (programsOfPostgres() === null) missing.push('PostgreSQL')
  return missing.length === 0
    ? null
    : `${missing.join(' and ')} not installed: apt-get install patroni etcd-server postgresql`
}

/** The settings of a node; Patroni reads YAML, of which JSON is a part. */
function settingsOf ({ name, port, rest, data, etcd }) {
  const user = (username) => ({ username, password: PASSWORD })
  return {
    scope: 'users',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ttl: TTL_S,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { wal_log_hints: 'on' } }
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256']
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: programsOfPostgres(),
      pgpass: `${data}.pgpass`,
      authentication: { superuser: user('postgres'), replication: user('replicator'), rewind: user('rewinder') },
      parameters: { unix_socket_directories: '', shared_buffers: '32MB', max_connections: 60, logging_collector: 'off' }
    }
  }
}

/** Starts a program as the owner of the servers; what it says is kept for whoever looks for a reason. */
function start (name, args, cwd) {
  const env = { PATH: process.env.PATH, HOME: cwd, LC_ALL: 'C.UTF-8' }
  const child = spawn(programPath(name), args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...owner() })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => { log = (log + chunk).slice(-20_000) })
  }
  return { pid: child.pid, isUp: () => child.exitCode === null && child.signalCode === null, log: () => log }
}

function createNode (directory, name, { port, rest, etcd }) {
  const data = join(directory, name)
  const settings = `${data}.json`
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`
  let patroni = null

  return {
    port,
    url,
    log: () => patroni?.log() ?? '',
    isUp: () => patroni?.isUp() ?? false,

    async start () {
      await writeFile(settings, JSON.stringify(settingsOf({ name, port, rest, data, etcd })), { mode: 0o644 })
      patroni = start('patroni', [settings], directory)
    },

    /** Whether Patroni says that this node is the primary: what a proxy asks too. */
    isLeader: () => fetch(`http://127.0.0.1:${rest}/primary`).then(({ status }) => status === 200, () => false),

    async sql (text) {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query(text)).rows
      } finally {
        await client.end().catch(() => {})
      }
    },

    /** Kills Patroni and every process of the server, as if the machine was gone. */
    async kill () {
      const server = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
      if (patroni?.isUp() === true) killAll(patroni.pid)
      if (server !== '') killAll(Number.parseInt(server, 10))
    }
  }
}

/** Starts a cluster of two nodes, the standby synchronous, behind a proxy that leads to the leader. */
export async function openPatroni () {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-faults-patroni-'))
  await chmod(directory, 0o755)
  const { uid, gid } = owner()
  if (uid !== undefined) await chown(directory, uid, gid)
  const port = await freePort()
  const [client, peer] = [port, await freePort()].map((each) => `http://127.0.0.1:${each}`)
  const etcd = start('etcd', [
    '--name', 'one', '--data-dir', join(directory, 'etcd'),
    '--listen-client-urls', client, '--advertise-client-urls', client,
    '--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `one=${peer}`
  ], directory)
  const nodes = []
  for (const name of ['a', 'b']) {
    nodes.push(createNode(directory, name, { port: await freePort(), rest: await freePort(), etcd: port }))
  }

  /** The node that says it is the primary, once there is one. */
  async function leader (ms = START_MS) {
    let found
    await until('a leader', async () => {
      const answers = await Promise.all(nodes.map((node) => node.isLeader()))
      found = nodes[answers.indexOf(true)]
      return found !== undefined
    }, ms)
    return found
  }

  /** Waits until the leader has a standby without which it acknowledges nothing. */
  async function synchronous () {
    const { sql } = await leader()
    const text = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
    const isThere = () => sql(text).then(({ length }) => length === 1, () => false)
    await until('a synchronous standby', isThere, START_MS)
  }

  async function close () {
    for (const node of nodes) await node.kill()
    if (etcd.isUp()) killAll(etcd.pid)
    await until('the end of Patroni', () => !etcd.isUp() && nodes.every((node) => !node.isUp()))
    await rm(directory, { recursive: true, force: true })
  }

  try {
    for (const node of nodes) await node.start()
    await synchronous()
    const proxy = await openProxy((await leader()).port)
    const url = new URL(nodes[0].url)
    url.port = String(proxy.port)
    return {
      url: url.href,
      direct: null,
      proxy,
      cluster: { leader, synchronous },
      async close () {
        proxy.close()
        await close()
      }
    }
  } catch (error) {
    const logs = [etcd.log(), ...nodes.map((node) => node.log())].map((log) => log.slice(-1500)).join('\n')
    await close()
    throw new Error(`Patroni did not start: ${error.message}\n${logs}`)
  }
}
