import type { Test } from 'tap'
import type { SchemaRequirements, Storage } from '../../lib/storage/storage.ts'

/** Creates the tables of a storage, with the indexes that are required. It is closed with the test. */
export async function migrated<Store extends Pick<Storage, 'open' | 'close'>> (
  t: Test,
  storage: Store,
  requirements: SchemaRequirements = {}
): Promise<Store> {
  t.teardown(() => storage.close())
  await storage.open({ migrate: true, ...requirements })
  return storage
}
