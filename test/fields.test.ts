// The host's own fields: judged, kept, shown, changed and found, over HTTP and in process, on every store.
import { type TObject, Type } from '@sinclair/typebox'
import { test } from 'tap'
import Type1 from 'typebox'
import Fastify from 'fastify'
import { memory } from '../adapters/memory/index.ts'
import { sqlite } from '../adapters/sqlite.ts'
import { readFields } from '../lib/fields/fields-schema.ts'
import users, { type FieldsJsonSchema, type Storage, type UsersOptions } from '../lib/index.ts'
import { testApp } from './helpers/app.ts'
import { captureLog } from './helpers/log.ts'
import { stores } from './helpers/stores.ts'
import './helpers/watch-all.ts'
import { sqliteHost } from './helpers/sqlite.ts'

const fields = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free' }),
  seats: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  active: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.Union([Type.String({ maxLength: 300 }), Type.Null()])),
  address: Type.Optional(Type.Object({ city: Type.String(), zip: Type.Optional(Type.String()), tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })) })),
  anything: Type.Optional(Type.Unknown())
})
const filterable = ['plan', 'seats', 'active']
const ann = { name: 'Ann', email: 'ann@example.org' }

/** What app.users takes, where the compiler knows no fields. */
const untyped = (value: object) => Object(value)

/** A value of arrays in each other. */
const nested = (depth: number): unknown => depth === 0 ? 1 : [nested(depth - 1)]

