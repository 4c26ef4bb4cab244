// What a process does, and what another one has done between its reading and its writing.
import { type Repository, repositoryOf } from '../../../lib/storage/repository.ts'
import type { ApiKeyWrite } from '../../../lib/storage/api-key-writes.ts'
import type { UserWrite } from '../../../lib/storage/user-writes.ts'
import { inMemory, interrupted, processes } from './on-stores.ts'
import { test, type Test } from 'tap'
import type { Storage } from '../../../lib/storage/storage.ts'

/** What one process does, what another has done between its reading and its writing, and what comes of it. */
export interface Amid {
  before?: (repository: Repository) => Promise<unknown>
  does: (repository: Repository) => Promise<unknown>
  amid: Array<(repository: Repository) => Promise<unknown>>
  comes: unknown
  /** What is there afterwards. */
  then?: (repository: Repository) => Promise<unknown>
  leaves?: unknown
  /** After a read something else comes of it. */
  onlyAtCommit?: true
}

export const makes = (...writes: UserWrite[]) => async ({ users }: Repository) => {
  let last: unknown
  for (const write of writes) last = await users.writeOne(write)
  return last
}
export const writesKeys = (...writes: ApiKeyWrite[]) => async ({ apiKeys }: Repository) => {
  let last: unknown
  for (const write of writes) last = await apiKeys.write(write)
  return last
}
export const calls = (...given: Parameters<Repository['users']['write']>) => async ({ users }: Repository) =>
  (await users.write(...given)).outcomes

/** Tests each of them with two processes: before the commit on every store, and after each read in memory. */
export function testAmid (all: Record<string, Amid>): void {
  for (const [name, { before, does, amid, comes, then, leaves, onlyAtCommit = false }] of Object.entries(all)) {
    /** `afterRead`: when the first of them happens. Returns how often was read before the commit. */
    async function run (t: Test, [first, second]: [Storage, Storage], afterRead?: number): Promise<number> {
      const other = repositoryOf(second)
      await before?.(other)
      const { storage, reads } = interrupted(first, amid.map((happens) => () => happens(other)), afterRead)
      const value = await does(repositoryOf(storage))
      if (typeof comes === 'function') t.ok(comes(value), `after read ${afterRead}`)
      else t.strictSame(value, comes, `after read ${afterRead}`)
      if (then !== undefined) t.strictSame(await then(other), leaves)
      return reads()
    }
    processes(`between reading and writing: ${name}`, async (t, stores) => { await run(t, stores) })
    if (onlyAtCommit) continue
    test(`after each read: ${name}`, async (t) => {
      for (let n = 1, reads = 1; n <= reads; n++) reads = await run(t, await inMemory(), n)
    })
  }
}
