// The contract on hosts in which every two settings and plugins occur together.
import { test } from 'tap'
import { coveringRows } from '../helpers/combinations/covering.ts'
import { excluded, levels, nameOf, PLAIN } from '../helpers/combinations/factors.ts'
import { badLines, contractOf, differences, ownAnswers } from '../helpers/combinations/run.ts'
import { from } from '../helpers/level.ts'

// A seed with few rows, of which the first few have every setting.
const rows = coveringRows(levels, excluded, 6)
const known = new Set<string>()
/** Those among them that together have every setting; the others have more pairs of settings. */
const withEverySetting = rows.filter((row) => {
  const before = known.size
  for (const choice of Object.entries(row)) known.add(choice.join(' '))
  return known.size > before
})

// One listener too many on what lives longer than a request.
const warnings: string[] = []
process.on('warning', ({ name, message }) => { if (name === 'MaxListenersExceededWarning') warnings.push(message) })

const plain = await contractOf(PLAIN)

test('a plain host answers each step with its status', async (t) => {
  const wrong = [...plain.transcript].filter(([, seen]) => Object(seen).due !== Object(seen).status)
  t.strictSame(wrong, [])
})

for (const row of rows) {
  const skip = !withEverySetting.includes(row) && from('nightly')
  test(`the contract holds on a host with ${nameOf(row)}`, { skip }, async (t) => {
    const { transcript, logged } = await contractOf(row)
    t.strictSame(differences(row, transcript, plain.transcript), [])
    t.strictSame(badLines(row, logged), [])
    t.strictSame(await ownAnswers(row, true), await ownAnswers(row, false), 'the host’s own routes are as they were')
    t.strictSame(warnings, [])
  })
}