for (const { name, create } of stores) {
  test(`fields on ${name}`, async (t) => {
    const { app, call } = await testApp(t, { storage: await create(t), fields, filterable })
    const send = async (method: string, path: string, payload?: object) => {
      const answer = await call(method, path, payload === undefined ? {} : { payload })
      return { status: answer.statusCode, body: answer.body, json: answer.body === '' ? null : answer.json(), etag: answer.headers.etag }
    }
    const add = async (email: string, more: object) => {
      const { status, json } = await send('POST', '/users', { name: 'N', email, ...more })
      t.equal(status, 201)
      return String(json.id)
    }
    const faultsOf = async (method: string, path: string, payload: object) => {
      const { status, json } = await send(method, path, payload)
      return [status, ...(json.errors ?? []).map(({ pointer, code }: { pointer: string, code: string }) => `${pointer} ${code}`)]
    }

    t.test('come back as they were sent, between our own members, with defaults', async (t) => {
      const { json: { id, createdAt, updatedAt, ...shown }, body } = await send('POST', '/users', { ...ann, address: { zip: '1', city: 'Oslo' }, seats: 3, anything: { z: [null, 1.5, '🦊'], a: {} } })
      const text = '"name":"Ann","email":"ann@example.org","address":{"zip":"1","city":"Oslo"},"seats":3,"anything":{"z":[null,1.5,"🦊"],"a":{}},"plan":"free"'
      t.equal(body, `{"id":"${id}",${text},"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`)
      for (const path of [`/users/${id}`, '/users', '/users?q=ann']) t.ok((await send('GET', path)).body.includes(text), path)
      t.strictSame(await app.users.get(id), { id, ...shown, version: 1, createdAt, updatedAt })
      t.strictSame((await app.users.list()).data, [await app.users.get(id)])
      for await (const each of app.users) t.strictSame(each, await app.users.get(id))
    })

    t.test('a body is refused with every fault at its place', async (t) => {
      const rows: Array<[object, ...string[]]> = [
        [{ plan: 'gold' }, '/plan choice'],
        [{ plan: null }, '/plan type'],
        [{ seats: '3', active: 'true', note: 5, address: 'x' }, '/seats type', '/active type', '/note choice', '/address type'],
        [{ seats: 0 }, '/seats range'],
        [{ seats: 1001 }, '/seats range'],
        [{ seats: 1.5 }, '/seats type'],
        [{ note: 'x'.repeat(301) }, '/note choice'],
        [{ address: {} }, '/address/city required'],
        [{ address: { city: 'x', unheardOf: 1, tags: ['a', 'b', 'c', 'd'] } }, '/address/unheardOf unknown', '/address/tags too_many'],
        [{ address: { city: 'x', tags: [1] } }, '/address/tags/0 type'],
        [{ unheardOf: 1, __proto: 1, seats: 0 }, '/unheardOf unknown', '/__proto unknown', '/seats range'],
        [{ anything: 'a\0b' }, '/anything characters'],
        [{ anything: ['\ud800'] }, '/anything/0 characters'],
        [{ anything: { 'a\0': 1 } }, '/anything characters'],
        [{ anything: { 'a/b~c': '\0' } }, '/anything/a~1b~0c characters'],
        [{ anything: 2 ** 53 }, '/anything range'],
        [{ anything: nested(8) }, `/anything${'/0'.repeat(7)} too_deep`],
        [{ anything: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`m${i}`, i])) }, '/anything too_many'],
        [{ name: 5, seats: 0 }, '/name type', '/seats range']
      ]
      for (const [body, ...faults] of rows) t.strictSame(await faultsOf('POST', '/users', { name: 'N', email: 'n@example.org', ...body }), [400, ...faults], JSON.stringify(body).slice(0, 60))
      t.strictSame(await faultsOf('POST', '/users', []), [400, ' type'], 'what is no object has one fault')
      const constructor = await call('POST', '/users', { payload: '{"name":"N","email":"n@example.org","anything":{"__proto__":{}}}', headers: { 'content-type': 'application/json' } })
      t.equal(constructor.statusCode, 400)
      t.equal((await send('GET', '/users?email=n@example.org')).json.meta.total, 0)
    })

    t.test('what lies just within the limits is kept', async (t) => {
      const anything = { deep: nested(6), many: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`m${i}`, i])), most: Number.MAX_SAFE_INTEGER, part: 0.1 }
      const id = await add('limits@example.org', { anything })
      t.equal(JSON.stringify((await send('GET', `/users/${id}`)).json.anything), JSON.stringify(anything))
    })

    t.test('a merge patch changes what it names, in objects too, and null removes', async (t) => {
      const id = await add('patch@example.org', { seats: 3, note: 'x', address: { city: 'Oslo', zip: '1' } })
      const patch = async (body: object) => {
        const { status, json } = await send('PATCH', `/users/${id}`, body)
        const { id: _id, name, email, createdAt, updatedAt, ...rest } = json
        return [status, JSON.stringify(rest)]
      }
      t.strictSame(await patch({ address: { zip: null, tags: ['a'] } }), [200, '{"seats":3,"note":"x","address":{"city":"Oslo","tags":["a"]},"plan":"free"}'])
      t.strictSame(await patch({ seats: null, note: null, plan: 'pro' }), [200, '{"address":{"city":"Oslo","tags":["a"]},"plan":"pro"}'])
      t.strictSame(await patch({ address: null, anything: { a: null, b: { c: null } } }), [200, '{"plan":"pro","anything":{"b":{}}}'])
      t.strictSame(await patch({ anything: [null], address: { city: 'Rome' } }), [200, '{"plan":"pro","anything":[null],"address":{"city":"Rome"}}'])
      const { etag, json } = await send('GET', `/users/${id}`)
      for (const same of [{}, { seats: null }, { plan: 'pro' }, { address: { city: 'Rome', zip: null } }, { address: {} }]) {
        const again = await send('PATCH', `/users/${id}`, same)
        t.strictSame([again.etag, again.json.updatedAt], [etag, json.updatedAt], `${JSON.stringify(same)} is no change`)
      }
      t.strictSame(await faultsOf('PATCH', `/users/${id}`, { plan: null }), [400, '/plan type'], 'what is required stays')
      t.strictSame(await faultsOf('PATCH', `/users/${id}`, { address: { city: null } }), [400, '/address/city type'])
      t.strictSame(await faultsOf('PATCH', `/users/${id}`, { address: { unheardOf: 1 }, seats: 'x', name: '' }), [400, '/name too_short', '/seats type', '/address/unheardOf unknown'])
      await patch({ address: null })
      t.strictSame(await faultsOf('PATCH', `/users/${id}`, { address: { zip: '1' } }), [400, '/address/city required'], 'what it leads to is judged')
      t.strictSame(await faultsOf('PATCH', '/users/usr_01h455vb4pex5vsknk084sn02q', { plan: 'pro' }), [404])
      t.strictSame(await faultsOf('PATCH', '/users/x', { plan: 'gold' }), [400, '/plan choice'])
    })

    t.test('preconditions hold for fields, and are judged before what a patch leads to', async (t) => {
      const id = await add('match@example.org', {})
      const patch = (payload: object, headers: Record<string, string>) => call('PATCH', `/users/${id}`, { payload, headers })
      t.equal((await patch({ plan: 'pro' }, { 'if-match': '"2"' })).statusCode, 412)
      t.equal((await patch({ address: { zip: '1' } }, { 'if-match': '"2"' })).statusCode, 412)
      await add('taken@example.org', {})
      t.equal((await patch({ plan: 'pro', email: 'taken@example.org' }, {})).statusCode, 409)
      t.equal((await patch({ plan: 'pro' }, { 'if-match': '*', 'if-none-match': '"7"' })).headers.etag, '"2"')
      t.equal((await patch({ plan: 'free', name: 'New' }, { 'if-match': '"2"' })).headers.etag, '"3"')
      t.match((await send('GET', `/users/${id}`)).json, { name: 'New', plan: 'free' })
    })

    t.test('many patches at once are none of them lost; under one version one wins', async (t) => {
      const id = await add('race@example.org', { anything: {} })
      await Promise.all(Array.from({ length: 20 }, (_, i) => send('PATCH', `/users/${id}`, { anything: { [`m${i}`]: i } }).then(({ status }) => t.equal(status, 200))))
      const { json, etag } = await send('GET', `/users/${id}`)
      t.strictSame(Object.keys(json.anything).sort(), Array.from({ length: 20 }, (_, i) => `m${i}`).sort())
      t.equal(etag, '"21"')
      const raced = await Promise.all(Array.from({ length: 20 }, (_, i) => call('PATCH', `/users/${id}`, { payload: { seats: i + 1 }, headers: { 'if-match': '"21"' } })))
      t.strictSame(raced.map(({ statusCode }) => statusCode).sort(), [200, ...Array.from({ length: 19 }, () => 412)])
    })

    t.test('PUT replaces all of them, and fills in defaults', async (t) => {
      const id = await add('put@example.org', { plan: 'pro', seats: 3 })
      const put = await send('PUT', `/users/${id}`, { name: 'N', email: 'put@example.org', active: false })
      t.match(put, { status: 200, json: { plan: 'free', active: false } })
      t.notOk('seats' in put.json)
      t.strictSame(await faultsOf('PUT', `/users/${id}`, { name: 'N', email: 'put@example.org', plan: 'gold' }), [400, '/plan choice'])
      t.equal((await send('PUT', `/users/${id}`, { name: 'N', email: 'put@example.org', active: false })).etag, put.etag, 'again is no change')
    })

    t.test('all fields have at most 16 KiB, also what many patches lead to', async (t) => {
      const id = await add('large@example.org', { anything: { a: 'x'.repeat(9000) } })
      t.strictSame(await faultsOf('PATCH', `/users/${id}`, { anything: { b: 'é'.repeat(4000) } }), [400, ' too_large'], 'bytes count, not characters')
      await t.rejects(app.users.create(untyped({ ...ann, email: 'larger@example.org', anything: 'x'.repeat(17_000) })), { code: 'validation_failed', errors: [{ pointer: '', code: 'too_large' }] })
      t.equal((await send('POST', '/users', { ...ann, anything: 'x'.repeat(17_000) })).status, 413)
      for (let i = 0; i < 7; i++) await send('PATCH', `/users/${id}`, { anything: { a: null, [`o${i}`]: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`m${i}${n}`, n])) } })
      t.strictSame(await faultsOf('PATCH', `/users/${id}`, { anything: Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`n${n}`, n])) }), [400, '/anything too_many'])
    })

    t.test('lists are narrowed by them, by type and exactly', async (t) => {
      await add('f1@example.org', { plan: 'pro', seats: 7, active: true })
      await add('f2@example.org', { plan: 'free', seats: 7, active: false })
      const list = async (query: string) => {
        const { status, json } = await send('GET', `/users?${query}`)
        return status === 200 ? [json.meta.total, ...json.data.map(({ email }: { email: string }) => email)] : [status, ...json.errors.map(({ parameter, code }: { parameter: string, code: string }) => `${parameter} ${code}`)]
      }
      t.strictSame(await list('seats=7'), [2, 'f1@example.org', 'f2@example.org'])
      t.strictSame(await list('seats=7&sort=-createdAt&limit=1'), [2, 'f2@example.org'])
      t.strictSame(await list('seats=7.0e0&plan=pro'), [1, 'f1@example.org'])
      t.strictSame(await list('active=true&q=f1&email=F1@example.org'), [1, 'f1@example.org'])
      t.strictSame(await list('seats=8'), [0])
      t.strictSame(await list('plan=gold'), [0], 'what nobody has is nobody')
      for (const wrong of ['seats=x', 'seats=', 'seats=07', 'seats=0x7', 'seats=+7', 'seats=Infinity', 'seats=1e999', 'seats=%207', 'active=1', 'active=True', 'active=']) {
        t.strictSame(await list(wrong), [400, `${wrong.split('=')[0]} type`], wrong)
      }
      t.strictSame(await list('plan=a%00b&note=x&unheardOf=1'), [400, 'note unknown', 'unheardOf unknown', 'plan type'])
      t.strictSame(await list('plan=pro&plan=free'), [400, 'plan duplicate'])
      const { headers } = await call('GET', '/users?seats=7&limit=1')
      t.equal(headers.link, '</v1/users?seats=7&limit=1&page=1>; rel="first", </v1/users?seats=7&limit=1&page=2>; rel="next", </v1/users?seats=7&limit=1&page=2>; rel="last"')
      t.equal((await app.users.list(untyped({ seats: 7 }))).meta.total, 2)
      await t.rejects(app.users.list(untyped({ seats: '7' })), { errors: [{ parameter: 'seats', code: 'type' }] })
      const found: string[] = []
      for await (const { email } of app.users.iterate(untyped({ seats: 7 }))) found.push(email)
      t.strictSame(found, ['f1@example.org', 'f2@example.org'])
    })

    t.test('in process only plain JSON goes in, nothing is shared, and undefined is absent', async (t) => {
      const anything = { list: [1], inner: { a: undefined, b: 1 } }
      const created = await app.users.create(untyped({ ...ann, email: 'shared@example.org', seats: undefined, anything }))
      anything.list.push(2)
      const of = async () => Object(await app.users.get(created.id))
      t.strictSame((await of()).anything, { list: [1], inner: { b: 1 } })
      t.notOk('seats' in created)
      const circle: Record<string, unknown> = {}
      circle['circle'] = circle
      for (const odd of [new Date(), () => 1, Symbol('x'), 1n, NaN, Infinity, new Map(), circle, [undefined], new Uint8Array(2)]) {
        await t.rejects(app.users.update(created.id, untyped({ anything: odd })), { code: 'validation_failed' })
      }
      t.strictSame((await app.users.update(created.id, untyped({ anything: Object.assign(Object.create(null), { x: 1 }) }))), await of())
      const poisoned: unknown = JSON.parse('{"__proto__":{"x":1}}')
      await t.rejects(app.users.update(created.id, untyped({ anything: poisoned })), { errors: [{ pointer: '/anything', code: 'characters' }] })
      await t.rejects(app.users.create(JSON.parse('{"name":"N","email":"p@example.org","__proto__":{"plan":"pro"}}')), { errors: [{ pointer: '/__proto__', code: 'unknown' }] })
    })

    t.test('events tell of them, frozen, and a replayed creation has those of the first', async (t) => {
      const told: unknown[] = []
      const stops = (['user.created', 'user.updated', 'user.deleted'] as const).map((type) => app.users.events.on(type, ({ data }) => { told.push(data) }))
      const input = untyped({ ...ann, email: 'event@example.org', anything: { a: [1] } })
      const created = await app.users.create(input, { idempotencyKey: 'k1' })
      const updated = await app.users.update(created.id, untyped({ plan: 'pro' }))
      t.strictSame(await app.users.create(input, { idempotencyKey: 'k1' }), created)
      await t.rejects(app.users.create(untyped({ ...input, plan: 'pro' }), { idempotencyKey: 'k1' }), { code: 'idempotency_key_reused' })
      await app.users.delete(created.id)
      while (told.length < 3) await new Promise((resolve) => setImmediate(resolve))
      t.strictSame(told, [created, updated, updated])
      t.ok(told.every((data) => Object.isFrozen(Object(data).anything.a)))
      for (const stop of stops) stop()
    })

    t.test('what several get at once is shared by none of them', async (t) => {
      const { id } = await app.users.create(untyped({ ...ann, email: 'several@example.org', anything: { a: [1] } }))
      const got = await Promise.all([app.users.get(id), app.users.get(id), ...[1, 2].map(async () => (await app.users.list({ sort: '-createdAt' })).data[0])])
      for (const user of got) Object(user).anything.a.push(2)
      t.strictSame(got.map((user) => Object(user).anything.a), [[1, 2], [1, 2], [1, 2], [1, 2]])
    })
  })

  test(`a mount without the option, or with another schema, on the data of one that had it, on ${name}`, async (t) => {
    const storage: Storage = await create(t)
    const shared = { ...storage, close: async () => {} }
    t.teardown(() => storage.close())
    const first = await testApp(t, { storage: shared, fields })
    const { id } = await first.app.users.create(untyped({ ...ann, plan: 'pro', seats: 3, address: { city: 'Oslo' } }))
    const bare = await testApp(t, { storage: shared })
    t.strictSame(Object.keys(await bare.app.users.get(id)), ['id', 'name', 'email', 'version', 'createdAt', 'updatedAt'], 'nothing is shown that is not declared')
    await bare.app.users.update(id, { name: 'Anna' })
    t.match((await bare.call('PUT', `/users/${id}`, { payload: { ...ann, name: 'Ann' } })).statusCode, 200)
    t.match(await first.app.users.get(id), { plan: 'pro', seats: 3 }, 'and nothing is lost')

    const log = captureLog()
    const app = Fastify({ logger: { stream: log.stream } })
    t.teardown(() => app.close())
    const newer = Type.Object({ plan: Type.Integer(), level: Type.Integer(), address: Type.Optional(Type.Object({ city: Type.String({ minLength: 9 }) })), team: Type.Optional(Type.String()) })
    await app.register(users, { storage: shared, fields: newer })
    for (let n = 0; n < 3; n++) t.match(await app.users.get(id), { plan: 'pro', address: { city: 'Oslo' } }, 'it is served as it is')
    t.notOk('seats' in await app.users.get(id))
    const lines = log.entries().filter(({ msg }) => String(msg).includes('does not match the option fields'))
    t.match(lines, [{ level: 40, userId: id }])
    t.equal(lines.length, 1, 'and logged once')
    t.notMatch(log.text(), 'Oslo')
    t.match(await app.users.update(id, untyped({ team: 'blue' })), { team: 'blue', plan: 'pro' }, 'a patch judges what it touches')
    await t.rejects(app.users.update(id, untyped({ address: { city: 'Rome' } })), { errors: [{ pointer: '/address/city', code: 'too_short' }] })
    t.match(await app.users.update(id, untyped({ plan: 5 })), { plan: 5 })
    t.match(await first.app.users.get(id), { seats: 3 }, 'and leaves what is not declared')
  })
}

