// Options are checked once, at registration; every problem is told at once, and no bad value becomes a default.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import users, { type UsersOptions } from '../lib/index.ts'
import { checkOptions } from '../lib/options.ts'
import './helpers/watch-all.ts'

const check = (options: object) => checkOptions(JSON.parse('{}', () => options))

test('no storage is a clear error', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  // What a caller without types can do.
  const nothing: UsersOptions = JSON.parse('{}')
  await t.rejects(Promise.resolve(app.register(users, nothing)), /^fastify-users: 1 wrong option:\n- storage is required and must be a storage, such as memory\(\)/)
})

test('a storage that is none says what it lacks', (t) => {
  const { findUser, touchApiKey, ...rest } = memory()
  t.throws(() => check({ storage: { ...rest, findUser, touchApiKey: 1 } }), { message: /: this one lacks touchApiKey$/ })
  t.throws(() => check({ storage: rest }), { message: /: this one lacks findUser, touchApiKey$/ })
  t.throws(() => check({ storage: 'sqlite' }), { message: /: this one lacks name, supports, joinTransaction, check, migrate, close, createUser, / })
  t.end()
})

test('every wrong option is named, and none of its values', (t) => {
  const wrong = {
    storage: { name: 'x', check () {} },
    prefix: 'v1',
    decoratorName: '1x',
    migrate: 'yes',
    pageSize: { default: 0, max: 'secret', min: 1 },
    requireIfMatch: 1,
    errorFormat: 'json',
    notFoundHandler: 'no',
    idempotencyTtl: 0,
    keyPrefix: 'UK_',
    keyCache: -1,
    pepper: 'secret',
    staticKeys: ['secret'],
    authenticate: true,
    apiKeyRoutes: 'yes',
    rateLimit: { max: 'secret' },
    authFailures: { max: 1 },
    maxDeletesPerHour: 0,
    maxInFlight: -1,
    logLevel: 5,
    logSerializers: 'x',
    storrage: 1,
    'pre fix': 2
  }
  try {
    check(wrong)
    t.fail('must throw')
  } catch (error) {
    const { name, message } = Object(error)
    t.equal(name, 'TypeError')
    t.match(message, /^fastify-users: 23 wrong options:\n/)
    for (const option of Object.keys(wrong)) t.match(message, `\n- ${option} `)
    t.notMatch(message, 'secret')
  }
  t.end()
})

test('values at their bounds', (t) => {
  const storage = memory()
  const fits = (options: object) => t.doesNotThrow(() => check({ storage, ...options }), JSON.stringify(options))
  const fails = (options: object) => t.throws(() => check({ storage, ...options }), TypeError, JSON.stringify(options))
  for (const prefix of ['', '/', '/a', '/a/', '/:tenant/v1']) fits({ prefix })
  for (const prefix of ['a', '/a?b', '/a#', '/a;b', 5, '/ü', '/a b', '/a%20b', '/x\ny', '/a"b', '/a\\b']) fails({ prefix })
  for (const pageSize of [{}, { max: 10 }, { default: 100 }, { default: 10_000, max: 10_000 }, { max: 1 }]) fits({ pageSize })
  for (const pageSize of [{ default: 101 }, { default: 5, max: 4 }, { max: 10_001 }, { max: 1.5 }, []]) fails({ pageSize })
  for (const keyPrefix of ['a', '0', 'abcdefghijkl']) fits({ keyPrefix })
  for (const keyPrefix of ['', 'abcdefghijklm', 'a_b', 'A']) fails({ keyPrefix })
  for (const keyCache of [0, 0.5, 3600]) fits({ keyCache })
  for (const keyCache of [3601, NaN, Infinity, '5']) fails({ keyCache })
  const key = 'x'.repeat(32)
  for (const staticKeys of [[], [key], [{ key }, { key: 'y'.repeat(32), name: 'n', scopes: ['keys:read'] }]]) fits({ staticKeys })
  for (const staticKeys of [key, ['x'.repeat(31)], [`${key} `], [`${key}é`], [{ key: 'x' }], [key, { key }], [{ key, scopes: [] }], [{ key, scopes: ['admin'] }], [{ key, other: 1 }]]) fails({ staticKeys })
  for (const pepper of [key, [key], [key, 'y'.repeat(32)]]) fits({ pepper })
  for (const pepper of [[], [key, 'short'], Array.from({ length: 9 }, () => key)]) fails({ pepper })
  const quota = { max: 1, window: 86_400 }
  class Counters { incr () {} child () {} }
  class Reading extends Counters { read () {} }
  for (const rateLimit of [quota, { ...quota, redis: {}, nameSpace: 'x', cache: 10, skipOnError: true }, { ...quota, store: Counters }]) fits({ rateLimit })
  for (const rateLimit of [{ max: 1 }, { ...quota, window: 86_401 }, { ...quota, window: 0 }, { ...quota, max: 0.5 }, { ...quota, store: 'x' }, { ...quota, other: 1 }]) fails({ rateLimit })
  fits({ rateLimit: { ...quota, store: Reading }, authFailures: quota })
  fails({ rateLimit: { ...quota, store: Counters }, authFailures: quota })
  // What a copy would lose is no option: a limit that is none.
  class Quota { get max () { return 3 } get window () { return 60 } }
  const hidden = Object.defineProperty({ window: 60 }, 'max', { value: 3 })
  for (const given of [new Quota(), Object.create(quota), Object.create({ since: '2026-01-01' }), hidden]) {
    for (const name of ['rateLimit', 'authFailures', 'deprecated']) fails({ [name]: given })
  }
  fails({ pageSize: Object.create({ max: 5 }) })
  fits({ pageSize: Object.assign(Object.create(null), { max: 50 }), authFailures: Object.assign(Object.create(null), quota) })
  fits({ maxDeletesPerHour: 1, maxInFlight: 1, apiKeyRoutes: true })
  fits({ authenticate: () => null, errorFormat: () => ({}) })
  t.end()
})

test('defaults, and a copy of its own', (t) => {
  const storage = memory()
  const staticKeys = ['x'.repeat(32)]
  const pageSize = { max: 10 }
  const checked = check({ storage, staticKeys, pageSize })
  staticKeys.push('later')
  pageSize.max = 99
  t.match(checked, { prefix: '/v1', decoratorName: 'users', migrate: false, pageSize: { default: 10, max: 10 }, requireIfMatch: false, errorFormat: 'problem', notFoundHandler: true, idempotencyTtl: 86_400, keyPrefix: 'uk', keyCache: 5, staticKeys: ['x'.repeat(32)] })
  t.equal(checked.storage, storage)
  t.ok(Object.isFrozen(checked) && Object.isFrozen(checked.pageSize) && Object.isFrozen(checked.staticKeys))
  t.end()
})
