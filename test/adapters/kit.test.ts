// The conformance kit is tested too: it passes a plain store that is right, and fails each of many with one mistake, by the duty that is there to find it.
import { test } from 'tap'
import { testStorage } from '../../adapters/testing/index.ts'
import { brokenStore, MISTAKES, type Mistake } from '../helpers/broken-store.ts'

/** Runs the whole kit on a store, and gives the names of the duties that failed, and the report. */
async function failuresOf (mistake: Mistake | null): Promise<{ failed: string[], report: string }> {
  const cases: Array<{ name: string, run: () => Promise<void> }> = []
  let report = ''
  testStorage({ test: (name, run) => cases.push({ name, run }), create: () => brokenStore(mistake), report: (line) => { report += line } })
  const failed: string[] = []
  for (const { name, run } of cases) await run().catch(() => failed.push(name))
  return { failed, report }
}

test('a plain store that is right passes', async (t) => {
  const { failed, report } = await failuresOf(null)
  t.strictSame(failed, [])
  t.equal(report, 'fastify-users/testing: broken: 68 duties passed, 0 failed; the store declares unsupported: transactions')
})

test('every broken store fails, by the duty meant for it', async (t) => {
  const rows = Object.entries(MISTAKES)
  t.ok(rows.length >= 25)
  for (const mistake of Object.keys(MISTAKES).filter((name): name is Mistake => name in MISTAKES)) {
    const { failed, report } = await failuresOf(mistake)
    t.ok(failed.includes(MISTAKES[mistake]), `${mistake}: ${failed.length} duties failed`)
    t.match(report, `${failed.length} failed`)
  }
})
