// What a process does, and what another one has done between its reading and its writing.
import { type Repository, repositoryOf } from '../../../lib/storage/repository.ts'
import type { ApiKeyWrite } from '../../../lib/storage/api-key-writes.ts'
import type { UserWrite } from '../../../lib/storage/user-writes.ts'
import { interrupted, processes } from './on-stores.ts'

/** What one process does, what another has done between its reading and its writing, and what comes of it. */
export interface Amid {
  before?: (repository: Repository) => Promise<unknown>
  does: (repository: Repository) => Promise<unknown>
  amid: Array<(repository: Repository) => Promise<unknown>>
  comes: unknown
  /** What is there afterwards. */
  then?: (repository: Repository) => Promise<unknown>
  leaves?: unknown
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
/** Tests each of them on every store, with two processes. */
export function testAmid (all: Record<string, Amid>): void {
  for (const [name, { before, does, amid, comes, then, leaves }] of Object.entries(all)) {
    processes(`between reading and writing: ${name}`, async (t, [first, second]) => {
      const other = repositoryOf(second)
      await before?.(other)
      const value = await does(repositoryOf(interrupted(first, amid.map((happens) => () => happens(other)))))
      if (typeof comes === 'function') t.ok(comes(value))
      else t.strictSame(value, comes)
      if (then !== undefined) t.strictSame(await then(other), leaves)
    })
  }
}