test('in a transaction of the host’s, on its own rows', async (t) => {
  const { knexStorage } = await import('../adapters/knex/index.ts')
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  const { app } = await testApp(t, { storage: knexStorage(host), fields })
  const { id } = await app.users.create(untyped({ ...ann, seats: 1 }))
  await host.transaction(async (trx) => {
    const within = app.users.using(trx)
    await within.update(id, untyped({ seats: 2, address: { city: 'Oslo' } }))
    t.match(await within.get(id), { seats: 2 })
    await t.rejects(within.update(id, untyped({ seats: 0 })), { code: 'validation_failed' })
    await trx.rollback()
  }).catch(() => {})
  t.match(await app.users.get(id), { seats: 1, version: 1 })

  const told: unknown[] = []
  app.users.events.on('user.created', ({ data }) => { told.push(Object(data).anything) })
  await host.transaction(async (trx) => {
    const created = await app.users.using(trx).create(untyped({ ...ann, email: 'b@example.org', anything: { x: 1 } }))
    Object(created).anything.x = 'changed by its caller'
  })
  while (told.length === 0) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(told, [{ x: 1 }], 'what was stored is what is told')
})

test('a schema of typebox 1 or in plain JSON Schema says the same as one of @sinclair/typebox', async (t) => {
  interface Given { plan: 'free' | 'pro', seats?: number, address?: { city: string, zip?: string }, tags?: string[], quotas?: Record<string, number>, note?: string | null }
  const plain: FieldsJsonSchema<Given> = {
    type: 'object',
    required: ['plan'],
    properties: {
      plan: { enum: ['free', 'pro'], default: 'free', type: 'string' },
      seats: { type: 'integer', minimum: 1 },
      address: { type: 'object', required: ['city'], properties: { city: { type: 'string' }, zip: { type: 'string' } } },
      tags: { type: 'array', items: { type: 'string' } },
      quotas: { type: 'object', patternProperties: { '^.*$': { type: 'number' } } },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] }
    }
  }
  const schemas = {
    plain,
    '@sinclair/typebox': Type.Object({
      plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free' }),
      seats: Type.Optional(Type.Integer({ minimum: 1 })),
      address: Type.Optional(Type.Object({ city: Type.String(), zip: Type.Optional(Type.String()) })),
      tags: Type.Optional(Type.Array(Type.String())),
      quotas: Type.Optional(Type.Record(Type.String(), Type.Number())),
      note: Type.Optional(Type.Union([Type.String(), Type.Null()]))
    }),
    typebox: Type1.Object({
      plan: Type1.Union([Type1.Literal('free'), Type1.Literal('pro')], { default: 'free' }),
      seats: Type1.Optional(Type1.Integer({ minimum: 1 })),
      address: Type1.Optional(Type1.Object({ city: Type1.String(), zip: Type1.Optional(Type1.String()) })),
      tags: Type1.Optional(Type1.Array(Type1.String())),
      quotas: Type1.Optional(Type1.Record(Type1.String(), Type1.Number())),
      note: Type1.Optional(Type1.Union([Type1.String(), Type1.Null()]))
    })
  }
  const read = Object.entries(schemas).map(([, schema]) => readFields(schema, ['plan', 'seats'], { members: [], parameters: [] }))
  for (const each of read) t.same(each.filters, new Map([['plan', 'string'], ['seats', 'number']]))
  for (const [name, schema] of Object.entries(schemas)) {
    const { app, call } = await testApp(t, { fields: schema, filterable: ['plan', 'seats'] })
    const created = await call('POST', '/users', { payload: { ...ann, seats: 2, address: { city: 'Oslo' }, tags: ['a'], quotas: { a: 1 }, note: null } })
    t.match([created.statusCode, created.json()], [201, { plan: 'free', seats: 2, address: { city: 'Oslo' }, tags: ['a'], quotas: { a: 1 }, note: null }], name)
    const refused = await call('POST', '/users', { payload: { name: 'B', email: 'b@example.org', plan: 'gold', seats: 0, address: { zip: 1, street: 'x' }, tags: 'a', quotas: { a: 'b' }, note: 5 } })
    t.equal(refused.statusCode, 400)
    t.strictSame(refused.json().errors.map(({ pointer, code }: { pointer: string, code: string }) => `${pointer} ${code}`).sort(), [
      '/address/city required', '/address/street unknown', '/address/zip type', '/note choice', '/plan choice', '/quotas/a type', '/seats range', '/tags type'
    ], name)
    t.equal((await call('GET', '/users?plan=free&seats=2')).json().meta.total, 1, name)
    await app.close()
  }
})

