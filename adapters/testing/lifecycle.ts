import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { firstPage } from './list-values.ts'
import { addUsers, apiKeyOf, everyone, idOf } from './values.ts'

/** Duties of `migrate`, `check` and `close`. */
export const lifecycleCases: Cases = {
  'migrate, check: repeated and concurrent calls keep all records': async (storage) => {
    const [user] = await addUsers(storage, 1)
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false })
    await Promise.all([storage.migrate(), storage.migrate(), storage.migrate()])
    await storage.check()
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
    assert.deepEqual(await storage.findApiKey(idOf('key', 1)), apiKeyOf(1))
  },

  'close: may be called twice; a later call works or throws unavailable': async (storage) => {
    await storage.close()
    await storage.close()
    const calls = [
      () => storage.findUser(idOf('usr', 1)),
      () => storage.listUsers(everyone, firstPage(10)),
      () => storage.createApiKey(apiKeyOf(1), { onlyFirst: true })
    ]
    for (const call of calls) await call().catch((error) => assert.equal(Object(error).code, 'unavailable'))
  }
}
