import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { channels, traced } from '../../../lib/storage/tracing.ts'
import type { PoolExecutor, Query } from '../connection/executor.ts'
import { BLOCK } from '../tables/block-sizes.ts'
import type { Names } from '../tables/names.ts'
import { BLOCKS_PER_ROUND, compactionSql, KEPT_IN_TAIL, SPLITS_PER_ROUND, TAIL_MAX } from './compaction-sql.ts'

/** The number of changes at which they are added to their blocks. */
const CHANGES_MAX = BLOCK
/** This many changes leave space that is worth freeing before autovacuum does it. */
const VACUUM_AT = 16 * CHANGES_MAX
const WRITERS_WAIT_MS = 2000
const REST_MS = 1000
/** How long a round of another process may take. */
const FOREIGN_ROUND_MS = 3000

interface State {
  boundary: string
  nextBoundary: string
  round: string
  tail: number
  changes: number
}

export type Compaction = ReturnType<typeof createCompaction>

/**
 * Keeps the tail and the changes short (`docs/exact-counting.md`), in the background: whichever
 * process starts a round first does the work.
 *
 * Moving the boundary must not miss a user whose transaction is still open. So a round first announces the next
 * boundary: from then on, whoever writes below it records a change. Then it waits for the transactions that wrote
 * users before the announcement. It locks nothing, so nobody waits for it. Then, in one snapshot, it counts the users
 * below the next boundary, deletes the changes that it sees there, because they are in that number, and moves the
 * boundary. Changes that it does not see belong to transactions whose users it has not counted either: they stay.
 */
export function createCompaction (executor: PoolExecutor, names: Names) {
  const { dialect, query, snapshot } = executor
  const { openWriters, vacuum } = dialect.counting
  const sql = compactionSql(dialect, names)

  const closing = new AbortController()
  let running: Promise<void> | null = null
  let restUntil = 0
  let ownRound = ''
  let foreign = { round: '', since: 0 }

  async function readState (): Promise<State> {
    const [state] = await query(sql.readState)
    const boundary = String(state?.['boundary'])
    const [tail] = await query(sql.tailLength, [boundary])
    return {
      boundary,
      nextBoundary: String(state?.['next_boundary']),
      round: String(state?.['round']),
      changes: Number(state?.['changes']),
      tail: Number(tail?.['tail'])
    }
  }

  /** True if another process has begun a round that it may still finish. */
  function isForeign ({ boundary, nextBoundary, round }: State): boolean {
    if (nextBoundary === boundary || round === ownRound) return false
    if (foreign.round !== round) foreign = { round, since: performance.now() }
    return performance.now() - foreign.since < FOREIGN_ROUND_MS
  }

  async function writers (): Promise<Set<unknown>> {
    if (openWriters === null) return new Set()
    return new Set((await query(openWriters, [names.users])).map(({ writer }) => writer))
  }

  /** Waits until every transaction that has written users so far has ended. False if that takes too long. */
  async function writersEnded (): Promise<boolean> {
    const waitedFor = await writers()
    const until = performance.now() + WRITERS_WAIT_MS
    for (let pause = 5; waitedFor.size > 0; pause = Math.min(2 * pause, 500)) {
      if (performance.now() > until) return false
      await delay(pause, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted) return false
      const now = await writers()
      for (const writer of waitedFor) if (!now.has(writer)) waitedFor.delete(writer)
    }
    return true
  }

  /**
   * Adds the changes below the boundary to their blocks. With `move`, also moves the boundary: every writer below the
   * next one must have ended. True if there is more to do now.
   */
  const compact = (round: string, move: boolean) => snapshot(async (on: Query) => {
    const [state] = await on(sql.lockRound, [round])
    // Another process has begun a round of its own.
    if (state === undefined) return false
    const before = String(state['boundary'])
    const boundary = move ? String(state['next_boundary']) : before
    await on(sql.foldChanges, [before])
    await on(sql.deleteChanges, [boundary])
    if (move) await on(sql.split, [before, boundary])
    const large = await on(sql.largeBlocks, [boundary])
    for (const { first_id: from, next } of large) await on(sql.split, [String(from), String(next)])
    await on(sql.deleteEmptyBlocks)
    for (const statement of sql.regroup) await on(statement)
    await on(sql.setBoundary, [boundary])
    return large.length === SPLITS_PER_ROUND
  }, { signal: closing.signal })

  /** Does one round. True if another is due now. */
  async function round (): Promise<boolean> {
    const state = await readState()
    const more = state.changes >= CHANGES_MAX && await compact(state.round, false)
    if (state.changes >= VACUUM_AT && vacuum !== null) {
      await query(vacuum([names.blocks, names.groups, names.changes])).catch(() => {})
    }
    const due = state.tail < TAIL_MAX
      ? 0
      : Math.min(BLOCKS_PER_ROUND, Math.floor((state.tail - KEPT_IN_TAIL) / BLOCK))
    if (due === 0 || isForeign(state)) return more
    const [next] = await query(sql.idAfter, [state.boundary, due * BLOCK])
    if (next === undefined) return more
    ownRound = randomUUID()
    await query(sql.announce, [ownRound, String(next['id']), state.round, state.boundary])
    return await writersEnded() && (await compact(ownRound, true) || due === BLOCKS_PER_ROUND || more)
  }

  async function work (): Promise<void> {
    while (!closing.signal.aborted && await round()) { /* until nothing is due */ }
  }

  /** Does what is due. Concurrent calls share the work. */
  function run (): Promise<void> {
    running ??= traced(channels.compaction, () => ({ storage: dialect.name }), work).finally(() => {
      running = null
      restUntil = performance.now() + REST_MS
    })
    return running
  }

  /** Starts the work that is due, in the background. Failed work is retried later; totals stay exact meanwhile. */
  function start (): void {
    if (running === null && !closing.signal.aborted && performance.now() >= restUntil) run().catch(() => {})
  }

  let creations = 0

  return {
    run,

    /** Called with the numbers of users and changes that a page had to count row by row. */
    onPage (tail: number, changes: number): void {
      if (tail >= TAIL_MAX || changes >= CHANGES_MAX) start()
    },

    /** Called for every new user. */
    onCreate (): void {
      if (++creations % BLOCK === 0) start()
    },

    /** Counts all users again. Until that is done, lists are right but slower. */
    async rebuild (): Promise<void> {
      await snapshot(async (on) => {
        await on(sql.reset, [randomUUID()])
        for (const statement of [...sql.emptyBlocks, ...sql.regroup]) await on(statement)
      }, { signal: closing.signal })
      await run()
    },

    /** Stops the work, and resolves when none is running. */
    async close (): Promise<void> {
      closing.abort()
      await running?.catch(() => {})
    }
  }
}