test('wrong options are told at the registration', async (t) => {
  const rows: Array<[Partial<UsersOptions>, RegExp]> = [
    [{ fields: untyped({ type: 'string' }) }, /fields must be a JSON Schema of an object/],
    [{ fields: untyped([]) }, /fields must be a JSON Schema of an object/],
    [{ filterable: ['plan'] }, /filterable names fields, and there is no option fields/],
    [{ fields, filterable: ['plan', 'plan'] }, /filterable must be a list of names of fields, each once/],
    [{ fields, filterable: ['city'] }, /filterable names city, which is no field/],
    [{ fields, filterable: ['address'] }, /address can not be filterable: its values must all be strings/],
    [{ fields, filterable: ['note'] }, /note can not be filterable: its values must all be strings/],
    [{ fields: Type.Object({ page: Type.Integer() }), filterable: ['page'] }, /page can not be filterable: lists have a parameter of this name/],
    [{ fields: Type.Object({ 'a-b': Type.Integer() }), filterable: ['a-b'] }, /a-b can not be filterable: its name/],
    [{ fields: Type.Object({ mixed: Type.Union([Type.Literal('a'), Type.Literal(1)]) }), filterable: ['mixed'] }, /mixed can not be filterable/],
    ...['id', 'name', 'email', 'version', 'createdAt', 'updatedAt'].map((each): [Partial<UsersOptions>, RegExp] => [{ fields: Type.Object({ [each]: Type.String() }) }, new RegExp(`${each} is a member that users have already`)]),
    [{ fields: Type.Object({ '': Type.String() }) }, /a field must have a name/],
    [{ fields: Type.Object({ team: Type.Ref('Team') }) }, /team refers to another schema/],
    [{ fields: Type.Object({ team: Type.Object({ lead: Type.Array(Type.Ref('Team')) }) }) }, /team refers to another schema/],
    [{ fields: Type.Object(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, Type.String()]))) }, /there are 65 fields; at most 64/],
    ...[
      { code: Type.Transform(Type.String()).Decode((text) => text).Encode((text) => text) },
      { code: Type.Array(Type.Transform(Type.String()).Decode((text) => text).Encode((text) => text)) }
    ].map((code): [Partial<UsersOptions>, RegExp] => [{ fields: Type.Object(code) }, /code has a refinement or a transform, which JSON Schema can not express/]),
    ...[
      Type1.Object({ code: Type1.Refine(Type1.String(), (text) => text.length > 2) }),
      Type1.Object({ code: Type1.Object({ deep: Type1.Codec(Type1.String()).Decode((text) => text).Encode((text) => text) }) })
    ].map((fields): [Partial<UsersOptions>, RegExp] => [{ fields }, /code has a refinement or a transform, which JSON Schema can not express/]),
    [{ fields: Type1.Object({ at: Type1.BigInt() }) }, /wrong fields:\n- .*type/],
    [{ fields: Type.Object({ at: Type.Date() }) }, /wrong fields:\n- .*type/],
    [{ fields: Type.Object({ at: Type.String({ format: 'unheard-of' }) }) }, /unknown format "unheard-of"/],
    [{ fields: Type.Object({ at: Type.String(untyped({ maxLenght: 5 })) }) }, /unknown keyword: "maxLenght"/],
    [{ fields: Type.Object({ plan: Type.Integer({ default: 'x' }) }) }, /a default of plan does not match its schema/],
    [{ fields: Type.Object({ plan: Type.String({ default: 'a\0b' }) }) }, /a default of plan does not match its schema/],
    [{ fields: Type.Object({ plan: Type.Object({ deep: Type.Array(Type.Object({ n: Type.String({ default: 5 }) })) }) }) }, /a default of plan does not match its schema/],
    [{ fields: Type.Object({ plan: Type.String() }, { additionalProperties: true }) }, /the outermost object can not have additionalProperties: use it inside a field/],
    [{ fields: Type.Object({ plan: Type.String() }, { minProperties: 1 }) }, /the outermost object can not have minProperties/]
  ]
  for (const [options, message] of rows) {
    const app = Fastify()
    await t.rejects(async () => app.register(users, { storage: memory(), ...options }), { message })
    await app.close().catch(() => {})
  }
})

