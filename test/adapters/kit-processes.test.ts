// What one process can't show: stores that several processes have open, and processes that are killed.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { testStorageInProcesses } from '../../adapters/testing/index.ts'
import { from } from '../helpers/level.ts'
import { mariadbUrl, temporaryDatabase, withoutMariadb } from '../helpers/mariadb.ts'
import { poorSchema } from '../helpers/poor-postgres.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const opener = (name: string) => new URL(`../helpers/openers/${name}.ts`, import.meta.url)
const mistaken = (name: string) => new URL(`../helpers/openers/mistakes.ts?${name}`, import.meta.url)

interface Store {
  name: string
  open: URL
  place: (t: Test) => Promise<string>
  skip?: string | false
  /** Duties that only the night has. */
  later?: RegExp
}

// What a killed process has left of its writes, the server of PostgreSQL undoes; SQLite has the next process do it.
const BY_THE_SERVER = /after a crash/
// It has locks, counting and numbering of its own. The rest is as on any PostgreSQL.
const AS_ON_POSTGRES = /crash|walk/

const stores: Store[] = [
  {
    name: 'sqlite',
    open: opener('sqlite'),
    place: async (t) => join(await temporaryDirectory(t), 'users.db')
  },
  {
    name: 'postgres',
    open: opener('postgres'),
    place: async (t) => JSON.stringify({ connection: pgUrl(), schema: temporarySchema(t) }),
    later: BY_THE_SERVER
  },
  {
    name: 'postgres that can do little',
    open: opener('poor-postgres'),
    place: async (t) => poorSchema(t),
    skip: from('ci'),
    later: AS_ON_POSTGRES
  },
  {
    name: 'mariadb',
    open: opener('mariadb'),
    place: async (t) => mariadbUrl(await temporaryDatabase(t)),
    skip: from('ci') || withoutMariadb,
    later: BY_THE_SERVER
  },
  { name: 'lmdb', open: opener('lmdb'), place: temporaryDirectory, skip: from('nightly') }
]

for (const { name, open, place, skip = false, later } of stores) {
  test(name, { skip }, (t) => {
    const skipOf = (title: string) => later?.test(title) === true && from('nightly')
    testStorageInProcesses({
      test: (title, run) => t.test(title, { skip: skipOf(title) }, run), open, place: () => place(t)
    })
    t.end()
  })
}

function duties (t: Test, open: URL) {
  const list: Array<{ title: string, run: () => Promise<void> }> = []
  const place = async () => {
    const file = join(await temporaryDirectory(t), 'store.json')
    await writeFile(file, '{}')
    return file
  }
  testStorageInProcesses({ test: (title, run) => list.push({ title, run }), open, place })
  return list
}

test('finds stores that are right in one process alone', { skip: from('nightly') }, async (t) => {
  const rows: Array<[opener: string, duty: string]> = [
    ['in-memory', 'several make the schema ready at the same time'],
    ['in-memory', 'a change of a row of any collection is seen in every process'],
    ['in-memory', 'a change of a user is seen in every list'],
    ['in-memory', 'of many units on one version in all processes, one is made'],
    ['in-memory', 'of many users with one address in all processes, one is added'],
    ['unique-apart', 'of many users with one value of a unique field in all processes, one is added'],
    ['in-memory', 'of many rows with one id or one start in all processes, one is added'],
    ['in-memory', 'a mark that writers of all processes move lets them see each other'],
    ['log-cached', 'whoever reads on gets each event of writers in all processes once, in the order of versions'],
    ['loads-all', 'users.walk holds a few of its parts in memory, however many there are'],
    ['silent', 'a change of a key is told to the other processes, if the store has watch'],
    ['half-ready', 'a schema that a crash has left half ready is completed'],
    ['event-later', 'what was answered is there after a crash with its events, and nothing is half done'],
    ['unit-in-parts', 'after a crash a unit is whole or not there']
  ]
  t.strictSame(duties(t, mistaken('in-memory')).map(({ title }) => title).sort(),
    rows.map(([, title]) => `processes: ${title}`).sort(), 'every duty finds one')
  for (const [name, title] of rows) {
    const duty = duties(t, mistaken(name)).find((each) => each.title === `processes: ${title}`)
    await t.rejects(duty?.run() ?? Promise.resolve(), `${name}: ${title}`)
  }
})

test('says which module could not open the store', async (t) => {
  const [first] = duties(t, opener('nowhere'))
  await t.rejects(first?.run() ?? Promise.resolve(), { message: /the process could not open the store[^]*nowhere/ })
})
