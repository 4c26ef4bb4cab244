import assert from 'node:assert/strict'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import type { KitStorage } from './kit-storage.ts'
import type { Cases } from './cases.ts'
import { firstPage } from './list-values.ts'
import { addUsers, anyVersion, apiKeyOf, everyone, idOf, keysOf, timeOf, userOf } from './values.ts'

/** A call of every method. */
function callsOf (storage: KitStorage): Array<() => Promise<unknown>> {
  const user = userOf(1)
  const times = { now: timeOf(1), expiresAt: timeOf(2) }
  return [
    () => storage.createUser(user, keysOf(user), null),
    () => storage.findUser(idOf('usr', 1)),
    () => storage.listUsers(everyone, firstPage(10)),
    () => storage.readUsers(everyone, 'asc', async () => {}),
    () => storage.updateUser(idOf('usr', 1), {}, timeOf(1), anyVersion),
    () => storage.deleteUser(idOf('usr', 1), anyVersion),
    () => storage.prune(timeOf(1)),
    () => storage.createApiKey(apiKeyOf(1), { onlyFirst: true }),
    () => storage.findApiKey({ id: idOf('key', 1) }),
    () => storage.findApiKey({ start: apiKeyOf(1).start }),
    () => storage.listApiKeys(firstPage(10)),
    () => storage.rotateApiKey(idOf('key', 9), apiKeyOf(2), times),
    () => storage.revokeApiKey(idOf('key', 1), timeOf(1), { keepOneWith: [] }),
    () => storage.touchApiKey(idOf('key', 1), timeOf(1), timeOf(0)),
    () => storage.check(),
    () => storage.migrate()
  ]
}

/** What a call gives, or null if it throws `unavailable`. */
export async function unlessUnavailable<Result> (call: Promise<Result>): Promise<Result | null> {
  return call.catch((error: unknown) => {
    assert.equal(isStorageError(error) ? error.code : error, 'unavailable')
    return null
  })
}

/** Duties of `migrate`, `check`, `close` and `watchApiKeys`. */
export const lifecycleCases: Cases = {
  'migrate, check: repeated and concurrent calls keep all records': async (storage) => {
    const [user] = await addUsers(storage, 1)
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false })
    await Promise.all([storage.migrate(), storage.migrate(), storage.migrate()])
    await storage.check()
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
    assert.deepEqual(await storage.findApiKey({ id: idOf('key', 1) }), apiKeyOf(1))
  },

  'check: before migrate the schema is behind, unless the store needs none': async (_, { withoutSchema }) => {
    await withoutSchema(async (storage) => {
      for (const requirements of [undefined, { filterable: ['plan'] }]) {
        const error = await storage.check(requirements).then(() => null, (reason: unknown) => reason)
        if (error !== null) {
          assert.equal(isStorageError(error) ? error.code : error, 'schema_behind')
          continue
        }
        // A store that is ready works.
        const user = userOf(1, { fields: { plan: 'pro' } })
        await storage.createUser(user, keysOf(user), null)
        const filter = requirements === undefined ? everyone : { ...everyone, fields: { plan: 'pro' } }
        assert.deepEqual(await storage.listUsers(filter, firstPage(9)), { items: [user], total: 1 })
        await storage.deleteUser(user.id, anyVersion)
      }
      await storage.migrate({ filterable: ['plan'] })
      await storage.check({ filterable: ['plan'] })
    })
  },

  'close: may be called twice; a later call works or throws unavailable': async (storage) => {
    const [user] = await addUsers(storage, 7)
    assert.ok(user)
    await Promise.all([storage.close(), storage.close()])
    await storage.close()
    // What a closed store answers is true: what was there is found, and what it writes is there afterwards.
    const isOpen = await unlessUnavailable(storage.check().then(() => true)) === true
    if (isOpen) {
      assert.deepEqual(await storage.findUser(user.id), user)
      const [other] = await addUsers(storage, 8)
      assert.deepEqual(await storage.findUser(idOf('usr', 8)), other)
    }
    for (const call of callsOf(storage)) await unlessUnavailable(call())
    await storage.close()
  },

  'watchApiKeys: if the store has it, it gives a function that removes the listener': async (storage) => {
    if (storage.watchApiKeys === undefined) return
    const calls = { removed: 0, kept: 0 }
    const remove = storage.watchApiKeys(() => { calls.removed++ })
    const removeOther = storage.watchApiKeys(() => { calls.kept++ })
    assert.equal(typeof remove, 'function', 'watchApiKeys must return a function that removes the listener')
    remove()
    remove()
    const { removed } = calls
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false })
    await storage.revokeApiKey(idOf('key', 1), timeOf(1), { keepOneWith: [] })
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(calls.removed, removed, 'a removed listener is not called')
    removeOther()
  }
}
