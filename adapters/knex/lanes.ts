import { isDiscarded, type Pool } from './connections.ts'
import { gather } from './drivers.ts'

// More on one connection would only wait there.
const DEPTH = 64

interface Lane {
  connection: Promise<unknown>
  running: number
}

/** Lends a connection to several pieces of work at a time; null where none can be shared at the moment. */
export type Share = <Value>(work: (connection: unknown) => Promise<Value>) => Promise<Value> | null

/**
 * Shares up to so many connections of a pool among short reads: they are sent one after the other without waiting for each other's answers (pipelining), those of
 * one turn of the event loop in one packet. A connection is shared as long as anything runs on it, and then goes back to the pool.
 *
 * Where a system call costs more than the statement, this is what counts: of node's time for a read by id, at 32 requests at once, it left 87 of 203 µs.
 */
export function shareConnections (pool: Pool, most: number): Share {
  const lanes = new Set<Lane>()

  function open (): Lane {
    const lane: Lane = { connection: pool.acquireConnection(), running: 0 }
    lanes.add(lane)
    lane.connection.catch(() => lanes.delete(lane))
    return lane
  }

  function laneFor (): Lane | null {
    const [least] = [...lanes].sort((a, b) => a.running - b.running)
    if ((least === undefined || least.running > 0) && lanes.size < most) return open()
    return least !== undefined && least.running < DEPTH ? least : null
  }

  function leave (lane: Lane): void {
    if (--lane.running > 0) return
    lanes.delete(lane)
    lane.connection.then((connection) => pool.releaseConnection(connection)).catch(() => {})
  }

  function workOn<Value> (lane: Lane, work: (connection: unknown) => Promise<Value>): Promise<Value> {
    lane.running++
    const answer = lane.connection.then((connection) => {
      gather(connection)
      return work(connection).finally(() => {
        // Whoever asks next gets another connection.
        if (isDiscarded(connection)) lanes.delete(lane)
      })
    })
    return answer.finally(() => leave(lane))
  }

  return (work) => {
    const lane = laneFor()
    return lane === null ? null : workOn(lane, work)
  }
}