test('a host that forgot the index of a filter is told so', async (t) => {
  const storage = sqlite({ filename: ':memory:' })
  t.teardown(() => storage.close())
  await storage.migrate()
  await t.rejects(async () => Fastify().register(users, { storage: { ...storage, close: async () => {} }, fields, filterable: ['plan', 'seats'] }), { code: 'schema_behind', message: /no index for lists filtered by plan, seats: call storage\.migrate\(\{ filterable \}\)/ })
})

test('schemas that speak of one value together are judged as they were meant', async (t) => {
  const [a, b, c] = [Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() }), Type.Object({ c: Type.Integer() })]
  const schema = Type.Object({
    mixed: Type.Optional(Type.Intersect([a, Type.Union([b, c])])),
    beside: Type.Optional(Type.Unsafe<object>({ type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ properties: { b: { type: 'integer' } }, required: ['b'] }, { required: ['a'] }] })),
    terms: Type.Optional(Type.Unsafe<object>({ type: 'object', properties: { k: { type: 'string' }, v: {} }, if: { properties: { k: { const: 'n' } } }, then: { properties: { v: { type: 'number' } } } })),
    unlike: Type.Optional(Type.Not(a)),
    closed: Type.Optional(Type.Intersect([a, b], { unevaluatedProperties: false })),
    flag: Type.Union([Type.Integer(), Type.Null()]),
    flags: Type.Union([Type.Integer(), Type.Array(Type.Integer()), Type.Null()]),
    any: Type.Unknown(),
    nothing: Type.Null(),
    noText: Type.Not(Type.String()),
    three: Type.Unsafe<string>({ type: ['string', 'integer', 'null'] }),
    listed: Type.Unsafe<string>({ enum: ['a', null] }),
    exact: Type.Optional(Type.Literal('x')),
    either: Type.Optional(Type.Unsafe<object>({ oneOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] }] })),
    choice: Type.Optional(Type.Unsafe<string>({ enum: ['a', 1, null] })),
    constant: Type.Optional(Type.Unsafe<null>({ const: null })),
    typed: Type.Optional(Type.Unsafe<string>({ type: 'string', allOf: [{ minLength: 2 }] })),
    oneOf: Type.Optional(Type.String()),
    group: Type.Optional(Type.Object({ anyOf: Type.Optional(Type.String()), constructor: Type.Optional(Type.String()) })),
    constructor: Type.Optional(Type.String()),
    toString: Type.Optional(Type.Integer())
  })
  const base = { ...ann, flag: null, flags: null, any: 1, nothing: null, three: null, listed: null, noText: 1 }
  const { app, call } = await testApp(t, { fields: schema, filterable: ['constructor', 'toString', 'exact'] })
  const { id } = await app.users.create(untyped(base))
  const send = async (method: string, payload: object) => {
    const { statusCode, body } = await call(method, `/users/${id}`, { payload })
    return statusCode === 200 ? 200 : JSON.parse(body).errors.map(({ pointer, code }: { pointer: string, code: string }) => `${pointer} ${code}`)
  }
  const rows: Array<[string, object, 200 | string[]]> = [
    ['PUT', { mixed: { a: 'x', b: 1 } }, 200],
    ['PUT', { mixed: { a: 'x', d: 1, b: 1 } }, ['/mixed/d unknown']],
    ['PUT', { mixed: { a: 'x' } }, ['/mixed choice']],
    ['PUT', { beside: { a: 'x', b: 1 } }, 200],
    ['PUT', { beside: { a: 'x', d: 1 } }, ['/beside/d unknown']],
    ['PUT', { terms: { k: 'n', v: 1 } }, 200],
    ['PUT', { terms: { k: 'n', v: 'x' } }, ['/terms/v type', '/terms invalid']],
    ['PUT', { terms: { k: 'm', v: 'x' } }, 200],
    ['PUT', { unlike: { a: 'x', e: 1 } }, ['/unlike invalid']],
    ['PUT', { closed: { a: 'x', b: 1, c: 1 } }, ['/closed/c unknown']],
    ['PUT', { oneOf: 5, group: { anyOf: 5 } }, ['/oneOf type', '/group/anyOf type']],
    ['PUT', { constructor: 'x', toString: 5, group: { constructor: 'y' } }, 200],
    ['PUT', { group: {} }, 200],
    ['PATCH', { flag: null }, ['/flag type']],
    ['PATCH', { flags: null }, ['/flags invalid']],
    ['PATCH', { any: null }, ['/any invalid']],
    ['PATCH', { nothing: null }, ['/nothing invalid']],
    ['PATCH', { three: null, listed: null }, ['/three type', '/listed choice']],
    ['PATCH', { noText: null }, ['/noText invalid']],
    ['PATCH', { noText: 'x' }, ['/noText invalid']],
    ['PATCH', { three: 5, listed: 'a', noText: [] }, 200],
    ['PUT', { either: { a: 'x' } }, 200],
    ['PATCH', { either: { a: null, b: 1 } }, 200],
    ['PATCH', { choice: 1 }, 200],
    ['PATCH', { choice: null, constant: null, typed: null, mixed: null, closed: null }, 200],
    ['PATCH', { typed: 'x' }, ['/typed choice']],
    ['PATCH', { typed: 'xx', mixed: { a: 'y', c: 2 } }, 200],
    ['PATCH', { mixed: { b: 1, c: null } }, 200],
    ['PATCH', { flag: 5, constructor: null }, 200]
  ]
  for (const [method, body, expected] of rows) t.strictSame(await send(method, method === 'PUT' ? { ...base, ...body } : body), expected, `${method} ${JSON.stringify(body)}`)
  t.strictSame((await call('GET', '/users')).json().meta.total, 1)
  t.strictSame((await call('GET', '/users?toString=5')).json().meta.total, 0)
  t.strictSame((await call('POST', '/users', { payload: { ...ann, email: 'b@example.org', flag: 1, flags: 1, any: 1, three: 1, listed: 'a', noText: 1 } })).json().errors, [{ pointer: '/nothing', code: 'required', detail: 'is required' }])
})

