/** A transaction of the host's, and how it ends. */
export interface HostTransaction {
  transaction: unknown
  commit: () => Promise<unknown>
  rollback: () => Promise<unknown>
}

/**
 * Runs with a way to begin transactions. One that is left open, because a duty has failed, is rolled back: it would
 * hold its connection, and closing the store would wait for it.
 */
export async function endingTransactions<Result> (
  begin: () => Promise<HostTransaction>,
  run: (begin: () => Promise<HostTransaction>) => Promise<Result>
): Promise<Result> {
  const open = new Set<HostTransaction>()
  async function tracked (): Promise<HostTransaction> {
    const begun = await begin()
    open.add(begun)
    const end = (how: 'commit' | 'rollback') => async () => {
      open.delete(begun)
      return begun[how]()
    }
    return { transaction: begun.transaction, commit: end('commit'), rollback: end('rollback') }
  }
  try {
    return await run(tracked)
  } finally {
    for (const each of open) await each.rollback().catch(() => {})
  }
}
