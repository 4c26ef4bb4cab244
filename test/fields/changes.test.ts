// Changes of own fields: merge patches, replacements, preconditions, concurrent patches, and the events of changes.
import { setImmediate } from 'node:timers/promises'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import { testApp } from '../helpers/app.ts'
import { ann, fields, fieldsApp, withoutType } from '../helpers/fields.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { replaceSteadyClock } from '../helpers/steady-clock.ts'
import { until } from '../helpers/until.ts'

test('changes of own fields', async (t) => {
  const { call, send, add, faultsOf } = await fieldsApp(t, memory())

  t.test('a merge patch changes the named members, inside objects too, and null removes', async (t) => {
    const id = await add('patch@example.org', { seats: 3, note: 'x', address: { city: 'Oslo', zip: '1' } })
    const patch = async (body: object) => {
      const { status, json } = await send('PATCH', `/users/${id}`, body)
      const { id: _id, name, email, status: _status, statusReason, version, createdAt, updatedAt, ...own } = json
      return [status, JSON.stringify(own)]
    }
    const steps: Array<[body: object, result: string]> = [
      [
        { address: { zip: null, tags: ['a'] } },
        '{"address":{"city":"Oslo","tags":["a"]},"note":"x","plan":"free","seats":3}'
      ],
      [{ seats: null, note: null, plan: 'pro' }, '{"address":{"city":"Oslo","tags":["a"]},"plan":"pro"}'],
      [{ address: null, anything: { a: null, b: { c: null } } }, '{"anything":{"b":{}},"plan":"pro"}'],
      [
        { anything: [null], address: { city: 'Rome' } },
        '{"address":{"city":"Rome"},"anything":[null],"plan":"pro"}'
      ]
    ]
    for (const [body, result] of steps) t.strictSame(await patch(body), [200, result])
    const { etag, json } = await send('GET', `/users/${id}`)
    const unchanged = [
      {}, { seats: null }, { plan: 'pro' }, { address: { city: 'Rome', zip: null } }, { address: {} }
    ]
    for (const same of unchanged) {
      const again = await send('PATCH', `/users/${id}`, same)
      t.strictSame([again.etag, again.json.updatedAt], [etag, json.updatedAt], `${JSON.stringify(same)} is no change`)
    }
    const faults = (body: object) => faultsOf('PATCH', `/users/${id}`, body)
    t.strictSame(await faults({ plan: null }), [400, '/plan type'], 'a required field stays')
    t.strictSame(await faults({ address: { city: null } }), [400, '/address/city type'])
    t.strictSame(
      await faults({ address: { unheardOf: 1 }, seats: 'x', name: '' }),
      [400, '/name too_short', '/seats type', '/address/unheardOf unknown']
    )
    await patch({ address: null })
    t.strictSame(await faults({ address: { zip: '1' } }), [400, '/address/city required'], 'the result is checked')
    const stale = await call('PATCH', `/users/${id}`, {
      payload: { address: { zip: '1' } }, headers: { 'if-match': '"2"' }
    })
    t.equal(stale.statusCode, 412, 'after the precondition')
    t.strictSame(await faultsOf('PATCH', '/users/usr_01h455vb4pex5vsknk084sn02q', { plan: 'pro' }), [404])
    t.strictSame(await faultsOf('PATCH', '/users/x', { plan: 'gold' }), [400, '/plan choice'])
  })

  t.test('another order of members is no change', async (t) => {
    const address = { city: 'Oslo', zip: '1' }
    const email = 'order@example.org'
    const id = await add(email, { seats: 3, plan: 'pro', address, anything: [{ a: 1, b: 2 }] })
    const { etag } = await send('GET', `/users/${id}`)
    const turned = { address: { zip: '1', city: 'Oslo' }, anything: [{ b: 2, a: 1 }], plan: 'pro', seats: 3 }
    t.equal((await send('PUT', `/users/${id}`, { ...turned, name: 'N', email })).etag, etag)
    t.equal((await send('PATCH', `/users/${id}`, turned)).etag, etag)
    t.not((await send('PATCH', `/users/${id}`, { anything: [{ a: 1, b: 3 }] })).etag, etag)
  })

  t.test('concurrent patches are all kept', async (t) => {
    const id = await add('race@example.org', { anything: {} })
    const numbers = Array.from({ length: 20 }, (_, i) => i)
    const patched = await Promise.all(numbers.map((i) =>
      send('PATCH', `/users/${id}`, { anything: { [`m${i}`]: i } })))
    for (const { status } of patched) t.equal(status, 200)
    const { json, etag } = await send('GET', `/users/${id}`)
    t.strictSame(Object.keys(json.anything).sort(), numbers.map((i) => `m${i}`).sort())
    t.equal(etag, '"21"')
  })

  t.test('PUT replaces all fields, and fills in defaults', async (t) => {
    const email = 'put@example.org'
    const id = await add(email, { plan: 'pro', seats: 3 })
    const put = await send('PUT', `/users/${id}`, { name: 'N', email, active: false })
    t.match(put, { status: 200, json: { plan: 'free', active: false } })
    t.notOk('seats' in put.json)
    const wrong = { name: 'N', email, plan: 'gold' }
    t.strictSame(await faultsOf('PUT', `/users/${id}`, wrong), [400, '/plan choice'])
    const again = await send('PUT', `/users/${id}`, { name: 'N', email, active: false })
    t.equal(again.etag, put.etag, 'the same again is no change')
  })
})

test('a patch of fields that has waited for too long for those before it is 503', async (t) => {
  const storage = memory()
  const { find } = storage.users
  const { app, call } = await testApp(t, { storage, fields: { schema: fields } })
  const { id } = await app.users.create(withoutType(ann))
  let release = (): void => {}
  let asked = 0
  storage.users.find = async (each) => {
    if (++asked === 1) await new Promise<void>((resolve) => { release = resolve })
    return find(each)
  }
  const first = call('PATCH', `/users/${id}`, { payload: { seats: 1 } })
  await until('the first has its turn', () => asked === 1)
  const second = app.users.update(id, withoutType({ seats: 2 }))
  second.catch(() => {})
  await setImmediate()
  const { now } = performance
  replaceSteadyClock(t, () => now.call(performance) + 3001)
  release()
  t.equal((await first).statusCode, 200)
  await t.rejects(second, { code: 'storage_unavailable' })
  t.match(await find(id), { fields: { seats: 1 } })
})

test('events have the fields, frozen, and a repetition is one of the fields too', async (t) => {
  const { app: { users } } = await fieldsApp(t, memory())
  const seen: unknown[] = []
  for (const type of ['user.created', 'user.updated'] as const) {
    users.events.on(type, ({ data }) => { seen.push(data) })
  }
  const input = withoutType({ ...ann, anything: { a: [1] } })
  const created = await users.create(input, { idempotencyKey: 'k1' })
  const updated = await users.update(created.id, withoutType({ plan: 'pro' }))
  const other = withoutType({ ...input, plan: 'pro' })
  await t.rejects(users.create(other, { idempotencyKey: 'k1' }), { code: 'idempotency_key_reused' })
  await until('the second event', () => seen.length >= 2)
  t.strictSame(seen, [created, updated])
  t.ok(seen.every((data) => Object.isFrozen(Object(data).anything.a)))
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
