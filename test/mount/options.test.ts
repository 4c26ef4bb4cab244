// Options are checked once, at registration: one error names every problem, and no bad value becomes a default.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { checkOptions } from '../../lib/mount/options.ts'
import '../helpers/watch-all.ts'

const check = (options: object) => checkOptions(Object(options))

test('a storage that lacks methods is refused with their names', (t) => {
  const { find, commit, ...rest } = memory()
  const refused = (storage: unknown, message: RegExp) => t.throws(() => check({ storage }), { message })
  refused({ ...rest, find, commit: 1 }, /: this one lacks commit$/)
  for (const name of [undefined, '', 5]) refused({ ...memory(), name }, /: this one lacks name$/)
  refused({ ...memory(), log: Object.create(memory().log, { prune: { value: 1 } }) }, /: this one lacks log\.prune$/)
  const log = { read () {}, find () {}, history () {}, before () {}, rewrite () {} }
  refused({ ...memory(), log }, /: this one lacks log\.prune, log\.pruned$/)
  refused({ ...memory(), users: { find () {} } }, /: this one lacks users\.list, users\.walk$/)
  refused(memory, /: this is a function: call it$/)
  refused(Object.assign(() => {}, { client: {} }), /: this is a Knex instance: use knexStorage\(knex\)$/)
  t.throws(() => check({}), {
    message: /^fastify-users: 1 wrong option:\n- storage is required and must be a storage, such as memory\(\)/
  })
  refused('sqlite', /: this one lacks name, open, close, commit, find, list, listTenants, users\.find, /)
  t.end()
})

test('names every wrong option, and repeats none of its values', (t) => {
  const wrong = {
    storage: { name: 'x', open () {} },
    prefix: 'v1',
    decoratorName: '1x',
    migrate: 'yes',
    pageSize: { default: 0, max: 'secret', min: 1 },
    requireIfMatch: 1,
    errorFormat: 'json',
    notFoundHandler: 'no',
    idempotencyTtl: 0,
    apiKeys: { prefix: 'UK_', cache: -1, pepper: 'secret', static: ['secret'], routes: 'yes', stattic: 1 },
    authenticate: true,
    limits: { requests: { max: 'secret' }, failures: { max: 1 }, deletions: { max: 0, window: 1 }, inFlight: -1 },
    fields: 'secret',
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
    const { apiKeys, limits, ...others } = wrong
    const names = [
      ...Object.keys(apiKeys).map((name) => `apiKeys.${name}`), ...Object.keys(limits).map((name) => `limits.${name}`),
      ...Object.keys(others)
    ]
    t.match(message, new RegExp(`^fastify-users: ${names.length} wrong options:\\n`))
    for (const option of names) t.match(message, `\n- ${option} `)
    t.notMatch(message, 'secret')
  }
  t.end()
})

test('accepts values up to their bounds, and none beyond them', (t) => {
  const storage = memory()
  const given = (name: string, value: unknown) => {
    const [group = '', member] = name.split('.')
    return { storage, [group]: member === undefined ? value : { [member]: value } }
  }
  const accepts = (name: string, ...values: unknown[]) => {
    for (const value of values) t.doesNotThrow(() => check(given(name, value)), JSON.stringify({ [name]: value }))
  }
  const refuses = (name: string, ...values: unknown[]) => {
    for (const value of values) {
      t.throws(() => check(given(name, value)), { name: 'TypeError', message: name }, JSON.stringify(value))
    }
  }
  accepts('prefix', '', '/', '/a', '/a/', '/:tenant/v1')
  refuses('prefix', 'a', '/a?b', '/a#', '/a;b', 5, '/ü', '/a b', '/a%20b', '/x\ny', '/a"b', '/a\\b')
  accepts('pageSize', {}, { max: 10 }, { default: 100 }, { default: 10_000, max: 10_000 }, { max: 1 })
  refuses('pageSize', { default: 101 }, { default: 5, max: 4 }, { max: 10_001 }, { max: 1.5 }, [])
  accepts('apiKeys.prefix', 'a', '0', 'abcdefghijkl')
  refuses('apiKeys.prefix', '', 'abcdefghijklm', 'a_b', 'A')
  accepts('apiKeys.cache', 0, 0.5, 3600)
  refuses('apiKeys.cache', 3601, NaN, Infinity, '5')
  const [key, other] = ['x'.repeat(32), 'y'.repeat(32)]
  accepts('apiKeys.static', [], [key], [{ key }, { key: other, name: 'n', scopes: ['keys:read'] }])
  refuses('apiKeys.static', key, ['x'.repeat(31)], [`${key} `], [`${key}é`], [{ key: 'x' }], [key, { key }])
  refuses('apiKeys.static', [{ key, scopes: [] }], [{ key, scopes: ['admin'] }], [{ key, other: 1 }])
  accepts('apiKeys.pepper', key, [key], [key, other])
  refuses('apiKeys.pepper', [], [key, 'short'], Array.from({ length: 9 }, () => key))
  // FASTIFY_USERS_PEPPER of the command line could not hold these.
  refuses('apiKeys.pepper', `${key},${other}`, [key, `${other},`], `${key}\n`, ` ${key}`, `${key} ${other}`)
  refuses('apiKeys.pepper', `${key}é`, `${key}\0`, undefined)
  refuses('apiKeys', [], 'x', null, true)
  accepts('logSerializers', {}, { req: () => ({}), res: undefined })
  refuses('logSerializers', { req: 'x' }, { req: null }, null)
  t.end()
})

