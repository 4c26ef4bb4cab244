/** A transaction of the host's, and how it ends. */
export interface HostTransaction {
  transaction: unknown
  commit: () => Promise<unknown>
  rollback: () => Promise<unknown>
  /** Begins one that is nested in it, behind a savepoint. Absent: the host has none. */
  nested?: () => Promise<HostTransaction>
}

/** The isolation of a transaction, as SQL names it. Absent: what the database does by default. */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

/** Begins a transaction. It may ignore an isolation that the database does not have. */
export type Begin = (isolation?: Isolation) => Promise<HostTransaction>

/**
 * Runs with a way to begin transactions. One that is left open, because a duty has failed, is rolled back: it would
 * hold its connection, and closing the store would wait for it.
 */
export async function endingTransactions<Result> (
  begin: Begin, run: (begin: Begin) => Promise<Result>
): Promise<Result> {
  const open = new Set<HostTransaction>()
  function tracked (begun: HostTransaction): HostTransaction {
    open.add(begun)
    const end = (how: 'commit' | 'rollback') => async () => {
      open.delete(begun)
      return begun[how]()
    }
    const { transaction, nested } = begun
    return {
      transaction,
      commit: end('commit'),
      rollback: end('rollback'),
      ...(nested !== undefined && { nested: async () => tracked(await nested()) })
    }
  }
  try {
    return await run(async (isolation) => tracked(await begin(isolation)))
  } finally {
    for (const each of [...open].reverse()) await each.rollback().catch(() => {})
  }
}
