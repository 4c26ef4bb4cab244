// Processes on the same tables exclude each other, however each of them says where the tables are.
import { test } from 'tap'
import { postgres, type PostgresOptions } from '../../adapters/postgres.ts'
import { from } from '../helpers/level.ts'
import { pgUrlWith } from '../helpers/postgres.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'

const ROUNDS = from('nightly') === false ? 3 : 1
const POOLS_OF_EACH = 4

const withPath = (path: string) => pgUrlWith({ options: `-c search_path=${path}` })
/** Two ways to open the same tables. `onEmpty`: false if an empty database means another schema to each of them. */
type Case = [
  name: string,
  waysOf: (names: { schema: string, other: string, tablePrefix: string }) => PostgresOptions[],
  onEmpty?: boolean
]
const cases: Case[] = [
  ['no schema, and schema public', ({ tablePrefix }) => [
    { connection: pgUrl(), tablePrefix }, { connection: pgUrl(), tablePrefix, schema: 'public' }
  ]],
  ['direct, and through a pooler', ({ tablePrefix }) => [
    { connection: pgUrl(), tablePrefix }, { connection: pgUrl(), tablePrefix, pooler: true }
  ]],
  ['one schema, and two search paths', ({ schema, other }) => [
    { connection: pgUrl(), schema }, { connection: withPath(`${other},${schema}`), schema }
  ]],
  ['a schema, and a search path that begins with it', ({ schema }) => [
    { connection: pgUrl(), schema }, { connection: withPath(`${schema},public`) }
  ]],
  ['a schema, and a search path in which another one comes first', ({ schema, other }) => [
    { connection: pgUrl(), schema }, { connection: withPath(`${other},${schema}`) }
  ], false]
]

for (const [name, waysOf, onEmpty = true] of cases) {
  test(`${name}: many migrate a database and roll it back concurrently`, async (t) => {
    const [schema, other] = [temporarySchema(t), temporarySchema(t)]
    await sql(`create schema "${schema}"; create schema "${other}"`)
    const ways = waysOf({ schema, other, tablePrefix: `${schema}_` })
    const storages = Array.from({ length: POOLS_OF_EACH }, () => ways.map((options) => postgres(options))).flat()
    for (const storage of storages) t.teardown(() => storage.close())
    for (let round = 0; round < ROUNDS; round++) {
      const migrating = onEmpty ? storages : storages.slice(0, 1)
      await Promise.all(migrating.map((storage) => storage.open({ migrate: true })))
      await Promise.all(storages.map((storage) => storage.open()))
      await Promise.all(storages.map((storage) => storage.rollback(0)))
    }
  })
}
