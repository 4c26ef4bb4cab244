// Concurrent rotations of one key through two storages on one database, as of two processes.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { testApp } from '../helpers/app.ts'
import { sqliteDriver } from '../helpers/sqlite.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import '../helpers/watch-all.ts'

const KEYS = 20
const CALLS = 8

const databases: Array<{ name: string, open: (t: Test) => Promise<() => Storage> }> = [
  {
    name: 'sqlite',
    open: async (t) => {
      const filename = join(await temporaryDirectory(t), 'users.db')
      return () => sqlite({ filename, driver: sqliteDriver })
    }
  },
  {
    name: 'postgres',
    open: async (t) => {
      const schema = temporarySchema(t)
      return () => postgres({ connection: pgUrl(), schema })
    }
  }
]

for (const { name, open } of databases) {
  test(`gives a key one successor without overlap, however many ask for one concurrently, on ${name}`, async (t) => {
    const storageOf = await open(t)
    const { app: one } = await testApp(t, { storage: storageOf() })
    const { app: other } = await testApp(t, { storage: storageOf() })
    const successors: string[] = []
    for (let n = 0; n < KEYS; n++) {
      const { id } = await one.users.apiKeys.create({ name: `key ${n}` })
      const outcomes = await Promise.all(Array.from({ length: CALLS }, (_, i) =>
        (i % 2 === 0 ? one : other).users.apiKeys.rotate(id, { overlap: 0 })
          .then((next) => { successors.push(next.id) }, ({ code }: { code: string }) => code)))
      t.strictSame(outcomes.filter((code) => code !== undefined), Array(CALLS - 1).fill('api_key_inactive'))
    }
    const { data } = await other.users.apiKeys.list({ limit: 100 })
    t.strictSame(data.filter(({ rotatedFrom }) => rotatedFrom !== undefined).map(({ id }) => id), successors)
  })
}
