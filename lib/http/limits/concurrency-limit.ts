import { UsersError } from '../../core/errors.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { channels, traced } from '../../storage/tracing.ts'

/** Runs work when it has a place, or throws UsersError `storage_unavailable`. */
export type ConcurrencyLimit = <Value>(work: () => Promise<Value>) => Promise<Value>

/** A limit for each class of work, so that neither takes the places of the other. */
export interface ConcurrencyLimits {
  reads: ConcurrencyLimit
  writes: ConcurrencyLimit
}

const noLimit: ConcurrencyLimit = (work) => work()
export const NO_LIMITS: ConcurrencyLimits = { reads: noLimit, writes: noLimit }

// Of an overloaded storage, what is served is served within 1.5 seconds.
const WAIT_MAX_MS = 650
// A first burst meets a cold process, and nobody knows yet how fast it is served.
const WAIT_FIRST_MS = 1200
const WORK_TARGET_MS = 500
// One for each connection of a storage in SQL: no fewer places make its work faster.
const PLACES_MIN_SHARE = 1 / 4
// While nothing is known: enough for a fast storage, and not too many for an overloaded one.
const PLACES_FIRST_SHARE = 3 / 8
const PLACES_FIRST_MIN = 8
// Work that has begun shows in the storage's queue after this time, or it does not queue.
const GROWTH_MS = 10
// Less time says little about how fast work ends: a first burst waits for connections.
const SAMPLE_MIN_MS = 200
const SAMPLE_MAX_MS = 2000
const REST_MS = 1000

const REPORT_MS = 1000

/** The cause of every refusal. They are counted, and not logged one by one. */
export const OVERLOAD = Object.freeze(
  new StorageError('unavailable', 'the storage is overloaded: more requests arrive than it can serve')
)

/** Makes the errors of refusals, and reports their number at most once a second. */
function createRefusals (onRefused: (count: number) => void): () => UsersError {
  const detail = 'Too many requests are running at the moment. Try again later.'
  let count = 0
  let reported = -Infinity
  return () => {
    count++
    if (performance.now() - reported >= REPORT_MS) {
      onRefused(count)
      count = 0
      reported = performance.now()
    }
    return new UsersError('storage_unavailable', { detail, headers: { 'retry-after': '1' }, cause: OVERLOAD })
  }
}

/** Measures how fast work ends while other work waits. Recent work counts more, and after a rest nothing is known. */
function createSpeedometer () {
  let since = 0
  let until: number | null = 0
  let ended = 0

  const elapsed = (): number => (until ?? performance.now()) - since

  return {
    /** Work begins to wait. */
    resume (): void {
      const now = performance.now()
      const rest = now - Number(until)
      if (rest > REST_MS) [since, ended] = [now, 0]
      else since += rest
      until = null
    },
    /** No work waits any more. */
    pause (): void {
      until = performance.now()
    },
    count (): void {
      ended++
      if (elapsed() < SAMPLE_MAX_MS) return
      since += elapsed() / 2
      ended /= 2
    },
    /** Milliseconds between two ends of work; null: not known yet. */
    interval (): number | null {
      return elapsed() < SAMPLE_MIN_MS ? null : elapsed() / Math.max(1, ended)
    }
  }
}

export interface LimitSettings {
  /** How much work of one class runs concurrently. Infinity: there is no limit. */
  places: number
  /** True while work that has a place waits inside the storage, such as for a connection. By default it never does. */
  isQueueing?: () => boolean
  /** Gets the number of refusals, at most once a second. */
  onRefused?: (count: number) => void
}

/**
 * Makes limits that report their refusals together. Work that has a place starts, however slow the storage is: slow is
 * not overloaded. While work queues inside the storage, only so many places are used as end within 0.5 seconds at the
 * present pace (Little's law), and a quarter of them in any case. After a rest the places in use grow step by step, as
 * the window of a TCP connection does, so that a burst does not take all of them before it shows that it queues. Work
 * without a place waits, first come, first served, for 0.65 seconds at most, and 1.2 in a first burst. If that would
 * not do at the present pace, it is refused immediately.
 */
export function createConcurrencyLimits (settings: LimitSettings): () => ConcurrencyLimit {
  const { places, isQueueing = () => false, onRefused = () => {} } = settings
  if (places === Infinity) return () => noLimit
  const refusal = createRefusals(onRefused)
  return () => limitOf(places, isQueueing, refusal)
}

function limitOf (places: number, isQueueing: () => boolean, refusal: () => UsersError): ConcurrencyLimit {
  const waiting = new Set<() => void>()
  const speed = createSpeedometer()
  const first = Math.min(places, Math.max(PLACES_FIRST_MIN, places * PLACES_FIRST_SHARE))
  let running = 0
  /** How many places are in use at most while nothing queues inside the storage. */
  let open = first
  let idleSince = 0
  let growth: NodeJS.Timeout | undefined

  function hasPlace (): boolean {
    if (running < places * PLACES_MIN_SHARE) return true
    if (!isQueueing()) return running < open
    open = first
    const interval = speed.interval()
    return running < Math.min(places, interval === null ? first : WORK_TARGET_MS / interval)
  }

  /** Opens more places, as long as work waits for them and none queues inside the storage. */
  function grow (): void {
    growth = undefined
    if (waiting.size === 0 || open >= places) return
    if (!isQueueing()) open = Math.min(places, open + first)
    startWaiting()
    growLater()
  }

  function growLater (): void {
    if (waiting.size > 0 && open < places) growth ??= setTimeout(grow, GROWTH_MS).unref()
  }

  function begin (): void {
    if (running === 0 && performance.now() - idleSince > REST_MS) open = first
    running++
  }

  function leaveQueue (start: () => void): void {
    waiting.delete(start)
    if (waiting.size === 0) speed.pause()
  }

  function startWaiting (): void {
    for (const start of waiting) {
      if (!hasPlace()) return
      leaveQueue(start)
      start()
    }
  }

  /** Waits for a place, and takes it. */
  function place (): Promise<void> {
    const interval = speed.interval()
    if (waiting.size * (interval ?? 0) > WAIT_MAX_MS) return Promise.reject(refusal())
    if (waiting.size === 0) speed.resume()
    return new Promise((resolve, reject) => {
      const start = (): void => {
        begin()
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        leaveQueue(start)
        reject(refusal())
      }, interval === null ? WAIT_FIRST_MS : WAIT_MAX_MS)
      waiting.add(start)
      growLater()
    })
  }

  return async (work) => {
    if (waiting.size === 0 && hasPlace()) begin()
    else await traced(channels.wait, () => ({}), place)
    try {
      return await work()
    } finally {
      running--
      if (running === 0) idleSince = performance.now()
      if (waiting.size > 0) speed.count()
      startWaiting()
    }
  }
}
