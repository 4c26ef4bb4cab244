// The conformance kit passes stores that are right, and tells an author what to do about one that is not.
import { test } from 'tap'
import { kitStorage } from '../../adapters/testing/kit-storage.ts'
import { memory } from '../../adapters/memory/index.ts'
import type { Subject, TestStorageOptions } from '../../adapters/testing/index.ts'
import {
  EVENT_LOG_METHODS, KEY_USE_METHODS, METHODS, TRASH_METHODS, WEBHOOK_METHODS
} from '../../lib/storage/storage-rules.ts'
import { userOf } from '../../adapters/testing/values.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { DUTIES, KIT_TESTS, passedReport, registered, REPORT_TEST } from '../helpers/kit.ts'
import { override, storageOf } from '../helpers/method-store.ts'
import { PlainStore } from '../helpers/planted-stores/plain-store.ts'
import { HookStore } from '../helpers/planted-stores/webhook-store.ts'

type Create = TestStorageOptions['create']

const FIND = 'findUser: an unknown id returns null, whatever its text'
const plainStore = (): Subject => {
  const store = new PlainStore()
  return { storage: storageOf(store), begin: () => store.begin() }
}

/** Runs the kit, one test after the other: the names of those that failed, and the report. */
async function failuresOf (
  create: Create,
  options: Partial<TestStorageOptions> = { quick: true }
): Promise<{ failed: string[], lines: string[] }> {
  const { tests, lines } = registered(create, options)
  const failed: string[] = []
  for (const { name, run } of tests) await run().catch(() => failed.push(name))
  return { failed, lines }
}

/** Runs one duty, then the report. */
async function runOne (create: Create, duty = FIND, options: Partial<TestStorageOptions> = {}) {
  const { tests, lines } = registered(create, options)
  const runOf = (wanted: string) => tests.find(({ name }) => name === wanted)?.run()
  const error: unknown = await runOf(duty)?.then(() => null, (reason: unknown) => reason)
  const reportError: unknown = await runOf(REPORT_TEST)?.then(() => null, (reason: unknown) => reason)
  return { error, reportError, lines }
}

/** The memory store with other members. */
const withMembers = (members: object) => (): Storage => ({ ...memory(), ...members })
const failing = (message: string) => async () => { throw new Error(message) }

test('refuses a store that throws what refuses a write', async (t) => {
  for (const code of ['email_taken', 'field_taken', 'version_mismatch', 'last_admin_key'] as const) {
    const thrown = async () => { throw new StorageError(code, 'refused') }
    const { error } = await runOne(withMembers({ writeUsers: thrown }), 'create: several users may have the same name')
    t.match(error, { message: `writeUsers threw ${code}: what refuses a write is its outcome, { code: '${code}' }` })
  }
  const inactive = async () => { throw new StorageError('api_key_inactive', 'refused') }
  const duty = 'create key: names and the order of scopes are stored unchanged'
  const { error } = await runOne(withMembers({ writeApiKey: inactive }), duty)
  t.match(error, { message: /^writeApiKey threw api_key_inactive: what refuses a write is its outcome/ })
})

test('every method of the interface has a duty, and no name is used twice', async (t) => {
  const subjects = DUTIES.flatMap((duty) => (duty.split(': ')[0] ?? '').split(', '))
  const methods = new Set(subjects.map((part) => part.split(' with ')[0]))
  const ofLog = EVENT_LOG_METHODS.map((name) => `eventLog.${name}`)
  const ofWebhooks = WEBHOOK_METHODS.map((name) => `webhooks.${name}`)
  const ofUses = KEY_USE_METHODS.map((name) => `keyUses.${name}`)
  const ofTrash = TRASH_METHODS.map((name) => `trash.${name}`)
  const writes = [
    'create', 'update', 'delete', 'put away', 'restore', 'purge', 'create key', 'rotate key', 'revoke key', 'touch key'
  ]
  const parts = [...ofLog, ...ofTrash, ...ofWebhooks, ...ofUses]
  const others = ['histories', 'watchApiKeys', 'joinTransaction', 'eventLog', 'tenants', ...parts]
  const all = METHODS.filter((name) => name !== 'writeApiKey')
  t.strictSame([...methods].sort(), [...all, ...writes, ...others].sort())
  t.equal(new Set(KIT_TESTS).size, KIT_TESTS.length)
  t.equal(KIT_TESTS.at(-1), REPORT_TEST)
})