test('an answer about a body of odd names is not much larger than that', async (t) => {
  const { call, app } = await testApp(t, { fields: Type.Object({ anything: Type.Unknown(), list: Type.Optional(Type.Array(Type.Integer())) }) })
  const rows = [{ anything: { ['n'.repeat(8000)]: Array.from({ length: 1000 }, () => 1e99) } }, { anything: 1, list: Array.from({ length: 3000 }, () => 'x') }, { anything: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`m${i}`, '\0'])) }]
  for (const body of rows) {
    const { statusCode, body: text } = await call('POST', '/users', { payload: { ...ann, ...body } })
    t.equal(statusCode, 400)
    t.equal(JSON.parse(text).errors.length, 32)
    t.ok(text.length < 10_000, `${text.length} characters`)
  }
  await t.rejects(app.users.create(untyped({ ...ann, anything: new Array(3e6) })), { code: 'validation_failed' })
  const getter = Object.defineProperty({}, 'x', { enumerable: true, get () { throw new Error('the caller’s own') } })
  await t.rejects(app.users.create(untyped({ ...ann, anything: getter })), { code: 'validation_failed', errors: [{ pointer: '', code: 'type' }] })
  t.ok(Object.is(Object(await app.users.create(untyped({ ...ann, anything: -0 }))).anything, 0), 'there is one zero')
})

