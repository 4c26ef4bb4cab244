// The host's own fields: which values are accepted, how they are kept and shown. What stores do with them: the kit.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { testApp } from '../helpers/app.ts'
import { ann, codesOf, fieldsApp, members, nested, withoutType } from '../helpers/fields.ts'
import { stores } from '../helpers/stores.ts'

const JSON_BODY = { 'content-type': 'application/json' }

test('own fields', async (t) => {
  const { app, call, send, add, faultsOf } = await fieldsApp(t, memory())

  t.test('are returned as sent, in the order of their names, between our own members, with defaults', async (t) => {
    const sent = {
      ...ann,
      address: { zip: '1', city: 'Oslo' },
      seats: 3,
      anything: { z: [null, 1.5, '🦊'], a: {} }
    }
    const { json: { id, version, createdAt, updatedAt, ...shown }, body } = await send('POST', '/users', sent)
    const text = '"name":"Ann","email":"ann@example.org","address":{"city":"Oslo","zip":"1"},' +
      '"anything":{"a":{},"z":[null,1.5,"🦊"]},"plan":"free","seats":3,"status":"active","statusReason":null'
    t.equal(body, `{"id":"${id}",${text},"version":1,"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`)
    for (const path of [`/users/${id}`, '/users', '/users?q=ann']) {
      t.ok((await send('GET', path)).body.includes(text), path)
    }
    t.strictSame(await app.users.get(id), { id, ...shown, version, createdAt, updatedAt })
    t.strictSame((await app.users.list()).data, [await app.users.get(id)])
    for await (const each of app.users.iterate()) t.strictSame(each, await app.users.get(id))
  })

  t.test('are refused with a fault for each wrong place', async (t) => {
    const rows: Array<[body: object, ...faults: string[]]> = [
      [
        { seats: '3', active: 'true', note: 5, address: 'x' },
        '/seats type', '/active type', '/note choice', '/address type'
      ],
      [
        { address: { city: 'x', unheardOf: 1, tags: ['a', 'b', 'c', 'd'] } },
        '/address/unheardOf unknown', '/address/tags too_many'
      ],
      [{ unheardOf: 1, __proto: 1, seats: 0 }, '/unheardOf unknown', '/__proto unknown', '/seats range'],
      [{ anything: 'a\0b' }, '/anything characters'],
      [{ anything: ['\ud800'] }, '/anything/0 characters'],
      [{ anything: { 'a\0': 1 } }, '/anything characters'],
      [{ anything: { 'a/b~c': '\0' } }, '/anything/a~1b~0c characters'],
      [{ anything: 2 ** 53 }, '/anything range'],
      [{ anything: nested(8) }, `/anything${'/0'.repeat(7)} too_deep`],
      [{ anything: members(65, 'm') }, '/anything too_many'],
      [
        { name: '', seats: 2 ** 53, anything: 'a\0b', active: 'true', address: { zip: 'a\0', tags: 5 } },
        '/name too_short', '/seats range', '/anything characters', '/address/zip characters', '/active type',
        '/address/city required', '/address/tags type'
      ],
      [{ note: 'a\0', address: { city: 5, tags: ['a', 'b', 'c', '\0'] } },
        '/note characters', '/address/tags/3 characters', '/address/city type']
    ]
    const valid = { name: 'N', email: 'n@example.org' }
    for (const [body, ...faults] of rows) {
      const label = JSON.stringify(body).slice(0, 60)
      t.strictSame(await faultsOf('POST', '/users', { ...valid, ...body }), [400, ...faults], label)
    }
    const payload = '{"name":"N","email":"n@example.org","anything":{"__proto__":{}}}'
    const poisoned = await call('POST', '/users', { payload, headers: JSON_BODY })
    t.equal(poisoned.statusCode, 400)
    t.equal((await send('GET', '/users?email=n@example.org')).json.meta.total, 0)
  })

  t.test('are kept up to the limits of nesting, members and numbers', async (t) => {
    const anything = { deep: nested(6), many: members(64, 'm'), most: Number.MAX_SAFE_INTEGER, part: 0.1 }
    const id = await add('limits@example.org', { anything })
    t.strictSame((await send('GET', `/users/${id}`)).json.anything, anything)
  })

  t.test('have at most 16 KiB together, also after many patches', async (t) => {
    const id = await add('large@example.org', { anything: { a: 'x'.repeat(9000) } })
    const patch = (anything: object) => faultsOf('PATCH', `/users/${id}`, { anything })
    t.strictSame(await patch({ b: 'é'.repeat(4000) }), [400, ' too_large'], 'bytes count, not characters')
    const larger = { ...ann, email: 'larger@example.org', anything: 'x'.repeat(17_000) }
    const tooLarge = { code: 'validation_failed', errors: [{ pointer: '', code: 'too_large' }] }
    await t.rejects(app.users.create(withoutType(larger)), tooLarge)
    const judged = await app.users.create(withoutType({ ...larger, seats: 0 })).catch((error) => error)
    t.match(judged, tooLarge)
    t.equal(judged.errors.length, 1, 'before the schema, whose patterns may take long')
    t.equal((await send('POST', '/users', { ...ann, anything: 'x'.repeat(17_000) })).status, 413)
    for (let i = 0; i < 7; i++) {
      await send('PATCH', `/users/${id}`, { anything: { a: null, [`o${i}`]: members(9, `m${i}`) } })
    }
    t.strictSame(await patch(members(60, 'n')), [400, '/anything too_many'])
  })

  t.test('are plain JSON in process: nothing is shared with the caller, and undefined is absent', async (t) => {
    const anything = { list: [1], inner: { a: undefined, b: 1 } }
    const input = withoutType({ ...ann, email: 'shared@example.org', seats: undefined, anything })
    const created = await app.users.create(input)
    anything.list.push(2)
    const stored = async () => Object(await app.users.get(created.id))
    t.strictSame((await stored()).anything, { list: [1], inner: { b: 1 } })
    t.notOk('seats' in created)
    const circle: Record<string, unknown> = {}
    circle['circle'] = circle
    const update = (anything: unknown) => app.users.update(created.id, withoutType({ anything }))
    const odd = [
      new Date(), () => 1, Symbol('x'), 1n, NaN, Infinity, new Map(), circle, [undefined], new Uint8Array(2)
    ]
    for (const each of odd) await t.rejects(update(each), { code: 'validation_failed' })
    t.strictSame(await update(Object.assign(Object.create(null), { x: 1 })), await stored())
    const poisoned: unknown = JSON.parse('{"__proto__":{"x":1}}')
    await t.rejects(update(poisoned), { errors: [{ pointer: '/anything', code: 'characters' }] })
    const withPrototype = JSON.parse('{"name":"N","email":"p@example.org","__proto__":{"plan":"pro"}}')
    await t.rejects(app.users.create(withPrototype), { errors: [{ pointer: '/__proto__', code: 'unknown' }] })
  })
})