test('passes plain stores that are right, with and without the optional parts', async (t) => {
  const { failed, lines } = await failuresOf(() => {
    const store = new HookStore()
    return { storage: storageOf(store), begin: () => store.begin() }
  }, { interleavings: 'few', timeoutMs: 300_000 /* Each of its reads looks at every user. */ })
  t.strictSame(failed, [])
  t.match(lines[0], passedReport('plain', { transactions: true, tenants: false, trash: false, keyUses: false }))
  const passes = /^For the README of the adapter: passes the conformance kit of fastify-users \d+\.\d+\.\d+: \d+ /
  t.match(lines[1], passes)
  t.match(lines[1], 'with transactions, with event log, with batches, with webhooks')
  const unlogged = await failuresOf(plainStore)
  t.strictSame(unlogged.failed, [])
  t.match(unlogged.lines[0], / plain: [1-9]\d+ duties passed, 0 failed, 0 not reached; the store declares unsupp/)
  const lacks = ['event log', 'batches', 'webhooks', 'tenants', 'trash', 'uses of keys']
    .map((what) => `${what} \\(\\d+ duties\\)`).join(', ')
  t.match(unlogged.lines[0], new RegExp(`: ${lacks}; `))
})

test('the report is right in whatever order the duties run, and if only some of them run', async (t) => {
  const all = registered(memory, { quick: true, timeoutMs: 300_000 /* All run at the same time. */ })
  await Promise.all(all.tests.toReversed().map(({ run }) => run()))
  t.equal(all.lines.length, 1)
  t.match(all.lines[0], / memory: [1-9]\d+ duties passed, 0 failed, 0 not reached; .*, quick$/)
  const { error, lines } = await runOne(memory, FIND, { seed: 7 })
  t.equal(error, null)
  t.strictSame(lines.map((line) => line.replace(/\d+\.\d s/, 'TIME')), [
    'fastify-users/testing: memory: 1 duties passed, 0 failed, 0 not reached; ' +
      'the store declares nothing unsupported; TIME, seed 7'
  ])
})