test('a patch of fields that is always overtaken gives up', async (t) => {
  const storage = memory()
  let tries = 0
  const findUser: typeof storage.findUser = async (id) => {
    const user = await storage.findUser(id)
    tries++
    if (user !== null) await storage.updateUser(id, { name: { value: `n${tries}`, key: `n${tries}` } }, user.updatedAt, { ifVersion: null, unlessVersion: [] })
    return user
  }
  const { app, call } = await testApp(t, { storage: { ...storage, findUser }, fields })
  const { id } = await app.users.create(untyped(ann))
  const { statusCode, headers } = await call('PATCH', `/users/${id}`, { payload: { seats: 3 } })
  t.strictSame([statusCode, headers['retry-after'], tries], [503, '5', 100])
})

test('a body that is no object is told only that, where a field is required', async (t) => {
  const { call } = await testApp(t, { storage: memory(), fields: Type.Object({ plan: Type.String() }) })
  for (const payload of ['null', '[]', '"plan"', '7']) {
    const answer = await call('POST', '/users', { payload, headers: { 'content-type': 'application/json' } })
    t.equal(answer.statusCode, 400, payload)
    t.strictSame(answer.json().errors.map(({ pointer, code }: { pointer: string, code: string }) => [pointer, code]), [['', 'type']])
  }
})

