// Contract §9: static keys, the option `authenticate`, and hosts whose keys are missing, damaged or unavailable.
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { digestSecret, generateKey } from '../../lib/api-keys/key-text.ts'
import users from '../../lib/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { inject, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { apiKeyOf } from '../helpers/records.ts'
import { addKey } from '../helpers/writes.ts'

const INVALID = 'Bearer realm="users", error="invalid_token"'
const STATIC = 'a-static-key-of-more-than-32-characters!'
const get = (app: FastifyInstance, token: string) =>
  inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${token}` } })

test('accepts static keys, and tokens that the option authenticate accepts', async (t) => {
  const checked: string[] = []
  const log = captureLog()
  const { app, key } = await testApp(t, {
    server: { logger: { stream: log.stream } },
    apiKeys: { static: [STATIC, { key: 'k'.repeat(32), name: 'reader', scopes: ['users:read'] }] },
    authenticate: async (token, request) => {
      checked.push(`${request.method} ${token}`)
      if (token === 'boom') throw new Error('the directory is down')
      return token === 'alice' ? { id: 'alice', scopes: ['users:read'] } : null
    }
  })
  const call = (method: string, token: string) =>
    inject(app, method, '/v1/users', { headers: { authorization: `Bearer ${token}` } })
  t.equal((await call('GET', STATIC)).statusCode, 200)
  t.equal((await call('POST', STATIC)).statusCode, 400, 'a plain static key has the scopes of users')
  t.equal((await call('GET', 'k'.repeat(32))).statusCode, 200)
  t.equal((await call('POST', 'k'.repeat(32))).statusCode, 403)
  t.equal((await call('GET', 'k'.repeat(33))).statusCode, 401)
  t.equal((await call('GET', key)).statusCode, 200)
  t.equal((await call('GET', generateKey('uk').text)).statusCode, 401)
  t.strictSame(checked, [`GET ${'k'.repeat(33)}`], 'neither static nor stored keys reach the callback')

  t.equal((await call('GET', 'alice')).statusCode, 200)
  t.equal((await call('DELETE', 'alice')).statusCode, 405)
  t.equal((await call('POST', 'alice')).statusCode, 403)
  t.match(await call('GET', 'bob'), { statusCode: 401, headers: { 'www-authenticate': INVALID } })
  const down = await call('GET', 'boom')
  t.match(down, { statusCode: 503, headers: { 'retry-after': '5' } })
  t.match(down.json(), {
    code: 'storage_unavailable',
    detail: 'The API key cannot be checked at the moment. Try again later.'
  })
  t.match(log.text(), 'the directory is down')
})

test('refuses a token with 503 whose answer from authenticate is wrong, and logs what is wrong with it', async (t) => {
  const log = captureLog()
  const unset = JSON.parse('{}').unset
  const right = { id: 'alice', scopes: ['users:read'] }
  const wrong: Array<[unknown, string]> = [
    [unset, 'is neither an object nor null'],
    [{ scopes: right.scopes }, 'has no id: it must be a non-empty string'],
    [{ ...right, id: 'a\0' }, 'has no id: it must be a non-empty string'],
    [{ ...right, scopes: 'users:read' }, 'has no scopes: they must be an array of strings'],
    [{ ...right, scopes: [unset] }, 'has no scopes: they must be an array of strings'],
    ...['', 'x'.repeat(201), 5, 'a\0'].map((name): [unknown, string] =>
      [{ ...right, name }, 'has an invalid name: it must be a string of 1 to 200 characters, or null']),
    [{ ...right, expiresAt: unset },
      'has an undefined expiresAt: it must be a date string, or null for a token that never expires'],
    [{ ...right, expiresAt: 'soon' }, 'has an invalid expiresAt: it must be a date string, or null'],
    [{ ...right, tenant: 'acme' }, 'has a tenant: set the option tenants']
  ]
  const answers = [...wrong.map(([answer]) => answer), right, { ...right, name: unset, expiresAt: null, tenant: unset }]
  const { app } = await testApp(t, {
    server: { logger: { stream: log.stream } },
    authenticate: (token) => JSON.parse(token) === 0 ? null : Object(answers)[JSON.parse(token) - 1]
  })
  const statuses = []
  for (const token of answers.keys()) statuses.push((await get(app, String(token + 1))).statusCode)
  t.strictSame(statuses, [...wrong.map(() => 503), 200, 200])
  t.strictSame(log.entries().filter(({ level }) => level === 50).map(({ err }) => Object(err).message),
    wrong.map(([, problem]) => `the result of authenticate ${problem}`))
})

test('refuses a token whose expiresAt is past like an expired key, and says so in the log', async (t) => {
  const log = captureLog()
  let expiresAt = new Date(Date.now() + 60_000).toISOString()
  const { app } = await testApp(t, {
    server: { logger: { stream: log.stream } },
    authenticate: () => ({ id: 'alice', scopes: ['users:read'], expiresAt })
  })
  t.equal((await get(app, 'alice')).statusCode, 200)
  expiresAt = new Date().toISOString()
  const refused = await get(app, 'alice')
  t.match(refused, { statusCode: 401, headers: { 'www-authenticate': INVALID } })
  t.equal(refused.json().code, 'invalid_api_key')
  t.match(log.entries().find(({ event }) => event === 'api_key.refused'), { reason: 'expired' })
})

test('an error of authenticate reaches the log without the token', async (t) => {
  const log = captureLog()
  const token = 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0-token~of/a+person='
  const named = (members: object) => Object.assign(new Error('it failed'), members)
  const basic = Buffer.from(`me:${token}`).toString('base64')
  const errors = [
    new Error(`no session for ${token}`),
    new Error(`GET /introspect?token=${encodeURIComponent(token)}`),
    new Error(`sent Basic ${basic}\n    at ${token} (x.ts:1:1)`),
    new Error(`unknown: ${token.slice(3, 20).toUpperCase()}…`),
    new Error('fetch failed', { cause: new Error(token, { cause: new Error('connection refused') }) }),
    named({ code: 'E_HELD' }),
    named({ name: token }),
    named({ code: token, options: { headers: { authorization: `Bearer ${token}` } } }),
    named({ stack: `Error: other\n    at check (${token})` }),
    new AggregateError([new Error(token)], 'all failed'),
    token,
    { token }
  ]
  const { app } = await testApp(t, {
    server: { logger: { stream: log.stream } },
    authenticate: async () => { throw errors.shift() }
  })
  while (errors.length > 0) {
    t.equal((await get(app, token)).statusCode, 503)
  }
  const text = log.text()
  for (const form of [token, encodeURIComponent(token), basic, token.slice(3, 20)]) {
    t.notOk(text.toLowerCase().includes(form.toLowerCase()), form)
  }
  const place = 'authentication-sources.test.ts'
  for (const kept of ['it failed', 'fetch failed', 'connection refused', 'E_HELD', 'all failed', place]) {
    t.match(text, kept)
  }
})

test('refuses every request while there is no key, and logs how to create one', async (t) => {
  const msg = 'there is no API key yet, so every request is refused: create one with ' +
    'app.users.apiKeys.createFirst({ name }), or set the option apiKeys.static'
  for (const [list, warnings] of [
    [async () => ({ items: [], total: 0 }), [{ msg }]], [async () => { throw new Error('down') }, []]
  ] as const) {
    const log = captureLog()
    const { app } = await testApp(t, {
      server: { logger: { stream: log.stream } }, storage: { ...memory(), list }, decoratorName: 'users'
    })
    t.equal((await inject(app, 'GET', '/v1/users')).statusCode, 401)
    t.match(log.entries().filter(({ level }) => level === 40), warnings)
  }
})

test('warns of keys that were made with a pepper that it does not have', async (t) => {
  const said = (problem: string) => 'the newest active API keys are refused, because the option apiKeys.pepper ' +
    `${problem}: set the one that made them (FASTIFY_USERS_PEPPER of the standalone service)`
  const [unset, wrong] = [said('is not set'), said('has none with which they were made')]
  // Their marks differ.
  const [lost, other] = ['a'.repeat(32), 'c'.repeat(32)]
  for (const [madeWith, peppers, ...messages] of [
    [lost, [lost]], [lost, [], unset], [lost, [other], wrong], [lost, [other, lost]],
    [undefined, [lost], wrong], [undefined, []]
  ] as const) {
    const storage = memory()
    const { start, secret } = generateKey('uk')
    const record = { ...apiKeyOf(1), start, digest: digestSecret(secret, madeWith), expiresAt: null }
    const log = captureLog()
    const app = Fastify({ logger: { stream: log.stream } })
    t.teardown(() => app.close())
    await app.register(users, { storage, migrate: true, apiKeys: peppers.length === 0 ? {} : { pepper: peppers } })
    await addKey(storage, record)
    await app.ready()
    t.strictSame(log.entries().filter(({ level }) => level === 40).map(({ msg }) => msg), messages)
  }
})

test('refuses a key whose stored digest is malformed', async (t) => {
  const storage = memory()
  const { start, text } = generateKey('uk')
  await addKey(storage, { ...apiKeyOf(1), start, digest: 'short' })
  const { app } = await testApp(t, { storage })
  t.equal((await get(app, text)).statusCode, 401)
})

test('answers 500 on a route whose access rules were removed by a hook', async (t) => {
  const { call } = await testApp(t, {
    before: (app) => { app.addHook('onRoute', (route) => { route.config = {} }) }
  })
  t.match(await call('GET', '/users'), { statusCode: 500 })
})

test('answers 500 without details if the storage fails while a key is checked', async (t) => {
  const storage = memory()
  const { call } = await testApp(t, { storage, apiKeys: { cache: 0 } })
  repositoryOf(storage).apiKeys.find = async () => {
    throw new Error('select * from secrets')
  }
  const response = await call('GET', '/users')
  t.equal(response.statusCode, 500)
  t.notMatch(response.body, 'secrets')
})

test('an event has the name that its caller had then', async (t) => {
  const STATIC = 's'.repeat(32)
  let name: unknown = 'Ada'
  const { app } = await testApp(t, {
    eventLog: true,
    apiKeys: { static: [{ key: STATIC, name: 'desk' }, STATIC.replace('s', 't')] },
    authenticate: async () => Object({ id: 'ada', scopes: ['users:write'], name })
  })
  const create = async (token: string, n: number) => {
    const payload = { name: 'Ann', email: `ann${n}@example.org` }
    const headers = { authorization: `Bearer ${token}` }
    t.equal((await inject(app, 'POST', '/v1/users', { headers, payload })).statusCode, 201)
  }
  await create('x', 1)
  name = null
  for (const [n, token] of ['x', STATIC, STATIC.replace('s', 't')].entries()) await create(token, n + 2)
  const { data } = await app.users.events.list({ type: 'user.created' })
  t.match(data.map(({ actor }) => actor), [
    { type: 'host', id: 'ada', name: 'Ada' }, { type: 'host', id: 'ada', name: null },
    { type: 'static', id: 'desk', name: 'desk' }, { type: 'static', id: /^static-/, name: null }
  ])
})