for (const { name, create } of stores) {
  test(`fields are copied for each of several concurrent readers, on ${name}`, async (t) => {
    const { app } = await fieldsApp(t, await create(t))
    const { id } = await app.users.create(withoutType({ ...ann, anything: { a: [1] } }))
    const newest = async () => (await app.users.list({ sort: '-createdAt' })).data[0]
    const readers = await Promise.all([app.users.get(id), app.users.get(id), newest(), newest()])
    for (const user of readers) Object(user).anything.a.push(2)
    t.strictSame(readers.map((user) => Object(user).anything.a), [[1, 2], [1, 2], [1, 2], [1, 2]])
  })
}

test('a body that is no object has one fault, even if a field is required', async (t) => {
  const { call } = await testApp(t, { storage: memory(), fields: { schema: Type.Object({ plan: Type.String() }) } })
  const { errors } = (await call('POST', '/users', { payload: '[]', headers: JSON_BODY })).json()
  t.strictSame(codesOf(errors), [' type'])
})

test('an answer about a hostile body is not much larger than the body', async (t) => {
  const { call, app } = await testApp(t, {
    fields: { schema: Type.Object({ anything: Type.Unknown(), list: Type.Optional(Type.Array(Type.Integer())) }) }
  })
  const hostile = [
    { anything: { ['n'.repeat(8000)]: Array.from({ length: 1000 }, () => 1e99) } },
    { anything: 1, list: Array.from({ length: 3000 }, () => 'x') },
    { anything: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`m${i}`, '\0'])) }
  ]
  for (const body of hostile) {
    const { statusCode, body: text } = await call('POST', '/users', { payload: { ...ann, ...body } })
    t.equal(statusCode, 400)
    t.equal(JSON.parse(text).errors.length, 32)
    t.ok(text.length < 10_000, `${text.length} characters`)
  }
  const createWith = (anything: unknown) => app.users.create(withoutType({ ...ann, anything }))
  await t.rejects(createWith(new Array(3e6)), { code: 'validation_failed' })
  const throwing = Object.defineProperty({}, 'x', {
    enumerable: true,
    get () { throw new Error('the caller’s own') }
  })
  await t.rejects(createWith(throwing), { code: 'validation_failed', errors: [{ pointer: '', code: 'type' }] })
  t.ok(Object.is(Object(await createWith(-0)).anything, 0), 'minus zero is kept as zero')
})
