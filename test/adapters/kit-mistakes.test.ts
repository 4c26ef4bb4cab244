// The kit finds every planted mistake, and every duty finds one: a duty without a mistake has not been shown to find
// anything. UPDATE=1 looks for duties of new mistakes, and for mistakes of new duties.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { t as tap, test } from 'tap'
import { DUTIES, registered } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { plantedStores } from '../helpers/planted-stores/index.ts'

// Some of them wait until their time is over.
tap.jobs = 8

const FILE = join(import.meta.dirname, '..', 'helpers', 'planted-stores', 'found-by.json')
// Some mistakes never answer. Much longer than any duty takes, since a duty that is ended finds whatever it meets.
const TIMEOUT_MS = 20_000

/** The titles of mistakes by the duty that finds them. */
type FoundBy = Record<string, string[]>

const titleOf = ({ theme, title }: { theme: string, title: string }): string => `${theme}: ${title}`
const planted = new Map(plantedStores.map((mistake) => [titleOf(mistake), mistake.create]))

/** True if the duty fails on the store with the mistake. */
async function finds (duty: string, mistake: string): Promise<boolean> {
  const create = planted.get(mistake)
  if (create === undefined) throw new RangeError(`there is no mistake "${mistake}"`)
  const { tests } = registered(create, { timeoutMs: TIMEOUT_MS, seed: 4 })
  const run = tests.find(({ name }) => name === duty)?.run
  if (run === undefined) throw new RangeError(`there is no duty "${duty}"`)
  return run().then(() => false, () => true)
}

/** The duty of each mistake, as it was or looked for; then a mistake for each duty without one. */
async function update (before: FoundBy): Promise<FoundBy> {
  const found: FoundBy = Object.fromEntries(DUTIES.map((duty) => [duty, []]))
  const known = new Map(Object.entries(before).flatMap(([duty, titles]) => titles.map((title) => [title, duty])))
  for (const title of planted.keys()) {
    const kept = known.get(title)
    const candidates = kept !== undefined && DUTIES.includes(kept) ? [kept, ...DUTIES] : DUTIES
    for (const duty of candidates) {
      if (!await finds(duty, title)) continue
      found[duty]?.push(title)
      break
    }
  }
  for (const [duty, titles] of Object.entries(found)) {
    for (const title of titles.length === 0 ? planted.keys() : []) {
      if (!await finds(duty, title)) continue
      titles.push(title)
      break
    }
  }
  return found
}

const before: FoundBy = JSON.parse(await readFile(FILE, 'utf8').catch(() => '{}'))
const foundBy = process.env['UPDATE'] === '1' ? await update(before) : before
if (process.env['UPDATE'] === '1') await writeFile(FILE, `${JSON.stringify(foundBy, null, 2)}\n`)

test('there are many mistakes of every theme, each with a title of its own', (t) => {
  t.equal(planted.size, plantedStores.length)
  t.ok(planted.size >= 150)
  const themes = [
    'values', 'writes', 'lists', 'idempotency', 'api-keys', 'lifecycle', 'transactions', 'events', 'batches',
    'webhooks', 'tenants', 'key-uses', 'statuses', 'orders', 'trash'
  ]
  t.strictSame([...new Set(plantedStores.map(({ theme }) => theme))], themes)
  t.end()
})

test('every mistake is found by a duty, and every duty finds a mistake', (t) => {
  const found = new Set(Object.values(foundBy).flat())
  t.strictSame([...planted.keys()].filter((title) => !found.has(title)), [])
  t.strictSame(DUTIES.filter((duty) => (foundBy[duty]?.length ?? 0) === 0), [])
  t.strictSame(Object.keys(foundBy).filter((duty) => !DUTIES.includes(duty)), [])
  t.end()
})

// Others that a duty finds say little more of it.
const MAX = from('nightly') === false ? Infinity : 1

for (const [duty, all] of Object.entries(foundBy)) {
  const titles = all.slice(0, MAX)
  test(`finds its mistakes: ${duty}`, { buffered: true }, async (t) => {
    const results = await Promise.all(titles.map(async (title) => [title, await finds(duty, title)] as const))
    for (const [title, isFound] of results) t.ok(isFound, title)
  })
}
