import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Storage } from '../../lib/storage/storage.ts'
import { everyone } from './values.ts'

/** What `users.walk` did in a process that did nothing else. */
export interface MeasuredReading {
  users: number
  /** The most bytes by which the memory of the process was larger while a part was taken. */
  bytes: number
}

/** Reads everybody, and measures the memory that it takes. */
export async function measureReading (storage: Storage): Promise<MeasuredReading> {
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
  const reading: MeasuredReading = { users: 0, bytes: 0 }
  await storage.users.walk(everyone, 'asc', async ({ length }) => {
    reading.users += length
    reading.bytes = Math.max(reading.bytes, used() - before)
  })
  return reading
}
