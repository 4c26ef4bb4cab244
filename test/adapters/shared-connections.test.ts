// Pipelined reads share connections, and neither a lost connection nor a writer suffers from that.
import { join } from 'node:path'
import { test } from 'tap'
import { shareConnections } from '../../adapters/knex/connection/shared-connections.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { migrated } from '../helpers/migrated.ts'
import { connectPg, pgUrlWith, waitingForLock } from '../helpers/postgres.ts'
import { everyone, userOf } from '../helpers/records.ts'
import { sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addUser } from '../helpers/writes.ts'

for (const max of [1, 2, 4]) {
  test(`a pool of ${max}: concurrent reads are answered, and repeated if their connection is lost`, async (t) => {
    const schema = temporarySchema(t)
    const connection = pgUrlWith({ application_name: schema })
    const storage = await migrated(t, postgres({ connection, schema, pool: { max } }))
    const connections = () => sql('select pid from pg_stat_activity where application_name = $1', [schema])
    const reads = Array.from({ length: 300 }, (_, n) => storage.users.find(`usr_${n}`))
    const user = userOf(max)
    await addUser(storage, user)
    t.strictSame(await Promise.all(reads), reads.map(() => null))
    t.ok((await connections()).length <= max)

    const blocker = await connectPg(t)
    await blocker.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)
    const lost = Promise.all(Array.from({ length: Math.min(2, max) }, () => storage.users.find(user.id)))
    await until('a read that waits for the lock', async () => (await waitingForLock(schema)).length > 0)
    const [ended] = await waitingForLock(schema)
    await blocker.query('select pg_terminate_backend($1)', [ended])
    const waitsAgain = async () => (await waitingForLock(schema)).some((pid) => pid !== ended)
    await Promise.race([until('a read that waits on another connection', waitsAgain), lost])
    await blocker.end()
    const users = await lost
    t.strictSame(users, users.map(() => user), 'a read whose connection was lost is repeated')
  })
}

test('the only connection of a pool is not shared while others wait for it', async (t) => {
  let waiting = 0
  const released: unknown[] = []
  const pool = {
    driverName: 'sqlite3',
    pool: {
      max: 1,
      numUsed: () => 1,
      numFree: () => 0,
      numPendingCreates: () => 0,
      numPendingAcquires: () => waiting,
      release: () => true,
      on () {}
    },
    acquireConnection: async () => 'the only one',
    releaseConnection: async (connection: unknown) => { released.push(connection) }
  }
  const share = shareConnections(pool, 1, () => {})
  let end = () => {}
  const first = share(() => new Promise<void>((resolve) => { end = resolve }))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(await share(async () => 'joined'), 'joined')
  waiting = 1
  t.equal(share(async () => 'joined'), null)
  end()
  await first
  t.strictSame(released, ['the only one'])
  t.equal(await share(async () => 'again'), 'again')
})

test('sqlite: continuous reads do not keep a writer waiting', async (t) => {
  const storage = await migrated(t, sqlite({ filename: join(await temporaryDirectory(t), 'users.db') }))
  const list = (offset: number) => storage.users.list(everyone, { order: 'asc', limit: 3, from: { offset } })
  const reading = new AbortController()
  const readers = Array.from({ length: 16 }, async (_, n) => {
    while (!reading.signal.aborted) await (n % 2 === 0 ? storage.users.find(userOf(n).id) : list(n))
  })
  for (let n = 0; n < 50; n++) await addUser(storage, userOf(n))
  reading.abort()
  await Promise.all(readers)
  t.equal((await list(0)).total, 50)
})