test('quotas and their stores: accepts what @fastify/rate-limit takes, and nothing that a copy would lose', (t) => {
  const storage = memory()
  const accepts = (given: object) => t.doesNotThrow(() => check({ storage, ...given }), JSON.stringify(given))
  const refuses = (given: object) => t.throws(() => check({ storage, ...given }), TypeError, JSON.stringify(given))
  const quota = { max: 1, window: 86_400 }
  class Counters { incr () {} child () {} }
  class ReadableCounters extends Counters { read () {} }
  accepts({ limits: { requests: quota, failures: quota, deletions: quota } })
  const redis = { defineCommand () {} }
  const counting = (counters: object, requests: object = quota) => ({ limits: { requests, counters } })
  accepts(counting({ redis, nameSpace: 'x', cache: 10, skipOnError: true }))
  accepts(counting({ redis: Object.create(redis) }))
  accepts(counting({ store: Counters }))
  // Without a quota of requests too.
  accepts({ limits: { failures: quota, counters: { redis } } })
  for (const wrong of [{ window: 86_401 }, { max: 0.5 }, { other: 1 }]) {
    refuses({ limits: { requests: { ...quota, ...wrong } } })
  }
  for (const wrong of [{ store: 'x' }, { redis: {} }, { store: () => {} }, { other: 1 }]) refuses(counting(wrong))
  refuses({ limits: { requests: { max: 1 } } })
  t.throws(() => check({ storage, ...counting({ store: class { incr () {} } }) }), {
    message: /- limits\.counters\.store must have the methods incr and child$/
  })
  accepts({ limits: { failures: quota, counters: { store: ReadableCounters } } })
  refuses({ limits: { failures: quota, counters: { store: Counters } } })
  // A copy has no inherited or hidden members: it would be a limit without `max`.
  class Quota { get max () { return 3 } get window () { return 60 } }
  const hidden = Object.defineProperty({ window: 60 }, 'max', { value: 3 })
  for (const given of [new Quota(), Object.create(quota), Object.create({ since: '2026-01-01' }), hidden]) {
    refuses({ deprecated: given })
    for (const name of ['requests', 'failures', 'deletions']) refuses({ limits: { [name]: given } })
  }
  refuses({ pageSize: Object.create({ max: 5 }) })
  const withoutPrototype = (members: object) => Object.assign(Object.create(null), members)
  accepts({ pageSize: withoutPrototype({ max: 50 }), limits: withoutPrototype({ failures: withoutPrototype(quota) }) })
  t.end()
})

test('fills in the defaults, and keeps a frozen copy', (t) => {
  const storage = memory()
  const staticKeys = ['x'.repeat(32)]
  const pageSize = { max: 10 }
  const checked = check({ storage, apiKeys: { static: staticKeys }, pageSize })
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
    apiKeys: { prefix: 'uk', cache: 5, static: ['x'.repeat(32)] },
    limits: { counters: {}, refusedLines: 10_000, streams: { perKey: 10, total: 1000 } }
  })
  t.equal(checked.storage, storage)
  t.ok(Object.isFrozen(checked) && Object.isFrozen(checked.pageSize) && Object.isFrozen(checked.apiKeys.static))
  t.end()
})
