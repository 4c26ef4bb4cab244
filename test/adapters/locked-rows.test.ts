// A transaction of the host's that holds rows for long holds up those who write these rows, and nobody else.
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { migrated } from '../helpers/migrated.ts'
import { connectPg, pgHost } from '../helpers/postgres.ts'
import { apiKeyOf, idempotencyOf, idOf, rename, timeOf, userOf } from '../helpers/records.ts'
import { pgUrl, temporarySchema } from '../helpers/stores.ts'
import { addKey, addUser, addUserOnce, changeUser, removeUser } from '../helpers/writes.ts'

const POOL_MAX = 10

/** A store with three users, and a transaction of the host's that has locked some of them. */
async function withLocked (t: Test, ids: string[], statementTimeoutMs = 5000) {
  const schema = temporarySchema(t)
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema, statementTimeoutMs }))
  for (const n of [1, 2, 3]) await addUser(storage, userOf(n))
  const host = await connectPg(t)
  await host.query('begin')
  await host.query(`select 1 from "${schema}".fastify_users_users where id = any($1) for update`, [ids])
  return { storage, host, schema }
}

const codeOf = (error: unknown): unknown => Object(error).code

test('while the row of a user is locked, other writes and all reads go on', async (t) => {
  const one = idOf('usr', 1)
  const { storage, host } = await withLocked(t, [one], 15_000)
  const changes = Array.from({ length: 3 * POOL_MAX }, (_, i) => {
    if (i % 3 === 0) return removeUser(storage, one)
    const email = { value: `x${i}@example.org`, key: `x${i}@example.org` }
    return changeUser(storage, one, i % 3 === 1 ? rename(`x${i}`) : { email }, { updatedAt: timeOf(i) })
  })
  let ended = 0
  const codes = Promise.all(changes.map((each) => each.then(() => 'written', codeOf).finally(() => { ended++ })))
  // Each of these would wait for a connection behind those that wait for the row.
  for (let n = 10; n < 40; n++) {
    await addUser(storage, userOf(n))
    await storage.users.find(one)
    await changeUser(storage, idOf('usr', 2), rename(`y${n}`), { updatedAt: timeOf(n) })
    await addKey(storage, apiKeyOf(n))
    await removeUser(storage, idOf('usr', n))
  }
  t.equal(ended, 0, 'all of this was done while the row was locked')
  t.strictSame(new Set(await codes), new Set(['unavailable']), 'who waits for the row is told to come again')
  t.equal((await storage.users.find(one))?.version, 1)
  await host.query('rollback')
  t.equal((await changeUser(storage, one, rename('again'), { updatedAt: timeOf(50) })).user.version, 2)
})

test('reads of one connection while their table is locked all fail as unavailable', async (t) => {
  const { storage, host, schema } = await withLocked(t, [])
  const table = `"${schema}".fastify_users_users`
  // Connections of its own: the first of the reads prepares the statement for the others, and fails.
  const second = postgres({ connection: pgUrl(), schema, statementTimeoutMs: 1000 })
  t.teardown(() => second.close())
  await repositoryOf(second).apiKeys.find({ start: 'uk_000000000000' })
  await host.query(`lock table ${table} in access exclusive mode`)
  const reads: Array<Promise<unknown>> = []
  for (let n = 0; n < 10; n++) {
    reads.push(second.users.find(idOf('usr', n)).then(() => 'read', codeOf))
    // Those of one turn would be one statement.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  t.strictSame(new Set(await Promise.all(reads)), new Set(['unavailable']))
  await host.query('rollback')
  t.equal((await second.users.find(idOf('usr', 1)))?.id, idOf('usr', 1))
  await storage.open()
})

test('a creation that waits too long for the first one with its key fails as in progress', async (t) => {
  const schema = temporarySchema(t)
  // Long enough for a connection on a busy machine.
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema, statementTimeoutMs: 1000 }))
  const host = pgHost(t)
  await host.transaction(async (trx) => {
    const joined = knexStorage(host, { schema, profile: 'classic' }).join(trx)
    await addUserOnce(joined, userOf(1), idempotencyOf(1))
    await t.rejects(addUserOnce(storage, userOf(2), idempotencyOf(1)), { code: 'idempotency_in_progress' })
  })
  t.match(await addUserOnce(storage, userOf(3), idempotencyOf(1)), { user: { id: userOf(1).id }, replayed: true })
})
