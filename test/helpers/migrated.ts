import type { Test } from 'tap'
import type { Storage } from '../../lib/core/storage.ts'

/** Creates the tables of a storage, which is closed with the test. */
export async function migrated<Store extends Pick<Storage, 'migrate' | 'close'>> (
  t: Test,
  storage: Store
): Promise<Store> {
  t.teardown(() => storage.close())
  await storage.migrate()
  return storage
}
