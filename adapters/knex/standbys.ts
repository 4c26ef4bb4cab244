import { setTimeout as pause } from 'node:timers/promises'
import type { Knex } from 'knex'
import { isStorageError, StorageError } from '../../lib/storage/storage-error.ts'
import { channels, traced } from '../../lib/storage/tracing.ts'
import type { StandbyReads, StandbyReport, Standbys, UserReads } from '../../lib/storage/storage.ts'
import type { Batching, Executor, Reading } from './connection/executor.ts'
import { followPrimary, placeOf, positionOf } from './connection/primary-positions.ts'
import { createSnapshotReads } from './connection/snapshot-reads.ts'
import { createStandbyServer, type StandbyServer } from './connection/standby-server.ts'
import type { Compaction } from './counting/hand-counting.ts'
import type { Names } from './tables/names.ts'
import { toUser } from './tables/rows.ts'
import type { WordSplitter } from './common-words.ts'
import { userLists } from './user-lists.ts'
import { emailLookup, userLookup } from './user-lookup.ts'
import { userReading } from './user-reading.ts'

// Twice in the shortest bound on the lag.
const INSPECTED_MS = 500
const POLL_MS = 5

/** Standbys, and how far behind they may be. */
export interface ReplicaSettings {
  /** Our own instances, which are destroyed with the storage. */
  knexes: readonly Knex[]
  /** How old a read without a position may be. */
  maxLagMs: number
  /** How long a standby is waited for that has not come up to a position. */
  waitMs: number
  batching: Batching
}

/** What the standbys of a storage share with its primary. */
export interface PrimaryParts {
  executor: Executor
  names: Names
  compaction: Compaction
  splitWords: WordSplitter
  reads: UserReads
}

/** A standby with the reads of both kinds. */
interface Standby {
  server: StandbyServer
  plain: UserReads
  tracked: UserReads
  close (): Promise<void>
}

/** Makes the standbys of a storage. They are watched from the first read on. */
export function createStandbys (
  { executor, names, compaction, splitWords, reads: primary }: PrimaryParts,
  { knexes, maxLagMs, waitMs, batching }: ReplicaSettings
): Standbys & { close (): Promise<void> } {
  const positions = followPrimary(executor, names, maxLagMs)
  const listeners = new Set<(report: StandbyReport) => void>()
  const ending = new AbortController()
  let turn = 0
  let isWatching = false

  function readsBy (reading: Reading, walk: UserReads['walk']): UserReads {
    const findById = userLookup(reading, names, ['id'])
    return {
      async find (id) {
        const [row] = await findById(id)
        return row === undefined ? null : toUser(row)
      },
      list: userLists(reading, names, compaction, emailLookup(reading, names), splitWords),
      walk
    }
  }

  const standbys = knexes.map((knex, i): Standby => {
    const server = createStandbyServer(knex, names, positions, {
      dialect: executor.dialect,
      prepare: executor.prepares,
      batching,
      onChange (problem) {
        for (const listener of listeners) listener({ name: `replicas[${i}]`, problem })
      }
    })
    const snapshots = createSnapshotReads(knex, names, executor.dialect, server.requireRecent)
    // The snapshot is taken by now.
    const noting: typeof snapshots = {
      ...snapshots,
      run: (work) => snapshots.run(async (query) => {
        await server.note(query, {})
        await work(query)
      })
    }
    const { plain, tracked } = server
    const walk = userReading(plain, names, noting)
    return {
      server,
      plain: readsBy(plain, walk),
      tracked: readsBy(tracked, walk),
      async close () {
        await snapshots.close()
        await server.close()
      }
    }
  })

  /** Does work in turn until the storage is closed. */
  async function repeat (work: () => Promise<void>): Promise<void> {
    while (!ending.signal.aborted) {
      await work().catch(() => {})
      await pause(INSPECTED_MS, undefined, { signal: ending.signal, ref: false }).catch(() => {})
    }
  }

  async function watch (): Promise<void> {
    await positions.sample().catch(() => {})
    repeat(positions.sample)
    for (const { server } of standbys) repeat(server.inspect)
  }

  /** A standby that has come to a place, which it may do until a time of `performance.now()`. */
  async function chosen (place: number, until: number): Promise<Standby | null> {
    while (true) {
      const right = standbys.filter(({ server }) => server.isRight())
      const ready = right.filter(({ server }) => server.place() >= place)
      if (ready.length > 0) return ready[turn++ % ready.length] ?? null
      const left = until - performance.now()
      // Clients send positions, and one that was made up would be waited for in vain.
      if (right.length === 0 || left <= 0 || !await positions.hasReached(place)) return null
      await Promise.race([...right.map(({ server }) => server.ask()), pause(left)])
      if (!right.some(({ server }) => server.place() >= place)) await pause(POLL_MS)
    }
  }

  function readsOn ({ server, plain, tracked }: Standby, place: number | undefined): StandbyReads {
    const reads = place === undefined ? plain : tracked
    let ofPrimary = false
    const told = <Value>(method: string, work: () => Promise<Value>): Promise<Value> =>
      traced(channels.storage, () => ({ storage: executor.dialect.name, method: `standbys.${method}` }), work)

    function onPrimary<Value> (work: () => Promise<Value>): Promise<Value> {
      ofPrimary = true
      return work()
    }

    return {
      async find (id, atLeast = 1) {
        const found = await told('find', () => reads.find(id)).catch((error) => {
          if (!isStorageError(error)) throw error
          return null
        })
        // The client may have seen it, or a later version.
        if (found !== null && found.version >= atLeast) return found
        return onPrimary(() => primary.find(id))
      },

      async list (filter, page) {
        try {
          return await told('list', () => reads.list(filter, page))
        } catch (error) {
          if (!isStorageError(error)) throw error
          return onPrimary(() => primary.list(filter, page))
        }
      },

      async walk (filter, order, onPart, sort) {
        let state: 'waiting' | 'given' | 'left' = 'waiting'
        function leave (): boolean {
          // A standby that lags for a while can still be read to the end.
          if (state === 'waiting') state = 'left'
          return state === 'left'
        }
        try {
          await server.untilLeft(told('walk', () => reads.walk(filter, order, async (users) => {
            if (state === 'left') throw new StorageError('unavailable', 'the primary is read instead')
            state = 'given'
            await onPart(users)
          }, sort)), leave)
        } catch (error) {
          // The rest would be of another moment.
          if (!leave() || !isStorageError(error)) throw error
          await onPrimary(() => primary.walk(filter, order, onPart, sort))
        }
      },

      seen: async () => ofPrimary ? positions.now() : positionOf(Math.max(place ?? 0, server.seen()))
    }
  }

  return {
    position: positions.now,

    async reads (position) {
      if (!isWatching) {
        isWatching = true
        watch()
      }
      const place = position === undefined ? undefined : placeOf(position)
      if (place === null) return null
      const standby = await chosen(place ?? 0, place === undefined ? 0 : performance.now() + waitMs)
      if (standby === null) return null
      if (place !== undefined) standby.server.promise(place)
      return readsOn(standby, place)
    },

    watch (listener) {
      listeners.add(listener)
    },

    async close () {
      ending.abort()
      await Promise.all(standbys.map((each) => each.close()))
    }
  }
}
