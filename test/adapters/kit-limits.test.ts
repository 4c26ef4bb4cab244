// The limits of the conformance kit's duties, and what becomes of calls that fail while a duty does something else.
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
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

const never = async () => new Promise<never>(() => {})

async function someTurns (): Promise<void> {
  for (let count = 0; count < 20; count++) await turn()
}

test('each duty that is repeated with events has the whole time, and one that does not end is named', async (t) => {
  const changes = DUTIES.find((duty) => duty.startsWith('eventLog: with') && duty.includes('changes of users'))
  const limit = 1500
  let stores = 0
  const slow = () => {
    const store = memory()
    stores++
    return { ...store, check: async () => { await wait(150) } }
  }
  const begun = performance.now()
  t.equal(await errorOf(slow, changes, limit), null)
  t.ok(stores > 10, 'each has a store of its own')
  t.ok(performance.now() - begun > limit, 'together they take longer than each may')
  const late = await errorOf(() => ({ ...memory(), findUser: never }), changes, 200)
  t.match(late, { message: /^with events, "updateUser: .*": the duty did not end within 200 ms: .* for findUser$/ })
  const unready = await errorOf(() => ({ ...memory(), check: never }), changes, 50)
  t.match(unready, { message: /^the duty did not end within 50 ms: it still waits for check$/ })
})

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
