import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Storage } from '../../lib/storage/storage.ts'
import { everyone } from './values.ts'

/** What `users.walk` did in a process that did nothing else. */
export interface MeasuredWalk {
  users: number
  /** The most bytes by which the memory of the process was larger while a part was taken. */
  bytes: number
}

/** Reads everybody, and measures the memory that it takes. */
export async function measureWalk (storage: Storage): Promise<MeasuredWalk> {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const used = (): number => {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  // Connections, statements and code are there after the first time.
  await storage.users.walk(everyone, 'asc', async () => {})
  const before = used()
  const walk: MeasuredWalk = { users: 0, bytes: 0 }
  await storage.users.walk(everyone, 'asc', async ({ length }) => {
    walk.users += length
    walk.bytes = Math.max(walk.bytes, used() - before)
  })
  return walk
}
