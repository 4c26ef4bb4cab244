import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { channels, traced } from '../../../lib/storage/tracing.ts'
import type { PoolExecutor, Query } from '../connection/executor.ts'
import { BLOCK } from '../tables/block-sizes.ts'
import type { Names } from '../tables/names.ts'
import { type Compaction, handCounting } from './hand-counting.ts'
import {
  BLOCKS_PER_ROUND, compactionSql, KEPT_IN_TAIL, resetSql, SPLITS_PER_ROUND, TAIL_MAX
} from './compaction-sql.ts'

/** The number of changes at which they are added to their blocks. */
const CHANGES_MAX = BLOCK
/** This many changes leave space that is worth freeing before autovacuum does it. */
const VACUUM_AT = 16 * CHANGES_MAX
const WRITERS_WAIT_MS = 2000
const REST_MS = 1000
/** How long a round of another process may take. */
const FOREIGN_ROUND_MS = 3000
/** All users, beside tenants, each of which is a scope of its own if it has many users. */
const ALL = ''
/** Tenants whose creations are counted, and those that wait for compaction, at most. */
const TENANTS_MAX = 10_000
/**
 * Creations in a tenant at which it asks for a round, which takes as long as many creations. A page of the tenant that
 * counts a shorter tail asks by itself.
 */
const TENANT_CREATIONS = 16 * BLOCK

