import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.mjs'
import { programPath } from './program.mjs'

const START_TIMEOUT_MS = 30_000

/** PgBouncer refuses to run as root, so it runs as the user `postgres`. */
function owner () {
  if (process.getuid?.() !== 0) return {}
  const id = (option) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/**
 * Starts a PgBouncer in transaction mode before a server, with fewer connections than clients: its URL and a function
 * that stops it. `undefined` if the machine has none. `more`: lines of its settings.
 */
export async function startPgBouncer (serverUrl, more = '') {
  const path = programPath('pgbouncer')
  if (path === undefined) return undefined
  const { hostname, port: serverPort, username, password } = new URL(serverUrl)
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-pgbouncer-'))
  await chmod(directory, 0o755)
  const port = await freePort()
  const settings = join(directory, 'pgbouncer.ini')
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 500
server_login_retry = 1
${more}
`
  )
  const child = spawn(path, [settings], { stdio: ['ignore', 'ignore', 'pipe'], ...owner() })
  let log = ''
  child.stderr.on('data', (chunk) => { log += String(chunk) })
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!log.includes('process up')) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    if (hasEnded || performance.now() > deadline) {
      child.kill('SIGKILL')
      await rm(directory, { recursive: true, force: true })
      throw new Error(`PgBouncer did not start within ${START_TIMEOUT_MS} ms: ${log}`)
    }
    await setTimeout(10)
  }
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${port}/postgres`,
    async stop () {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await rm(directory, { recursive: true, force: true })
    }
  }
}
