// Own fields whose value at most one user has.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { testApp } from '../helpers/app.ts'
import { codesOf, withoutType } from '../helpers/fields.ts'
import { importWords } from '../helpers/import-rows.ts'
import { urlOfRole } from '../helpers/postgres.ts'
import { pgUrl, temporarySchema } from '../helpers/stores.ts'
import '../helpers/watch-all.ts'

// One has the name of a member of every object.
const unique = ['badge', 'number', 'constructor']
const numbered = Type.Object({
  number: Type.Optional(Type.Integer()),
  badge: Type.Optional(Type.String()),
  constructor: Type.Optional(Type.String()),
  plan: Type.Optional(Type.String())
})

test('keeps unique fields unique', async (t) => {
  const options = { fields: { schema: numbered, filterable: ['plan'], unique } }
  const { app, call } = await testApp(t, { ...options })
  const send = async (method: string, path: string, payload?: object, headers = {}) => {
    const response = await call(method, path, { headers, ...payload !== undefined && { payload } })
    const { statusCode, body } = response
    const json = body === '' ? null : response.json()
    return statusCode < 400 ? { status: statusCode, json } : [statusCode, json.code, ...codesOf(json.errors ?? [])]
  }
  const person = (n: number, more: object) => ({ name: 'N', email: `u${n}@example.org`, ...more })

  const first = await send('POST', '/users', person(1, { number: 7, badge: 'A', constructor: 'x' }))
  const second = await send('POST', '/users', person(2, { number: 8, badge: 'x'.repeat(253) }))
  const [id, other] = [first, second].map((each) => String(Object(each).json.id))
  const nobody = 'usr_01h455vb4pex5vsknk084sn02q'
  const long = { badge: 'x'.repeat(254) }
  const numberTaken = [409, 'field_taken', '/number taken']
  const emailTaken = [409, 'email_taken', '/email taken']
  const tooLong = [400, 'validation_failed', '/badge too_long']
  const rows: Array<[method: string, path: string, body: object, answer: unknown[], what?: string]> = [
    ['POST', '', person(3, { number: 7 }), numberTaken],
    ['POST', '', person(3, { badge: 'A' }), [409, 'field_taken', '/badge taken']],
    ['POST', '', person(3, { constructor: 'x' }), [409, 'field_taken', '/constructor taken']],
    ['POST', '', person(1, { badge: 'B' }), emailTaken],
    ['POST', '', person(1, { number: 7 }), emailTaken, 'the address comes first'],
    ['POST', '', person(3, long), tooLong],
    ['PATCH', `/${other}`, { number: 7 }, numberTaken],
    ['PUT', `/${other}`, person(2, { number: 7 }), numberTaken],
    ['PATCH', `/${other}`, long, tooLong],
    ['PATCH', `/${nobody}`, long, tooLong, 'before existence'],
    ['PATCH', `/${other}`, { name: '', number: 'x', ...long },
      [400, 'validation_failed', '/name too_short', '/number type', '/badge too_long']]
  ]
  for (const [method, path, body, answer, what = `${method} ${JSON.stringify(body)}`] of rows) {
    t.strictSame(await send(method, `/users${path}`, body), answer, what)
  }
  t.strictSame(await send('PATCH', `/users/${other}`, long, { 'if-match': '"7"' }), tooLong, 'before the precondition')
  t.equal((await app.users.get(String(other))).version, 1, 'a refused change changes nothing')
  t.match(await send('PATCH', `/users/${id}`, { number: 7, plan: 'pro' }), { status: 200 })

  const found = await send('GET', '/users?number=7')
  t.match(found, { status: 200, json: { meta: { total: 1 }, data: [{ id }] } })
  t.match(await send('GET', '/users?plan=pro&badge=A'), { json: { data: [{ id }] } })

  await app.users.delete(String(id))
  t.match(await send('PATCH', `/users/${other}`, { number: 7 }), { status: 200 })
})

test('any number of users have null in a unique field, in whichever form its schema allows it', async (t) => {
  const text = { type: 'string' }
  const forms = {
    nullable: { type: 'integer', nullable: true },
    types: { type: ['integer', 'null'] },
    union: Type.Union([Type.Integer(), Type.Null()]),
    any: { anyOf: [text, { type: 'null' }] },
    one: { oneOf: [{ const: null }, { anyOf: [text, { ...text, minLength: 9 }] }] },
    choice: { enum: ['a', 'b', null] },
    constants: Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Null()])
  }
  const names = Object.keys(forms)
  const { call } = await testApp(t, {
    fields: { schema: withoutType({ type: 'object', properties: forms }), unique: names }
  })
  const post = async (n: number, own: object) => {
    const response = await call('POST', '/users', { payload: { name: 'N', email: `u${n}@example.org`, ...own } })
    return [response.statusCode, ...codesOf(response.json().errors ?? [])]
  }
  const nothing = Object.fromEntries(names.map((each) => [each, null]))
  const values = { nullable: 1, types: 2, union: 3, any: 'x', one: 'y', choice: 'a', constants: 'b' }
  t.strictSame(await post(1, nothing), [201])
  t.strictSame(await post(2, nothing), [201])
  t.strictSame(await post(3, {}), [201])
  t.strictSame(await post(4, values), [201])
  for (const [field, value] of Object.entries(values)) {
    t.strictSame(await post(5, { ...nothing, [field]: value }), [409, `/${field} taken`])
    const found = (await call('GET', `/users?${field}=${value}`)).json()
    t.match(found, { meta: { total: 1 }, data: [{ [field]: value }] })
  }
  t.match((await call('GET', '/users?any=null')).json(), { meta: { total: 0 } }, 'the text')
  const [line = ''] = (await call('GET', '/users/export')).body.split('\n')
  t.strictSame((await importWords(call, 'by=any&onConflict=skip', line)).words, ['1 refused /email taken'],
    'nobody is found by null')
})

test('says that the database is at fault where it refuses an index for another reason', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
  const rights = [`USAGE ON SCHEMA "${schema}"`, `SELECT ON ALL TABLES IN SCHEMA "${schema}"`]
  const stranger = postgres({ connection: await urlOfRole(t, `${schema}_role`, rights), schema })
  t.teardown(() => stranger.close())
  await t.rejects(stranger.open({ migrate: true, unique: ['badge'] }), { code: 'fault', driverCode: '42501' })
})
