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

const KEYS = 8
const DAY = 86_400
const CALLS = 8

const databases: ReadonlyArray<[name: string, open: (t: Test) => Promise<() => Storage>]> = [
  ['sqlite', async (t) => {
    const filename = join(await temporaryDirectory(t), 'users.db')
    return () => sqlite({ filename, driver: sqliteDriver })
  }],
  ['postgres', async (t) => {
    const schema = temporarySchema(t)
    return () => postgres({ connection: pgUrl(), schema })
  }]
]

for (const [name, open] of databases) {
  test(`gives a key one successor without overlap, however many ask for one concurrently, on ${name}`, async (t) => {
    const storageOf = await open(t)
    const { app: one } = await testApp(t, { storage: storageOf() })
    const { app: other } = await testApp(t, { storage: storageOf() })
    const successors: string[] = []
    for (let n = 0; n < KEYS; n++) {
      const { id } = await one.users.apiKeys.create({ name: `key ${n}` })
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
      const outcomes = await Promise.all(Array.from({ length: CALLS }, (_, i) =>
        (i % 2 === 0 ? one : other).users.apiKeys.rotate(id, i % 3 === 0 ? { overlap: 0, expiresAt } : { overlap: 0 })
          .then((next) => { successors.push(next.id) }, ({ code }: { code: string }) => code)))
      t.strictSame(outcomes.filter((code) => code !== undefined), Array(CALLS - 1).fill('api_key_inactive'))
    }
    const { data } = await other.users.apiKeys.list({ limit: 100 })
    t.strictSame(data.filter(({ rotatedFrom }) => rotatedFrom !== undefined).map(({ id }) => id), successors)
  })
}

test('a rotation gives the successor the lifetime that is asked for, and later ones take it over', async (t) => {
  const { app, call } = await testApp(t, { apiKeys: { routes: true } })
  const { id } = await app.users.apiKeys.create({ name: 'x', expiresIn: 100 * DAY })
  const lifeOf = ({ createdAt, expiresAt }: { createdAt: string, expiresAt?: string }) =>
    expiresAt === undefined ? Infinity : Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)
  const rotate = (of: string, payload: object) =>
    call('POST', `/api-keys/${of}/rotate`, { payload })
  const at = new Date(Date.now() + 20 * DAY * 1000).toISOString()
  t.equal(lifeOf((await rotate(id, {})).json()), 100 * DAY)
  t.equal((await rotate(id, { expiresAt: at })).json().expiresAt, at)
  t.equal(lifeOf((await rotate(id, { expiresAt: null })).json()), Infinity)
  const short = (await rotate(id, { expiresIn: 3 * DAY, overlap: 0 })).json()
  t.equal(lifeOf(short), 3 * DAY)
  t.equal(lifeOf((await rotate(short.id, {})).json()), 3 * DAY)
  for (const [payload, pointer, code] of [
    [{ expiresAt: '2001-01-01T00:00:00Z' }, '/expiresAt', 'past'],
    [{ expiresAt: 'soon' }, '/expiresAt', 'format'],
    [{ expiresAt: 5 }, '/expiresAt', 'invalid'],
    [{ expiresIn: 0 }, '/expiresIn', 'range'],
    [{ expiresAt: at, expiresIn: 5 }, '/expiresIn', 'exclusive']
  ] as const) {
    const { statusCode, json } = await rotate(short.id, payload)
    t.match([statusCode, json()], [400, { code: 'validation_failed', errors: [{ pointer, code }] }])
  }
})
