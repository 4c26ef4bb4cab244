// Creations with one idempotency key in PostgreSQL, while another one with the key is not finished.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { intercept } from '../helpers/intercept.ts'
import { migrated } from '../helpers/migrated.ts'
import { pgHost } from '../helpers/postgres.ts'
import { timeOf, userOf } from '../helpers/records.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { addUserOnce } from '../helpers/writes.ts'

const idempotency = { key: 'k', fingerprint: 'f', now: timeOf(0), expiresAt: '2027-01-01T00:00:00.000Z', note: null }

const create = (storage: Storage, n: number) =>
  addUserOnce(storage, userOf(n), idempotency)

test('a creation that waits too long for the first one with its key fails as in progress', async (t) => {
  const schema = temporarySchema(t)
  // Long enough for a connection on a busy machine.
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema, statementTimeoutMs: 1000 }))
  const host = pgHost(t)
  await host.transaction(async (trx) => {
    await create(knexStorage(host, { schema, profile: 'classic' }).join(trx), 1)
    await t.rejects(create(storage, 2), { code: 'idempotency_in_progress' })
  })
  t.match(await create(storage, 3), { user: { id: userOf(1).id }, replayed: true })
})

test('a key is free if its user is deleted while the key is looked up', async (t) => {
  const schema = temporarySchema(t)
  const host = pgHost(t)
  const storage = await migrated(t, knexStorage(host, { schema }))
  await create(storage, 1)
  intercept(host, async (statement, send) => {
    if (statement.includes('fingerprint AS')) {
      await sql(`delete from "${schema}".fastify_users_users where id = $1`, [userOf(1).id])
    }
    return send()
  })
  t.match(await create(storage, 2), { user: { id: userOf(2).id }, replayed: false })
})
