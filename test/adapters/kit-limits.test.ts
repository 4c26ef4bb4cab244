// The limits of the conformance kit's duties, and what becomes of calls that fail while a duty does something else.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { reportOf } from '../../adapters/testing/report.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { DUTIES, registered } from '../helpers/kit.ts'

async function someTurns (): Promise<void> {
  for (let count = 0; count < 20; count++) await new Promise((resolve) => setImmediate(resolve))
}

test('a read that fails while a duty writes fails that duty, and nothing else of the process', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => { unhandled.push(reason) }
  process.prependListener('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const create = () => {
    const store = memory()
    const read = async () => { throw new StorageError('unavailable', 'no log') }
    return { ...store, log: Object({ ...store.log, read, history: store.log.history, find: store.log.find }) }
  }
  const duty = DUTIES.find((name) => name.startsWith('log.read: whoever reads on'))
  const run = registered(create).tests.find(({ name }) => name === duty)?.run
  const error = await run?.().then(() => null, (reason: unknown) => reason)
  t.match(error, { code: 'unavailable' })
  await someTurns()
  t.strictSame(unhandled, [])
})

test('the quick kit has every duty once, says how many have ended, and is no proof for a README', async (t) => {
  const names = (quick: boolean) => registered(memory, { quick }).tests.map(({ name }) => name)
  t.strictSame(names(true), names(false).filter((name) => !name.startsWith('join: inside a transaction')))
  const progress: string[] = []
  // Without its methods, so that every duty ends immediately.
  const create = () => ({ name: 'memory' })
  const { tests, lines } = registered(create, { quick: true, progress: (line) => progress.push(line) })
  for (const { run } of tests.slice(0, -1)) await run()
  const duties = tests.length - 1
  const ends = Array.from({ length: 10 }, (_, i) => Math.ceil(duties * (i + 1) / 10))
  t.strictSame(progress, ends.map((ended) => `fastify-users/testing: memory: ${ended} of ${duties} duties`))
  t.match(lines[0], /, seed 1, quick$/)
  const all = {
    registered: 1, started: 1, ended: 1, passed: 1, unsupported: 0, notReached: 0, missing: new Set<string>()
  }
  const run = { name: 'memory', version: '1.0.0', seconds: 1, seed: 1 }
  t.equal(reportOf(all, { ...run, quick: true }).length, 1)
  t.equal(reportOf(all, { ...run, quick: false }).length, 2)
})

test('passes stores that are right with the fewest records and with any more, and refuses less', async (t) => {
  const long = DUTIES.filter((duty) => /\blong\b|many units of one call|as many rows/.test(duty))
  t.ok(long.length >= 4)
  for (const records of [100, 599]) {
    const { tests } = registered(memory, { records })
    for (const { name, run } of tests) if (long.includes(name)) await t.resolves(run(), `${records}: ${name}`)
  }
  for (const records of [0, 1, 99, 100.5, NaN]) {
    t.throws(() => registered(memory, { records }), { message: 'records must be a whole number of at least 100' })
  }
})
