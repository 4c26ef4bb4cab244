import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Names } from '../names.ts'
import type { OwnSession, Run } from '../session.ts'
import { BLOCK, cutBlocks, cutUsers } from './cut.ts'

/** The newest users stay in the tail, since others of their age may still be on their way. */
const KEEP = BLOCK / 4
/** Users in the tail from which on part of it is sealed. */
const SEAL_AT = BLOCK + KEEP
/** Changes from which on they are folded into the blocks. */
const FOLD_AT = BLOCK
// A round is one short transaction, however much there is to do.
const MOST_BLOCKS = 128
/** A block that has grown beyond this is cut again. */
const OVERFULL = 4 * BLOCK
const MOST_CUTS = 8
/** So many changes at once leave room behind that is worth giving back before autovacuum comes by. */
const TIDY_AT = 16 * FOLD_AT
const WAIT_MS = 2000
const REST_MS = 1000
/** How long another process's round is left to it. */
const FOREIGN_MS = 3000

interface State {
  sealed: string
  pending: string
  round: string
  tail: number
  changes: number
}

export type Upkeep = ReturnType<typeof createUpkeep>

/**
 * Keeps the tail and the changes of the blocks short, in the background, whichever process comes to it first.
 *
 * Sealing must not miss a user whose transaction is still open. So a round first announces the new boundary: from then on whoever writes below it notes the
 * change. Then it waits for the transactions that have written users before the announcement; it locks nothing, so nobody waits for it. Then, in one snapshot, it
 * counts the users below the boundary, drops the changes that it sees there, because they are in that number, and moves the boundary. Changes that it does not
 * see are of transactions whose users it has not counted either: they stay.
 */
