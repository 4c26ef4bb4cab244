// What the package exports is what a release freezes: a change of it is seen in review.
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'tap'
import { apiReport } from './helpers/api-report.ts'

test('the surface of the package is as test/api.md says (UPDATE=1 writes it)', async (t) => {
  const file = new URL('api.md', import.meta.url)
  const report = await apiReport()
  if (process.env['UPDATE'] === '1') await writeFile(file, report)
  t.equal(await readFile(file, 'utf8'), report)
})