interface State {
  boundary: string
  nextBoundary: string
  round: string
  tail: number
  changes: number
}

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
export function createCompaction (executor: PoolExecutor, names: Names): Compaction {
  const { dialect, query, snapshot } = executor
  const { byHand, openWriters, vacuum } = dialect.counting
  if (byHand !== null) return handCounting(executor, byHand.recount(names))
  const [sqlOfAll, sqlOfTenant] = [compactionSql(dialect, names, false), compactionSql(dialect, names, true)]
  const sqlOf = (scope: string) => scope === ALL ? sqlOfAll : sqlOfTenant
  const reset = resetSql(dialect, names)

  const closing = new AbortController()
  let running: Promise<void> | null = null
  let restUntil = 0
  /** The scopes that something may be due for. */
  const due = new Set<string>()
  /** The round that this process has begun and not ended in each scope, if it gave up waiting for writers. */
  const ownRounds = new Map<string, string>()
  /** The latest round of another process in each scope. */
  const foreign = new Map<string, { round: string, since: number }>()

  /** The state of a scope. A tenant that is not counted yet has everything in its tail. */
  async function readState (scope: string): Promise<State> {
    const [state = { boundary: '', next_boundary: '', round: '', changes: 0 }] =
      await query(sqlOf(scope).readState, [scope])
    const boundary = String(state['boundary'])
    const [tail] = await query(sqlOf(scope).tailLength, [scope, boundary])
    return {
      boundary,
      nextBoundary: String(state['next_boundary']),
      round: String(state['round']),
      changes: Number(state['changes']),
      tail: Number(tail?.['tail'])
    }
  }

  /** True if another process has begun a round that it may still finish. */
  function isForeign (scope: string, { boundary, nextBoundary, round }: State): boolean {
    if (nextBoundary === boundary || ownRounds.get(scope) === round) {
      foreign.delete(scope)
      return false
    }
    const now = performance.now()
    const known = foreign.get(scope)
    if (known?.round !== round) foreign.set(scope, { round, since: now })
    return known?.round !== round || now - known.since < FOREIGN_ROUND_MS
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
  const compact = (scope: string, round: string, move: boolean) => snapshot(async (on: Query) => {
    const sql = sqlOf(scope)
    const [state] = await on(sql.lockRound, [scope, round])
    // Another process has begun a round of its own.
    if (state === undefined) return false
    const before = String(state['boundary'])
    const boundary = move ? String(state['next_boundary']) : before
    await on(sql.foldChanges, [scope, before])
    await on(sql.deleteChanges, [scope, boundary])
    if (move) await on(sql.split, [scope, before, boundary])
    const large = await on(sql.largeBlocks, [scope, boundary])
    for (const { first_id: from, next } of large) await on(sql.split, [scope, String(from), String(next)])
    await on(sql.deleteEmptyBlocks, [scope])
    for (const statement of sql.regroup) await on(statement, [scope])
    await on(sql.setBoundary, [scope, boundary])
    if (scope === ALL) await on(reset.deleteNeedless)
    return large.length === SPLITS_PER_ROUND
  }, { signal: closing.signal })

  /** Makes the rows of a tenant that is not counted yet. */
  const begin = (scope: string) => snapshot(async (on) => {
    for (const statement of sqlOfTenant.begin) await on(statement, [scope])
  }, { signal: closing.signal })

  /** The number of blocks by which the boundary of a scope should move. */
  function blocksDue (scope: string, { tail }: State): number {
    // What others may still write is in the tail of all users, and no tenant is ahead of that.
    const kept = scope === ALL ? KEPT_IN_TAIL : 0
    return tail < BLOCK + kept ? 0 : Math.min(BLOCKS_PER_ROUND, Math.floor((tail - kept) / BLOCK))
  }

  /** Moves the boundary of a scope. True if another round is due now. */
  async function move (scope: string, state: State, blocks: number): Promise<boolean> {
    const { idAfter, announce } = sqlOf(scope)
    if (state.round === '' && scope !== ALL) await begin(scope)
    const [next] = await query(idAfter, [scope, state.boundary, blocks * BLOCK])
    if (next === undefined) return false
    const round = randomUUID()
    ownRounds.set(scope, round)
    await query(announce, [scope, round, String(next['id']), state.round, state.boundary])
    if (!await writersEnded()) return false
    const more = await compact(scope, round, true)
    ownRounds.delete(scope)
    return more || blocks === BLOCKS_PER_ROUND
  }

  /** Does one round of a scope. True if another is due now. */
  async function round (scope: string): Promise<boolean> {
    const state = await readState(scope)
    const more = state.changes >= CHANGES_MAX && await compact(scope, state.round, false)
    if (state.changes >= VACUUM_AT && vacuum !== null) {
      await query(vacuum([names.blocks, names.groups, names.changes])).catch(() => {})
    }
    const blocks = blocksDue(scope, state)
    if (blocks === 0 || isForeign(scope, state)) return more
    return await move(scope, state, blocks) || more
  }

  async function work (): Promise<void> {
    // Nothing of a tenant can be counted before that of all users is.
    const scopes = [ALL, ...[...due].filter((scope) => scope !== ALL)]
    due.clear()
    for (const scope of scopes) {
      while (!closing.signal.aborted && await round(scope)) { /* until nothing is due */ }
    }
  }

  /** Does what is due. Concurrent calls share the work. */
  function run (): Promise<void> {
    running ??= traced(channels.compaction, () => ({ storage: dialect.name }), work).finally(() => {
      running = null
      restUntil = performance.now() + REST_MS
    })
    return running
  }

  /**
   * Starts the work that is due for a scope, in the background. Failed work is retried later; totals stay exact
   * meanwhile.
   */
  function start (scope: string): void {
    if (due.size < TENANTS_MAX) due.add(scope)
    if (running === null && !closing.signal.aborted && performance.now() >= restUntil) run().catch(() => {})
  }

  const creations = new Map<string, number>()

  /** Counts creations in a scope, and asks for a compaction after so many. */
  function count (scope: string, asksAt: number, added = 1): void {
    if (creations.size >= TENANTS_MAX) creations.clear()
    const created = (creations.get(scope) ?? 0) + added
    creations.set(scope, created % asksAt)
    if (created >= asksAt) start(scope)
  }

  return {
    run,

    onPage (tenant: string | undefined, tail: number, changes: number): void {
      if (tail >= TAIL_MAX || changes >= CHANGES_MAX) start(tenant ?? ALL)
    },

    onCreate (tenant: string | undefined): void {
      count(ALL, BLOCK)
      if (tenant !== undefined) count(tenant, TENANT_CREATIONS)
    },

    onAssign: (tenant: string, users: number): void => count(tenant, BLOCK, users),

    async rebuild (): Promise<void> {
      await snapshot(async (on) => {
        await on(reset.all, [randomUUID()])
        for (const statement of reset.rest) await on(statement)
      }, { signal: closing.signal })
      await run()
    },

    async close (): Promise<void> {
      closing.abort()
      await running?.catch(() => {})
    }
  }
}
