import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { userOf } from './records.ts'
import { addUser } from './writes.ts'

/** A store in memory with many users. */
export async function crowd (length: number): Promise<Storage> {
  const storage = memory()
  for (let n = 0; n < length; n++) {
    const user = userOf(n, { name: `${n}`.padEnd(200, 'x') })
    await addUser(storage, user)
  }
  return storage
}
