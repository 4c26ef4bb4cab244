import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.mjs'
import { programPath } from './program.mjs'

/** PgBouncer refuses to run as root, as PostgreSQL does: whose server it is may run it. */
function owner () {
  if (process.getuid?.() !== 0) return {}
  const id = (option) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Starts a PgBouncer in transaction mode before a server, with fewer connections than clients: its URL, and what ends it. `undefined` where there is none. */
export async function startPgBouncer (serverUrl) {
  const path = programPath('pgbouncer')
  if (path === undefined) return undefined
  const { hostname, port: serverPort, username, password } = new URL(serverUrl)
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-pgbouncer-'))
  await chmod(directory, 0o755)
  const port = await freePort()
  const settings = join(directory, 'pgbouncer.ini')
  await writeFile(settings, `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 500
`)
  const child = spawn(path, [settings], { stdio: ['ignore', 'ignore', 'pipe'], ...owner() })
  let log = ''
  while (!log.includes('process up')) {
    const [chunk] = await Promise.race([once(child.stderr, 'data'), once(child, 'exit').then(([code]) => { throw new Error(`PgBouncer ended with ${code}: ${log}`) })])
    log += String(chunk)
  }
  child.stderr.resume()
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