test('methods that are not written yet fail no duty but the report, which names them', async (t) => {
  const without = (...methods: string[]) => () => {
    const store = memory()
    for (const method of methods) Reflect.deleteProperty(store, method)
    return store
  }
  const later = ['prune', 'listApiKeys', 'findApiKey', 'writeApiKey']
  const { failed, lines } = await failuresOf(without(...later))
  t.strictSame(failed, [REPORT_TEST])
  t.match(lines[0], / [1-9]\d+ duties passed, 0 failed, [1-9]\d+ not reached \(no .*writeApiKey/)
  const last = await failuresOf(without('prune'))
  t.strictSame(last.failed, [REPORT_TEST])
  t.match(last.lines[0], / [1-9]\d\d duties passed, 0 failed, \d+ not reached \(no prune yet\)/)
  const rotation = DUTIES.find((duty) => duty.startsWith('prune'))
  const { reportError } = await runOne(without('prune'), rotation)
  t.match(reportError, { message: /^the store has no prune yet: it must have every method/ })
})

test('a store of which the first methods are written compiles', async (t) => {
  const create = () => ({
    name: 'begun',
    check: async () => {},
    migrate: async () => {},
    close: async () => {}
  })
  const { error, lines } = await runOne(create)
  t.equal(error, null)
  t.match(lines[0], /begun: 0 duties passed, 0 failed, 1 not reached \(no writeUsers, /)
})

test('methods of webhooks that are not written yet are named too', async (t) => {
  const CLAIM = DUTIES.find((duty) => duty.startsWith('webhooks.claim'))
  const create = (): Storage => {
    const { webhooks, ...store } = memory()
    return { ...store, webhooks: Object({ ...webhooks, claim: undefined }) }
  }
  const { error, reportError, lines } = await runOne(create, CLAIM)
  t.equal(error, null)
  t.match(lines[0], / 0 duties passed, 0 failed, 1 not reached \(no webhooks\.claim yet\)/)
  t.match(reportError, { message: /^the store has no webhooks\.claim yet/ })
})

test('says what to do about a store that can only fail', async (t) => {
  const used = memory()
  const user = userOf(1, { id: 'usr_1', name: 'x', email: 'x', createdAt: '', updatedAt: '' })
  await kitStorage(used).createUser(user, { emailKey: 'x', nameKey: 'x' }, null)
  const rows: Array<[Create, RegExp]> = [
    [() => { throw new Error('could not make a store') }, /^could not make a store$/],
    [() => Object({}).nothing, /^create\(\) gave undefined: return the store, or \{ storage, begin, destroy \}$/],
    [() => Object({ nothing: null }).nothing, /^create\(\) gave null: /],
    [withMembers({ name: undefined }), /^the store needs a `name`/],
    [() => used, /^create\(\) must give an empty store, apart from all others/],
    [withMembers({ close: failing('could not close') }), /^could not close$/],
    [withMembers({ findUser: failing('the cause'), close: failing('could not close') }), /threw Error: the cause/],
    [() => ({ storage: memory(), destroy: failing('could not remove the store') }), /^could not remove the store$/]
  ]
  for (const [create, message] of rows) {
    const { error, lines } = await runOne(create)
    t.match(error, { message })
    t.match(lines, [/: 0 duties passed, 1 failed, /])
  }
})

test('says which rule of every method is broken', async (t) => {
  const { findUser, writeUsers } = memory()
  const rows: Array<[object, RegExp]> = [
    [{ findUser: failing('E11000') }, /^findUser threw Error: E11000[^]*A refusal is a StorageError[^]*Translate/],
    [{ findUser () { throw new StorageError('fault', 'x') } }, /^findUser threw synchronously: it must return/],
    [{ findUser: () => null }, /^findUser returned null: it must return a promise/],
    [{ findUser: async () => new Date(0) }, /^the result of findUser is an object of Date, no plain one/],
    [{ findUser: async () => ({ id: undefined }) }, /^the result of findUser\.id is undefined/],
    [{ findUser: async () => Object.freeze({}) }, /^the result of findUser is frozen/],
    [{ check: async () => true }, /^check resolved to true: it must give nothing/],
    [{ findUser: async (id: string) => { throw new StorageError('fault', `no ${id}`) } }, /has a value that was given/],
    [
      { findUser: async () => { throw new StorageError('fault', 'SELECT * FROM users') } },
      /has SQL in its message, which can reach a log/
    ]
  ]
  t.type(findUser, 'function')
  t.type(writeUsers, 'function')
  for (const [members, message] of rows) t.match((await runOne(withMembers(members))).error, { message })
})

test('a duty that does not end is ended, and says what it waits for', async (t) => {
  const never = async () => new Promise<never>(() => {})
  const { error } = await runOne(withMembers({ findUser: never }), FIND, { timeoutMs: 50 })
  t.match(error, { message: /^the duty did not end within 50 ms: it still waits for findUser$/ })
  const both = withMembers({ writeUsers: never, close: never })
  const race = 'create: of many concurrent calls with one address, exactly one succeeds'
  const { error: ofRace } = await runOne(both, race, { timeoutMs: 50 })
  t.match(ofRace, { message: /it still waits for 20 calls of writeUsers$/ })
})

test('a random history that fails is shortened to calls that an author can paste, with its seed', async (t) => {
  const HISTORIES = DUTIES.find((duty) => duty.startsWith('histories:'))
  const create = () => {
    const store = memory()
    // Forgets the address of a user that was renamed.
    return override(store, ({ updateUser }) => ({
      async updateUser (...args) {
        const update = await updateUser(...args)
        return update === null ? null : { ...update, user: { ...update.user, email: 'gone' } }
      }
    }))
  }
  const { error } = await runOne(create, HISTORIES, { seed: 3 })
  const message = String(Object(error).message)
  t.match(message, /^with the seed 3, after these calls, the last one has an unexpected result:\nawait storage\.write/)
  t.match(message, /\nawait storage\.writeUsers\(\[\s*\{\s*type: 'update'[^]*expected: [^]*got: {6}/)
  t.ok(message.split('await storage.').length <= 4, 'two calls are enough')
})

test('closes and destroys a store after each duty, whether it passed or failed', async (t) => {
  for (const findUser of [memory().findUser, failing('broken')]) {
    const calls: string[] = []
    const storage = { ...memory(), findUser, close: async () => { calls.push('close') } }
    await runOne(() => ({ storage, destroy: async () => calls.push('destroy') }))
    t.strictSame(calls, ['close', 'destroy'])
  }
})

test('a transaction that a failed duty has left open is rolled back', async (t) => {
  let rollbacks = 0
  class NoCreation extends PlainStore {
    override createUser (): Promise<never> {
      return Promise.reject(new StorageError('fault', 'no creation'))
    }
  }
  const create = (): Subject => {
    const store = new NoCreation()
    const begin = async () => {
      const { transaction, commit, rollback } = await store.begin()
      return { transaction, commit, rollback: async () => rollback().finally(() => { rollbacks++ }) }
    }
    return { storage: storageOf(store), begin }
  }
  const { error } = await runOne(create, 'joinTransaction: closing the store in a transaction closes nothing')
  t.match(error, { code: 'fault' })
  t.equal(rollbacks, 1)
})
