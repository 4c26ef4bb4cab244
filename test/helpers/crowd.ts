import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { userOf } from './records.ts'
import { addUsers } from './writes.ts'

/** So many of them are more than the buffers of a connection hold. */
export const MANY = 6000

/** A store in memory with users, each of whom has more text than over HTTP anybody may give one. */
export async function crowd (length: number): Promise<Storage> {
  const storage = memory()
  const users = Array.from({ length }, (_, n) => userOf(n, { name: `${n}`.padEnd(2500, 'x') }))
  await addUsers(storage, users)
  return storage
}
