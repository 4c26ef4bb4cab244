import assert from 'node:assert/strict'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import type { JsonObject, Opened, OpenOptions, Storage } from '../../lib/storage/storage.ts'
import type { Subject } from './cases.ts'
import { turns } from './concurrency.ts'
import { add, addNth, commit, drop, eventOf, make, nth, OK, rowIn, withMembers } from './rows.ts'
import { everyone, idOf, timeOf } from './values.ts'

/** Duties by name that get a way to make stores that nobody has opened. */
export type SchemaCases = Record<string, (create: () => Promise<Storage>) => Promise<void>>

const first = { order: 'asc', limit: 10, from: { offset: 0 } } as const

const having = (n: number, fields: JsonObject) => withMembers(nth.users(n), { fields })

/** What opening gives, or the code of what it throws. */
async function opened (storage: Storage, options?: OpenOptions): Promise<Opened | string> {
  return storage.open(options).catch((error: unknown) => {
    assert.ok(isStorageError(error))
    return error.code
  })
}

function requireOpened (result: Opened | string, created: boolean | null = null): void {
  assert.ok(typeof result === 'object', `open: ${String(result)}`)
  const { created: was, profile, ...rest } = result
  assert.deepEqual(rest, {})
  assert.equal(typeof was, 'boolean')
  assert.ok(profile === undefined || (typeof profile === 'string' && profile !== ''))
  if (created !== null) assert.equal(was, created, 'created: there was no schema before')
}

/** What a call gives, or null if it throws `unavailable`. */
async function unlessUnavailable<Result> (call: Promise<Result>): Promise<Result | null> {
  return call.catch((error: unknown) => {
    assert.equal(isStorageError(error) ? error.code : error, 'unavailable')
    return null
  })
}

/** A call of every method. */
const callsOf = (storage: Storage): Array<() => Promise<unknown>> => [
  () => storage.open(), () => storage.open({ migrate: true }), () => commit(storage, [add('marks', nth.marks(1))]),
  () => storage.find('users', [{ id: idOf('usr', 1) }]), () => storage.list('apiKeys', { page: first }),
  () => storage.users.find(idOf('usr', 1)), () => storage.users.list(everyone, first),
  () => storage.users.walk(everyone, 'asc', async () => {}), () => storage.listTenants(first),
  () => storage.log.read({ after: null, limit: 1, types: null }), () => storage.log.find(idOf('evt', 1)),
  () => storage.log.history(idOf('usr', 1), { offset: 0, limit: 1 }), () => storage.log.before(idOf('evt', 1)),
  () => storage.log.rewrite({ of: { subject: 'x' }, make: (event) => event }, 1),
  () => storage.log.prune(timeOf(1), 1), () => storage.log.pruned()
]

/** The least of so many times, in milliseconds. */
async function fastest (run: () => Promise<unknown>, times = 20): Promise<number> {
  let least = Infinity
  for (let i = 0; i < times; i++) {
    const begun = performance.now()
    await run()
    least = Math.min(least, performance.now() - begun)
  }
  return least
}

/** Duties of `open`, `close`, `watch` and `server`. */
export const openSubject: Subject = {
  needs: {},
  cases: {
    'open: repeated and concurrent calls keep all records': async (storage) => {
      await addNth(storage, 'users', 1)
      await addNth(storage, 'apiKeys', 1)
      const all = await Promise.all([1, 2, 3, 4].map((n) => opened(storage, { migrate: n !== 4 })))
      for (const each of all) requireOpened(each)
      assert.deepEqual(await rowIn(storage, 'users', idOf('usr', 1)), nth.users(1))
      assert.deepEqual(await rowIn(storage, 'apiKeys', idOf('key', 1)), nth.apiKeys(1))
    },

    'open: without migrate it costs the same, however many records there are': async (storage, { records }) => {
      const before = await fastest(() => storage.open())
      await make(storage, Array.from({ length: records }, (_, n) => add('users', nth.users(n))))
      const after = await fastest(() => storage.open())
      const what = `it took ${before.toFixed(1)} ms without users, ${after.toFixed(1)} ms with them`
      assert.ok(after < 5 * before + 20, what)
    },

    'close: may be called twice; a later call works or is unavailable': async (storage) => {
      await addNth(storage, 'users', 7)
      await Promise.all([storage.close(), storage.close()])
      await storage.close()
      // What a closed store answers is true: what was there is found, and what it writes is there afterwards.
      if (await unlessUnavailable(storage.open()) !== null) {
        assert.deepEqual(await storage.users.find(idOf('usr', 7)), nth.users(7).record)
        await addNth(storage, 'users', 8)
        assert.deepEqual(await rowIn(storage, 'users', idOf('usr', 8)), nth.users(8))
      }
      for (const call of callsOf(storage)) await unlessUnavailable(call())
      await storage.close()
    },

    'watch: if the store has it, it gives a function that removes the listener': async (storage) => {
      if (storage.watch === undefined) return
      const calls = { removed: 0, kept: 0 }
      const remove = storage.watch(() => { calls.removed++ })
      const removeOther = storage.watch(() => { calls.kept++ })
      assert.equal(typeof remove, 'function', 'watch must return a function that removes the listener')
      remove()
      remove()
      const { removed } = calls
      await addNth(storage, 'apiKeys', 1)
      await turns(50)
      assert.equal(calls.removed, removed, 'a removed listener is not called')
      removeOther()
    },

    'server: if the store has it, each of its members works': async ({ server = {} }) => {
      const { concurrency = 1, driver = 'x', connections, warnings, isReadOnly, upkeep } = server
      assert.ok(concurrency > 0 && Number.isInteger(concurrency))
      assert.ok(typeof driver === 'string' && driver !== '')
      for (const count of Object.values(connections?.() ?? {})) assert.ok(Number.isInteger(count) && count >= 0)
      assert.ok((await warnings?.() ?? []).every((warning) => typeof warning === 'string'))
      assert.equal(await isReadOnly?.() ?? false, false)
      await upkeep?.()
    }
  }
}

