// npm run test:cluster -- postgres://…: the kit, processes, the contract over HTTP and the feed on a server of yours.
// On Citus in distributed schemas, with two mounts on two workers, of which one is moved, and one dies if you say how:
//   --kill-worker 'CMD' --revive-worker 'CMD'   run by the shell, with WORKER_HOST and WORKER_PORT
// --local: on Citus, in schemas of the coordinator. --only kit,processes,contract,feed,mounts. --quick: fewer duties.
// It ends with a line for the table of engines in docs/storages.md. The schemas that it makes are dropped.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { suite } from './contract.mjs'
import { kit, processes, runDuties } from './duties.mjs'
import { mountDuties } from './mounts.mjs'
import { openServer } from './server.mjs'

const CONTRACT = ['test/contract', 'test/users', 'test/batch', 'test/tenants/isolation.test.ts']
const FEED = ['test/events']
const PARTS = ['kit', 'processes', 'contract', 'feed', 'mounts']

const { values: given, positionals: [url] } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    local: { type: 'boolean', default: false },
    'kill-worker': { type: 'string' },
    'revive-worker': { type: 'string' }
  }
})
const asked = given.only?.split(',') ?? PARTS
const strange = asked.filter((part) => !PARTS.includes(part))
if (url === undefined || strange.length > 0 ||
  (given['kill-worker'] === undefined) !== (given['revive-worker'] === undefined)) {
  process.stderr.write('Usage: npm run test:cluster -- postgres://user@host/database [--only PART,…] [--quick]\n' +
    `  [--local] [--kill-worker CMD --revive-worker CMD]\nParts: ${PARTS.join(', ')}\n`)
  process.exit(2)
}

const say = (text) => { process.stdout.write(`${text}\n`) }
const prefix = `fu_${randomBytes(4).toString('hex')}_`
const server = await openServer(url, prefix, { isLocal: given.local })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, async () => {
    await server.close().catch(() => {})
    process.exit(1)
  })
}

const commands = given['kill-worker'] === undefined
  ? null
  : { kill: given['kill-worker'], revive: given['revive-worker'] }
const quick = given.quick
const run = {
  kit: () => runDuties(kit(server, { quick }), say),
  processes: () => runDuties(processes(server, profile.name), say),
  contract: () => suite(server, CONTRACT, say),
  feed: () => suite(server, FEED, say),
  mounts: () => runDuties(mountDuties(server, commands), say)
}

const results = []
const profile = await server.profile()
try {
  say(profile.name === null
    ? `${server.engine} ${server.version}: no profile of the store works here: ${profile.reason}`
    : `${server.engine} ${server.version}: profile ${profile.name}${profile.reason && `, ${profile.reason}`}`)
  for (const part of PARTS.filter((each) => profile.name !== null && asked.includes(each))) {
    if (part === 'mounts' && !server.isDistributed) {
      say('mounts: not run, since the server is no Citus, or --local was given')
      continue
    }
    const begun = performance.now()
    const { passed, failed } = await run[part]()
    results.push({ part, passed, failed })
    say(`${part}: ${passed} passed, ${failed} failed, ${Math.round((performance.now() - begun) / 1000)} s`)
  }
} finally {
  await server.close()
}

const figures = results.map(({ part, passed, failed }) => `${part} ${passed} of ${passed + failed}`).join(', ')
const result = results.length === 0 ? 'nothing has run' : `${figures}${quick ? ' (quick)' : ''}`
const date = new Date().toISOString().slice(0, 10)
say(`\n| ${[server.engine, server.version, date, profile.name ?? 'none', result].join(' | ')} |`)
process.exit(results.length > 0 && results.every(({ failed }) => failed === 0) ? 0 : 1)
