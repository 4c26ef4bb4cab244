import type { PoolExecutor } from '../connection/executor.ts'

/** What keeps the numbers of pages cheap. */
export interface Compaction {
  run (): Promise<void>
  /** Called with the numbers of users and changes that a page of a tenant, or of all, had to count row by row. */
  onPage (tenant: string | undefined, tail: number, changes: number): void
  /** Called for every new user. */
  onCreate (tenant: string | undefined): void
  /** Called for users who were given to a tenant: most of them are in its tail. */
  onAssign (tenant: string, users: number): void
  /** Counts all users again. Until that is done, lists are right but slower. */
  rebuild (): Promise<void>
  /** Stops the work, and resolves when none is running. */
  close (): Promise<void>
}

/** Where numbers are kept by hand there is nothing to compact. */
export function handCounting ({ snapshot }: PoolExecutor, recount: readonly string[]): Compaction {
  const nothing = async (): Promise<void> => {}
  return {
    run: nothing,
    onPage () {},
    onCreate () {},
    onAssign () {},
    rebuild: () => snapshot(async (on) => { for (const statement of recount) await on(statement) }),
    close: nothing
  }
}