test('every keyword of a schema has words of its own', async (t) => {
  const schema: TObject = Type.Object({
    date: Type.Optional(Type.String({ format: 'date', 'x-own': 1, example: '2026-01-31' })),
    code: Type.Optional(Type.String({ pattern: '^[a-z]+$', minLength: 2, maxLength: 4 })),
    half: Type.Optional(Type.Number({ multipleOf: 0.5, exclusiveMinimum: 0, exclusiveMaximum: 9 })),
    list: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 2, uniqueItems: true })),
    pair: Type.Optional(Type.Tuple([Type.String(), Type.Integer()])),
    only: Type.Optional(Type.Literal('x')),
    either: Type.Optional(Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() }), Type.Integer()])),
    both: Type.Optional(Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.Integer()) })])),
    map: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z]{1,3}$' }), Type.Integer(), { additionalProperties: false })),
    open: Type.Optional(Type.Object({ a: Type.String() }, { additionalProperties: Type.Integer() })),
    never: Type.Optional(Type.Not(Type.String())),
    group: Type.Optional(Type.Object({ deep: Type.Optional(Type.String({ default: 'd' })) }, { minProperties: 1, $id: 'Group' }))
  })
  const { app, call } = await testApp(t, { fields: schema })
  const { id } = await app.users.create(ann)
  const put = async (more: object) => {
    const { statusCode, body } = await call('PUT', `/users/${id}`, { payload: { ...ann, ...more } })
    return statusCode === 200 ? 200 : JSON.parse(body).errors.map(({ pointer, code, detail }: { pointer: string, code: string, detail: string }) => `${pointer} ${code}: ${detail}`)
  }
  const rows: Array<[object, 200 | string[]]> = [
    [{ date: '2026-01-31', code: 'abc', half: 1.5, list: [1, 2], pair: ['a', 1], only: 'x', either: { b: 1 }, both: { a: 'x' }, map: { abc: 1 }, open: { a: 'x', b: 1 }, never: 1, group: {} }, 200],
    [{ date: '31.1.2026' }, ['/date format: must have the format date']],
    [{ code: 'A' }, ['/code too_short: must have at least 2 characters']],
    [{ code: 'ABC' }, ['/code format: must match the pattern of this field']],
    [{ code: 'abcde' }, ['/code too_long: must have at most 4 characters']],
    [{ half: 0 }, ['/half range: must be > 0']],
    [{ half: 9 }, ['/half range: must be < 9']],
    [{ half: 1.3 }, ['/half range: must be a multiple of 0.5']],
    [{ list: [] }, ['/list too_few: must have at least 1 items']],
    [{ list: [1, 2, 3] }, ['/list too_many: must have at most 2 items']],
    [{ list: [1, 1] }, ['/list duplicate: must not have an item twice']],
    [{ pair: ['a'] }, ['/pair too_few: must have at least 2 items']],
    [{ only: 'y' }, ['/only choice: must be "x"']],
    [{ either: { a: 1 } }, ['/either choice: must have one of the forms of this field']],
    [{ both: { b: 1 } }, ['/both/a required: is required']],
    [{ map: { abcd: 1 } }, ['/map/abcd unknown: is not a known member']],
    [{ open: { a: 'x', b: 'y' } }, ['/open/b type: must be a whole number']],
    [{ never: 'text' }, ['/never invalid: is not valid']]
  ]
  for (const [body, expected] of rows) t.strictSame(await put(body), expected, JSON.stringify(body))
  t.match(await app.users.get(id), { group: { deep: 'd' } }, 'a default within is filled in')
  const patch = async (payload: object) => {
    const { statusCode, body } = await call('PATCH', `/users/${id}`, { payload })
    return statusCode === 200 ? 200 : JSON.parse(body).errors.map(({ pointer, code }: { pointer: string, code: string }) => `${pointer} ${code}`)
  }
  for (const [body, expected] of [
    [{ either: { b: 2 } }, 200], [{ either: { a: 'x' } }, ['/either choice']], [{ either: { a: 'x', b: null } }, 200], [{ both: { b: 2 } }, 200], [{ both: { a: null } }, ['/both choice']],
    [{ map: { abc: null, x: 2 } }, 200], [{ map: { abcd: 1 } }, ['/map/abcd unknown']], [{ open: { b: null } }, 200], [{ group: { deep: null } }, ['/group invalid']], [{ group: null }, 200], [{ only: null, date: null, list: null, pair: null, never: null }, 200]
  ] as const) t.strictSame(await patch(body), expected, JSON.stringify(body))
})