/** Duties of opening what nobody has opened. */
export const schemaCases: SchemaCases = {
  'open: before it is migrated the schema is behind, unless the store needs none': async (create) => {
    const storage = await create()
    const before = await opened(storage)
    if (before !== 'schema_behind') requireOpened(before, false)
    const all = await Promise.all([1, 2, 3].map(() => opened(storage, { migrate: true })))
    for (const each of all) requireOpened(each)
    // A later call of the one that has made it may say so too.
    const isCreated = all.some((each) => Object(each).created === true)
    assert.equal(isCreated, before === 'schema_behind', 'created: there was no schema before')
    requireOpened(await opened(storage), false)
    await addNth(storage, 'users', 1)
  },

  'open: what it lacks is said, and what was required stays': async (create) => {
    const storage = await create()
    const needs = { unique: ['memberNo'], filterable: ['plan'] }
    await storage.open({ migrate: true })
    const lacking = await opened(storage, needs)
    // A store that is ready is ready.
    if (lacking !== 'schema_behind') requireOpened(lacking, false)
    requireOpened(await opened(storage, { migrate: true, ...needs }))
    requireOpened(await opened(storage, needs), false)
    requireOpened(await opened(storage, { migrate: true }))
    requireOpened(await opened(storage, needs), false)
    await make(storage, [add('users', having(1, { memberNo: 7, plan: 'pro' }))])
    const taken = { code: 'taken', at: 0, member: { field: 'memberNo' } }
    assert.deepEqual(await commit(storage, [add('users', having(2, { memberNo: 7 }))]), taken)
    const { items, total } = await storage.users.list({ ...everyone, fields: { plan: 'pro' } }, first)
    assert.deepEqual([items, total], [[having(1, { memberNo: 7, plan: 'pro' }).record], 1])
  },

  'open: field_taken where users have the same value of a field that is to be unique, and then nothing is': async (
    create
  ) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const tenant = { tenant: 'acme' }
    await make(storage, [
      add('users', having(1, { memberNo: 7 })), add('users', having(2, { memberNo: 7 })),
      add('users', withMembers(having(3, { nick: 'a' }), tenant)), add('users', having(4, { nick: 'a' }))
    ], [eventOf(1)])
    assert.equal(await opened(storage, { migrate: true, unique: ['memberNo'] }), 'field_taken')
    const lacking = await opened(storage, { unique: ['memberNo'] })
    assert.equal(lacking, 'schema_behind')
    assert.deepEqual(await commit(storage, [add('users', having(5, { memberNo: 7 }))]), OK, 'nothing is unique yet')
    // Of two tenants, and of none.
    requireOpened(await opened(storage, { migrate: true, unique: ['nick'] }))
    const again = await commit(storage, [add('users', withMembers(having(6, { nick: 'a' }), tenant))])
    assert.deepEqual(again, { code: 'taken', at: 0, member: { field: 'nick' } })
    await make(storage, [
      drop('users', having(1, { memberNo: 7 })), drop('users', having(2, { memberNo: 7 }))
    ])
    requireOpened(await opened(storage, { migrate: true, unique: ['memberNo'] }))
  },

  'open: stores that create() gives are apart from each other': async (create) => {
    const [one, other] = [await create(), await create()]
    for (const storage of [one, other]) await storage.open({ migrate: true })
    await addNth(one, 'users', 1)
    assert.equal((await other.users.list(everyone, first)).total, 0)
    assert.equal(await other.users.find(idOf('usr', 1)), null)
  }
}
