import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { programPath } from './program.mjs'

const START_TIMEOUT_MS = 60_000

const run = promisify(execFile)

/** The server refuses to run as root, so it runs as the user of its package. */
function owner () {
  if (process.getuid?.() !== 0) return {}
  const id = (option) => Number(execFileSync('id', [option, 'mysql'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

async function isOpen (socket) {
  const client = connect(socket)
  try {
    await once(client, 'connect')
    return true
  } catch {
    return false
  } finally {
    client.destroy()
  }
}

/**
 * Starts a new MariaDB on a socket of its own: the path of the socket, its URL, its process, and a function that stops
 * it. `undefined` if the machine has none. `durable`: a commit is on the disk before it is answered. `more`: options of
 * the server.
 */
export async function startMariadb ({ durable = false, more = [] } = {}) {
  const [server, install] = [programPath('mariadbd'), programPath('mariadb-install-db')]
  if (server === undefined || install === undefined) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-mariadb-'))
  const { uid, gid } = owner()
  const data = join(directory, 'data')
  await mkdir(data)
  await chmod(directory, 0o755)
  if (uid !== undefined) for (const path of [directory, data]) await chown(path, uid, gid)
  // The directory of the tests' own files is not the server's user's.
  const common = ['--no-defaults', `--datadir=${data}`, `--tmpdir=${directory}`]
  await run(install, [...common, '--auth-root-authentication-method=normal', '--skip-test-db'], { uid, gid })
  const socket = join(directory, 'socket')
  const options = [
    ...common, `--socket=${socket}`, '--skip-networking', '--max-connections=500',
    `--pid-file=${join(directory, 'pid')}`, '--innodb-buffer-pool-size=128M', '--innodb-log-file-size=64M',
    ...durable ? [] : ['--innodb-flush-log-at-trx-commit=0', '--skip-innodb-doublewrite'],
    ...more
  ]
  let log = ''
  let child
  async function start () {
    child = spawn(server, options, { stdio: ['ignore', 'ignore', 'pipe'], uid, gid })
    child.stderr.on('data', (chunk) => { log = (log + String(chunk)).slice(-4000) })
    const deadline = performance.now() + START_TIMEOUT_MS
    while (!await isOpen(socket)) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`MariaDB did not start: ${log}`)
      await setTimeout(20)
    }
  }
  async function end (signal) {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  await start()
  return {
    socket,
    url: `mariadb://root@localhost/mysql?socketPath=${encodeURIComponent(socket)}`,
    get pid () { return child.pid },
    kill: () => end('SIGKILL'),
    start,
    async stop () {
      await end('SIGTERM')
      await rm(directory, { recursive: true, force: true })
    }
  }
}
