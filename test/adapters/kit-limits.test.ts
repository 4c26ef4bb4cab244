// The limits of the conformance kit's duties, and what becomes of calls that fail while a duty does something else.
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { TestStorageOptions } from '../../adapters/testing/index.ts'
import { StorageError } from '../../lib/core/storage-error.ts'
import type { Storage } from '../../lib/core/storage.ts'
import { DUTIES, registered } from '../helpers/kit.ts'

/** The error of a duty; null: it passes. */
async function errorOf (create: TestStorageOptions['create'], duty = '', timeout = 10_000): Promise<unknown> {
  const run = registered(create, { timeout }).tests.find(({ name }) => name === duty)?.run
  if (run === undefined) throw new RangeError(`there is no duty "${duty}"`)
  return run().then(() => null, (reason: unknown) => reason)
}

async function someTurns (): Promise<void> {
  for (let count = 0; count < 20; count++) await turn()
}

test('a read that fails while a duty writes fails that duty, and nothing else of the process', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => { unhandled.push(reason) }
  process.prependListener('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const create = () => {
    const store = memory()
    const read = async () => { throw new StorageError('unavailable', 'no log') }
    const updateUser: Storage['updateUser'] = async (...given) => {
      await someTurns()
      return store.updateUser(...given)
    }
    return { ...store, updateUser, eventLog: { ...Object(store.eventLog), read } }
  }
  const error = await errorOf(create, DUTIES.find((duty) => duty.startsWith('eventLog.read: whoever reads on')))
  t.match(error, { code: 'unavailable' })
  await someTurns()
  t.strictSame(unhandled, [])
})
