// Own fields in events, in repeated creations, and in a transaction of the host.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testApp } from '../helpers/app.ts'
import { ann, fields, fieldsApp, withoutType } from '../helpers/fields.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { stores } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

for (const { name, create } of stores) {
  test(`events on ${name} have the fields, frozen, and a repeated creation those of the first`, async (t) => {
    const { app: { users } } = await fieldsApp(t, await create(t))
    const seen: unknown[] = []
    for (const type of ['user.created', 'user.updated', 'user.deleted'] as const) {
      users.events.on(type, ({ data }) => { seen.push(data) })
    }
    const input = withoutType({ ...ann, anything: { a: [1] } })
    const created = await users.create(input, { idempotencyKey: 'k1' })
    const updated = await users.update(created.id, withoutType({ plan: 'pro' }))
    t.strictSame(await users.create(input, { idempotencyKey: 'k1' }), created)
    const other = withoutType({ ...input, plan: 'pro' })
    await t.rejects(users.create(other, { idempotencyKey: 'k1' }), { code: 'idempotency_key_reused' })
    await users.delete(created.id)
    await until('the third event', () => seen.length >= 3)
    t.strictSame(seen, [created, updated, updated])
    t.ok(seen.every((data) => Object.isFrozen(Object(data).anything.a)))
  })
}

test('fields in a transaction of the host are read, checked and rolled back with it', async (t) => {
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host), fields: { schema: fields } })
  const { id } = await users.create(withoutType({ ...ann, seats: 1 }))
  await t.rejects(host.transaction(async (trx) => {
    const joined = users.using(trx)
    await joined.update(id, withoutType({ seats: 2, address: { city: 'Oslo' } }))
    t.match(await joined.get(id), { seats: 2 })
    await t.rejects(joined.update(id, withoutType({ seats: 0 })), { code: 'validation_failed' })
    throw new Error('the host rolls back')
  }), /the host rolls back/)
  t.match(await users.get(id), { seats: 1, version: 1 })
})

test('an event has the fields that were stored, whatever the caller does with its result', async (t) => {
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host), fields: { schema: fields } })
  const seen: unknown[] = []
  users.events.on('user.created', ({ data }) => { seen.push(Object(data).anything) })
  await host.transaction(async (trx) => {
    const created = await users.using(trx).create(withoutType({ ...ann, anything: { x: 1 } }))
    Object(created).anything.x = 'changed by its caller'
  })
  await until('the event', () => seen.length > 0)
  t.strictSame(seen, [{ x: 1 }])
})
