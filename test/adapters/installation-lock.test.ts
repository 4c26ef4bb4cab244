// Processes on the same tables exclude each other, however each of them says where the tables are.
import { test, type Test } from 'tap'
import type { KnexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { from } from '../helpers/level.ts'
import { pgUrlWith } from '../helpers/postgres.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'

const ROUNDS = from('nightly') === false ? 3 : 1
const POOLS_OF_EACH = 4

interface Case {
  name: string
  /** Two ways to open the same tables, with names of this test's. */
  open: (names: { schema: string, other: string, tablePrefix: string }) => Array<() => KnexStorage>
  /** False if an empty database means another schema to each of them. */
  onEmpty: boolean
}

const withPath = (path: string) => pgUrlWith({ options: `-c search_path=${path}` })

const cases: Case[] = [{
  name: 'no schema, and schema public',
  open: ({ tablePrefix }) => [
    () => postgres({ connection: pgUrl(), tablePrefix }),
    () => postgres({ connection: pgUrl(), tablePrefix, schema: 'public' })
  ],
  onEmpty: true
}, {
  name: 'direct, and through a pooler',
  open: ({ tablePrefix }) => [
    () => postgres({ connection: pgUrl(), tablePrefix }),
    () => postgres({ connection: pgUrl(), tablePrefix, pooler: true })
  ],
  onEmpty: true
}, {
  name: 'one schema, and two search paths',
  open: ({ schema, other }) => [
    () => postgres({ connection: pgUrl(), schema }),
    () => postgres({ connection: withPath(`${other},${schema}`), schema })
  ],
  onEmpty: true
}, {
  name: 'a schema, and a search path that begins with it',
  open: ({ schema }) => [
    () => postgres({ connection: pgUrl(), schema }),
    () => postgres({ connection: withPath(`${schema},public`) })
  ],
  onEmpty: true
}, {
  name: 'a schema, and a search path in which another one comes first',
  open: ({ schema, other }) => [
    () => postgres({ connection: pgUrl(), schema }),
    () => postgres({ connection: withPath(`${other},${schema}`) })
  ],
  onEmpty: false
}]

async function openersOf (t: Test, { open }: Case): Promise<Array<() => KnexStorage>> {
  const [schema, other] = [temporarySchema(t), temporarySchema(t)]
  await sql(`create schema "${schema}"; create schema "${other}"`)
  return open({ schema, other, tablePrefix: `${schema}_` })
}

for (const each of cases) {
  test(`${each.name}: many migrate a database and roll it back concurrently`, async (t) => {
    const openers = await openersOf(t, each)
    const storages = Array.from({ length: POOLS_OF_EACH }, () => openers.map((open) => open())).flat()
    for (const storage of storages) t.teardown(() => storage.close())
    for (let round = 0; round < ROUNDS; round++) {
      const migrating = each.onEmpty ? storages : storages.slice(0, 1)
      await Promise.all(migrating.map((storage) => storage.open({ migrate: true })))
      await Promise.all(storages.map((storage) => storage.open()))
      await Promise.all(storages.map((storage) => storage.rollback(0)))
    }
  })
}
