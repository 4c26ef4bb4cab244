// Options are checked once, at registration: one error names every problem, and no bad value becomes a default.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import users, { type UsersOptions } from '../lib/index.ts'
import { checkOptions } from '../lib/mount/options.ts'
import './helpers/watch-all.ts'

const check = (options: object) => checkOptions(Object(options))

test('a registration without a storage says which storages there are', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  // What a caller without types can do.
  const nothing: UsersOptions = JSON.parse('{}')
  await t.rejects(
    Promise.resolve(app.register(users, nothing)),
    /^fastify-users: 1 wrong option:\n- storage is required and must be a storage, such as memory\(\)/
  )
})

test('a storage that lacks methods is refused with their names', (t) => {
  const { findUser, writeApiKey, ...rest } = memory()
  const refused = (storage: unknown, message: RegExp) => t.throws(() => check({ storage }), { message })
  refused({ ...rest, findUser, writeApiKey: 1 }, /: this one lacks writeApiKey$/)
  refused(rest, /: this one lacks findUser, writeApiKey$/)
  const log = { read () {}, history () {}, erase () {} }
  refused({ ...memory(), eventLog: log }, /: this one lacks eventLog\.prune, eventLog\.pruned$/)
  refused('sqlite', /: this one lacks name, check, migrate, close, writeUsers, findUser, /)
  t.end()
})

test('names every wrong option, and repeats none of its values', (t) => {
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
    logSerializers: { req: 'secret' },
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

test('accepts values up to their bounds, and none beyond them', (t) => {
  const storage = memory()
  const accepts = (name: string, ...values: unknown[]) => {
    for (const value of values) {
      t.doesNotThrow(() => check({ storage, [name]: value }), JSON.stringify({ [name]: value }))
    }
  }
  const refuses = (name: string, ...values: unknown[]) => {
    for (const value of values) {
      t.throws(() => check({ storage, [name]: value }), { name: 'TypeError', message: name }, JSON.stringify(value))
    }
  }
  accepts('prefix', '', '/', '/a', '/a/', '/:tenant/v1')
  refuses('prefix', 'a', '/a?b', '/a#', '/a;b', 5, '/ü', '/a b', '/a%20b', '/x\ny', '/a"b', '/a\\b')
  accepts('pageSize', {}, { max: 10 }, { default: 100 }, { default: 10_000, max: 10_000 }, { max: 1 })
  refuses('pageSize', { default: 101 }, { default: 5, max: 4 }, { max: 10_001 }, { max: 1.5 }, [])
  accepts('keyPrefix', 'a', '0', 'abcdefghijkl')
  refuses('keyPrefix', '', 'abcdefghijklm', 'a_b', 'A')
  accepts('keyCache', 0, 0.5, 3600)
  refuses('keyCache', 3601, NaN, Infinity, '5')
  const [key, other] = ['x'.repeat(32), 'y'.repeat(32)]
  accepts('staticKeys', [], [key], [{ key }, { key: other, name: 'n', scopes: ['keys:read'] }])
  refuses('staticKeys', key, ['x'.repeat(31)], [`${key} `], [`${key}é`], [{ key: 'x' }], [key, { key }])
  refuses('staticKeys', [{ key, scopes: [] }], [{ key, scopes: ['admin'] }], [{ key, other: 1 }])
  accepts('pepper', key, [key], [key, other])
  refuses('pepper', [], [key, 'short'], Array.from({ length: 9 }, () => key))
  // FASTIFY_USERS_PEPPER of the command line could not hold these.
  refuses('pepper', `${key},${other}`, [key, `${other},`], `${key}\n`, ` ${key}`, `${key} ${other}`)
  refuses('pepper', `${key}é`, `${key}\0`)
  for (const name of ['maxDeletesPerHour', 'maxInFlight']) accepts(name, 1)
  accepts('logSerializers', {}, { req: () => ({}), res: undefined })
  refuses('logSerializers', { req: 'x' }, { req: null }, null)
  accepts('apiKeyRoutes', true)
  accepts('authenticate', () => null)
  accepts('errorFormat', () => ({}))
  t.end()
})

test('quotas and their stores: accepts what @fastify/rate-limit takes, and nothing that a copy would lose', (t) => {
  const storage = memory()
  const accepts = (given: object) => t.doesNotThrow(() => check({ storage, ...given }), JSON.stringify(given))
  const refuses = (given: object) => t.throws(() => check({ storage, ...given }), TypeError, JSON.stringify(given))
  const quota = { max: 1, window: 86_400 }
  class Counters { incr () {} child () {} }
  class ReadableCounters extends Counters { read () {} }
  accepts({ rateLimit: quota })
  const redis = { defineCommand () {} }
  accepts({ rateLimit: { ...quota, redis, nameSpace: 'x', cache: 10, skipOnError: true } })
  accepts({ rateLimit: { ...quota, redis: Object.create(redis) } })
  accepts({ rateLimit: { ...quota, store: Counters } })
  for (const wrong of [
    { window: 86_401 }, { window: 0 }, { max: 0.5 }, { store: 'x' }, { other: 1 }, { redis: {} }, { store: class {} },
    { store: () => {} }
  ]) {
    refuses({ rateLimit: { ...quota, ...wrong } })
  }
  refuses({ rateLimit: { max: 1 } })
  t.throws(() => check({ storage, rateLimit: { ...quota, store: class { incr () {} } } }), {
    message: /- rateLimit\.store must have the methods incr and child$/
  })
  accepts({ rateLimit: { ...quota, store: ReadableCounters }, authFailures: quota })
  refuses({ rateLimit: { ...quota, store: Counters }, authFailures: quota })
  // A copy has no inherited or hidden members: it would be a limit without `max`.
  class Quota { get max () { return 3 } get window () { return 60 } }
  const hidden = Object.defineProperty({ window: 60 }, 'max', { value: 3 })
  for (const given of [new Quota(), Object.create(quota), Object.create({ since: '2026-01-01' }), hidden]) {
    for (const name of ['rateLimit', 'authFailures', 'deprecated']) refuses({ [name]: given })
  }
  refuses({ pageSize: Object.create({ max: 5 }) })
  const withoutPrototype = (members: object) => Object.assign(Object.create(null), members)
  accepts({ pageSize: withoutPrototype({ max: 50 }), authFailures: withoutPrototype(quota) })
  t.end()
})

test('fills in the defaults, and keeps a frozen copy', (t) => {
  const storage = memory()
  const staticKeys = ['x'.repeat(32)]
  const pageSize = { max: 10 }
  const checked = check({ storage, staticKeys, pageSize })
  staticKeys.push('later')
  pageSize.max = 99
  t.match(checked, {
    prefix: '/v1',
    decoratorName: 'users',
    migrate: false,
    pageSize: { default: 10, max: 10 },
    requireIfMatch: false,
    errorFormat: 'problem',
    notFoundHandler: true,
    idempotencyTtl: 86_400,
    keyPrefix: 'uk',
    keyCache: 5,
    staticKeys: ['x'.repeat(32)]
  })
  t.equal(checked.storage, storage)
  t.ok(Object.isFrozen(checked) && Object.isFrozen(checked.pageSize) && Object.isFrozen(checked.staticKeys))
  t.end()
})
