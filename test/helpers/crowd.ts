import { kitStorage } from '../../adapters/testing/kit-storage.ts'
import { memory } from '../../adapters/memory/index.ts'
import { keysOf, userOf } from '../../adapters/testing/values.ts'
import type { Storage } from '../../lib/storage/storage.ts'

/** A store in memory with many users. */
export async function crowd (length: number): Promise<Storage> {
  const storage = memory()
  for (let n = 0; n < length; n++) {
    const user = userOf(n, { name: `${n}`.padEnd(200, 'x') })
    await kitStorage(storage).createUser(user, keysOf(user), null)
  }
  return storage
}
