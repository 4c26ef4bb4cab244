import { UsersError } from '../core/errors.ts'

/** A name that work counts under, and how much of it may run concurrently. */
export type Bound = readonly [name: string, limit: number]

/** The receiver at a URL: its scheme, name and port. */
export function receiverOf (url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

/** Counts work by names. */
export function createCounts () {
  const running = new Map<string, number>()
  const countOf = (name: string): number => running.get(name) ?? 0
  return {
    /** How much more may run; 0 or less: none. */
    room: (bounds: readonly Bound[]): number => Math.min(...bounds.map(([name, limit]) => limit - countOf(name))),
    enter (bounds: readonly Bound[]): void {
      for (const [name] of bounds) running.set(name, countOf(name) + 1)
    },
    leave (bounds: readonly Bound[]): void {
      for (const [name] of bounds) {
        if (countOf(name) > 1) running.set(name, countOf(name) - 1)
        else running.delete(name)
      }
    }
  }
}

/** How the attempts and checks of a process are divided, so that nobody can take all of them. */
export interface Shares {
  /** Attempts of deliveries, together. */
  attempts: number
  /** Those to receivers that were not quick last time. */
  unproven: number
  /** Those to one receiver: a scheme, name and port. */
  receiver: number
  /** Tests, and checks of where a URL leads to, together. */
  requests: number
  /** Those of one caller. */
  caller: number
}

const share = (total: number, part: number): number => Math.max(1, Math.floor(total * part))

/** Divides what may run concurrently, 2 or more. */
export function sharesOf (maxInFlight: number): Shares {
  const requests = share(maxInFlight, 1 / 5)
  const attempts = maxInFlight - requests
  return {
    attempts,
    unproven: share(attempts, 1 / 2),
    receiver: share(attempts, 1 / 4),
    requests,
    caller: share(requests, 1 / 2)
  }
}

/** Runs work of a caller when it has a place. @throws UsersError `storage_unavailable` if it gets none in time */
export type Gate = <Value>(caller: string, work: () => Promise<Value>) => Promise<Value>

// A burst of creations is served; whoever waits for slow names or receivers is told soon.
const WAIT_MS = 5000

/** Makes the gate of requests that wait for names and receivers. */
export function createGate ({ requests, caller: ofOne }: Shares, waitMs = WAIT_MS): Gate {
  const counts = createCounts()
  const waiting = new Set<() => void>()

  /** Waits for a place, and takes it. */
  function place (bounds: readonly Bound[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        if (counts.room(bounds) <= 0) return
        counts.enter(bounds)
        waiting.delete(start)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(start)
        const detail = 'Too many requests are waiting for receivers or name look-ups. Try again later.'
        reject(new UsersError('storage_unavailable', { detail, headers: { 'retry-after': '5' } }))
      }, waitMs)
      waiting.add(start)
      start()
    })
  }

  return async (caller, work) => {
    const bounds = [['requests', requests], [`of ${caller}`, ofOne]] as const
    await place(bounds)
    try {
      return await work()
    } finally {
      counts.leave(bounds)
      for (const start of waiting) start()
    }
  }
}