export function createUpkeep (session: OwnSession, names: Names) {
  const { dialect, run, snapshot } = session
  const { users, blocks, blockChanges, sealing } = names
  const { p } = dialect
  const readState = `SELECT sealed, pending, round, (SELECT count(*) FROM ${blockChanges} WHERE id < sealed) AS changes FROM ${sealing}`
  const tailLength = `SELECT count(*) AS tail FROM (SELECT id FROM ${users} WHERE id >= ${p(1)} ORDER BY id LIMIT ${MOST_BLOCKS * BLOCK + SEAL_AT}) AS t`
  const boundaryAt = `SELECT id FROM ${users} WHERE id >= ${p(1)} ORDER BY id LIMIT 1 OFFSET ${p(2)}`
  const announce = `UPDATE ${sealing} SET round = ${p(1)}, pending = ${p(2)} WHERE round = ${p(3)} AND sealed = ${p(4)}`
  const begin = `UPDATE ${sealing} SET round = round WHERE round = ${p(1)} RETURNING sealed, pending`
  const fold = `UPDATE ${blocks} AS k SET live = k.live + c.change FROM (SELECT start, sum(change) AS change ` +
    `FROM (SELECT (SELECT max(b.start) FROM ${blocks} AS b WHERE b.start <= h.id) AS start, h.change FROM ${blockChanges} AS h WHERE h.id < ${p(1)}) AS r GROUP BY start) AS c WHERE k.start = c.start`
  const drop = `DELETE FROM ${blockChanges} WHERE id < ${p(1)}`
  const seal = cutUsers(names, p(1), p(2))
  const giveUp = `DELETE FROM ${blocks} WHERE live = 0 AND start <> ''`
  const finish = `UPDATE ${sealing} SET sealed = ${p(1)}`
  const overfull = `SELECT start, coalesce((SELECT min(n.start) FROM ${blocks} AS n WHERE n.start > k.start), ${p(1)}) AS next FROM ${blocks} AS k WHERE live > ${OVERFULL} ORDER BY start LIMIT ${MOST_CUTS}`
  const unseal = [`DELETE FROM ${blocks}`, `INSERT INTO ${blocks} (start, live) VALUES ('', 0)`, ...cutBlocks(dialect, names)]
  const reset = `UPDATE ${sealing} SET sealed = '', pending = '', round = ${p(1)}`

  const closing = new AbortController()
  let running: Promise<void> | null = null
  let restUntil = 0
  let mine = ''
  let foreign = { round: '', since: 0 }

  async function read (): Promise<State> {
    const [state] = await run(readState)
    const sealed = String(state?.['sealed'])
    const [tail] = await run(tailLength, [sealed])
    return { sealed, pending: String(state?.['pending']), round: String(state?.['round']), changes: Number(state?.['changes']), tail: Number(tail?.['tail']) }
  }

  /** Whether the round that is under way is another's, which may still end it. */
  function isForeign ({ sealed, pending, round }: State): boolean {
    if (pending === sealed || round === mine) return false
    if (foreign.round !== round) foreign = { round, since: performance.now() }
    return performance.now() - foreign.since < FOREIGN_MS
  }

  async function writers (): Promise<Set<unknown>> {
    return dialect.writers === null ? new Set() : new Set((await run(dialect.writers, [users])).map(({ writer }) => writer))
  }

  /** Waits until every transaction that has written users by now has ended; false where that takes too long. */
  async function writersGone (): Promise<boolean> {
    const waitedFor = await writers()
    const until = performance.now() + WAIT_MS
    for (let pause = 5; waitedFor.size > 0; pause = Math.min(2 * pause, 500)) {
      if (performance.now() > until) return false
      await delay(pause, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted) return false
      const now = await writers()
      for (const writer of waitedFor) if (!now.has(writer)) waitedFor.delete(writer)
    }
    return true
  }

  /** Folds the changes below the boundary, and moves that where everybody who may be below it has been waited for. True where more is to be done at once. */
  const carryOut = (round: string, move: boolean) => snapshot(async (on: Run) => {
    const [state] = await on(begin, [round])
    // Another process has begun a round of its own.
    if (state === undefined) return false
    const sealed = String(state['sealed'])
    const boundary = move ? String(state['pending']) : sealed
    await on(fold, [sealed])
    await on(drop, [boundary])
    if (move) await on(seal, [sealed, boundary])
    const cuts = await on(overfull, [boundary])
    for (const { start, next } of cuts) await on(seal, [String(start), String(next)])
    await on(giveUp)
    for (const statement of cutBlocks(dialect, names)) await on(statement)
    await on(finish, [boundary])
    return cuts.length === MOST_CUTS
  }, { signal: closing.signal })

  /** Does one round. True where another is due at once. */
  async function round (): Promise<boolean> {
    const state = await read()
    const more = state.changes >= FOLD_AT && await carryOut(state.round, false)
    if (state.changes >= TIDY_AT && dialect.tidy !== null) await run(dialect.tidy([blocks, blockChanges])).catch(() => {})
    const due = state.tail < SEAL_AT ? 0 : Math.min(MOST_BLOCKS, Math.floor((state.tail - KEEP) / BLOCK))
    if (due === 0 || isForeign(state)) return more
    const [next] = await run(boundaryAt, [state.sealed, due * BLOCK])
    if (next === undefined) return more
    mine = randomUUID()
    await run(announce, [mine, String(next['id']), state.round, state.sealed])
    return await writersGone() && (await carryOut(mine, true) || due === MOST_BLOCKS || more)
  }

  async function work (): Promise<void> {
    while (!closing.signal.aborted && await round()) { /* until nothing is due */ }
  }

  /** Does what is due, together with whoever asks meanwhile. */
  function rounds (): Promise<void> {
    running ??= work().finally(() => {
      running = null
      restUntil = performance.now() + REST_MS
    })
    return running
  }

  /** Has done in the background what is due. What fails is tried again later; the numbers are right all the time. */
  function request (): void {
    if (running === null && !closing.signal.aborted && performance.now() >= restUntil) rounds().catch(() => {})
  }

  let creations = 0

  return {
    rounds,

    /** Told how much had to be counted by looking. */
    looked (tail: number, changes: number): void {
      if (tail >= SEAL_AT || changes >= FOLD_AT) request()
    },

    /** Told of every new user. */
    created (): void {
      if (++creations % BLOCK === 0) request()
    },

    /** Counts all users again. Lists are right, and slower, until it is done. */
    async rebuild (): Promise<void> {
      await snapshot(async (on) => {
        await on(reset, [randomUUID()])
        for (const statement of unseal) await on(statement)
      }, { signal: closing.signal })
      await rounds()
    },

    /** Ends the work: resolves when none is under way. */
    async close (): Promise<void> {
      closing.abort()
      await running?.catch(() => {})
    }
  }
}
