import { UsersError } from '../../core/errors.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { channels, traced } from '../../storage/tracing.ts'
import { createSpeedometer } from './speedometer.ts'

/** Runs work of a caller when it has a place, or throws UsersError `storage_unavailable`. */
export type ConcurrencyLimit = <Value>(work: () => Promise<Value>, caller?: string) => Promise<Value>

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
const REST_MS = 1000
// The share of the places that one caller may hold while others are there.
const CALLER_SHARE = 3 / 4
// A caller counts as one who is there for so long after its latest work.
const CALLER_MS = 60_000

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
 * without a place waits for 0.65 seconds at most, and 1.2 in a first burst. If that would not do at the present pace,
 * it is refused immediately.
 *
 * Callers take turns, and the work of each starts in its order. While there are several, none of them holds more than
 * three quarters of the places in use. So a caller who sends more than is served has none of another's work refused.
 */
export function createConcurrencyLimits (settings: LimitSettings): () => ConcurrencyLimit {
  const { places, isQueueing = () => false, onRefused = () => {} } = settings
  if (places === Infinity) return () => noLimit
  const refusal = createRefusals(onRefused)
  return () => limitOf(places, isQueueing, refusal)
}

function limitOf (places: number, isQueueing: () => boolean, refusal: () => UsersError): ConcurrencyLimit {
  /** The work of each caller that waits, in the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  const held = new Map<string, number>()
  const speed = createSpeedometer()
  const first = Math.min(places, Math.max(PLACES_FIRST_MIN, places * PLACES_FIRST_SHARE))
  let running = 0
  let queued = 0
  let latest: string | null = null
  let severalUntil = -Infinity
  /** How many places are in use at most while nothing queues inside the storage. */
  let open = first
  let idleSince = 0
  let growth: NodeJS.Timeout | undefined

  function placesNow (): number {
    const least = places * PLACES_MIN_SHARE
    if (!isQueueing()) return Math.max(least, open)
    open = first
    const interval = speed.interval()
    return Math.max(least, Math.min(places, interval === null ? first : WORK_TARGET_MS / interval))
  }

  function hasPlace (caller: string, now = placesNow()): boolean {
    if (running >= now) return false
    const own = held.get(caller) ?? 0
    return own === 0 || performance.now() >= severalUntil || own + 1 <= now * CALLER_SHARE
  }

  function note (caller: string): void {
    if (caller === latest) return
    if (latest !== null) severalUntil = performance.now() + CALLER_MS
    latest = caller
  }

  /** Opens more places, as long as work waits for them and none queues inside the storage. */
  function grow (): void {
    growth = undefined
    if (queued === 0 || open >= places) return
    if (!isQueueing()) open = Math.min(places, open + first)
    startWaiting()
    growLater()
  }

  function growLater (): void {
    if (queued > 0 && open < places) growth ??= setTimeout(grow, GROWTH_MS).unref()
  }

  function begin (caller: string): void {
    if (running === 0 && performance.now() - idleSince > REST_MS) open = first
    running++
    held.set(caller, (held.get(caller) ?? 0) + 1)
  }

  function end (caller: string): void {
    running--
    const own = (held.get(caller) ?? 0) - 1
    if (own === 0) held.delete(caller)
    else held.set(caller, own)
    if (running === 0) idleSince = performance.now()
    if (queued > 0) speed.count()
  }

  function enqueue (caller: string, start: () => void): void {
    const own = waiting.get(caller)
    if (own === undefined) waiting.set(caller, new Set([start]))
    else own.add(start)
    if (queued++ === 0) speed.resume()
  }

  function leaveQueue (caller: string, start: () => void): void {
    const own = waiting.get(caller)
    own?.delete(start)
    if (own?.size === 0) waiting.delete(caller)
    if (--queued === 0) speed.pause()
  }

  function startWaiting (): void {
    for (const [caller, own] of waiting) {
      const now = placesNow()
      if (running >= now) return
      const [start] = own
      if (start === undefined || !hasPlace(caller, now)) continue
      leaveQueue(caller, start)
      // Behind all others, so that the loop comes to it again after them.
      if (waiting.delete(caller)) waiting.set(caller, own)
      start()
    }
  }

  /** Waits for a place, and takes it. */
  function place (caller: string): Promise<void> {
    const interval = speed.interval()
    // Before it come what the caller has waiting, and for each of that, and for itself, one of each other caller.
    const before = Math.min(queued, ((waiting.get(caller)?.size ?? 0) + 1) * waiting.size)
    if (before * (interval ?? 0) > WAIT_MAX_MS) return Promise.reject(refusal())
    return new Promise((resolve, reject) => {
      const start = (): void => {
        begin(caller)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        leaveQueue(caller, start)
        reject(refusal())
      }, interval === null ? WAIT_FIRST_MS : WAIT_MAX_MS)
      enqueue(caller, start)
      // What waits may be work of a caller that holds its share.
      startWaiting()
      growLater()
    })
  }

  /** Runs work that has a place. */
  function inPlace<Value> (work: () => Promise<Value>, caller: string): Promise<Value> {
    const leave = (): void => {
      end(caller)
      startWaiting()
    }
    try {
      return work().then((value) => {
        leave()
        return value
      }, (error) => {
        leave()
        throw error
      })
    } catch (error) {
      leave()
      return Promise.reject(error)
    }
  }

  return (work, caller = '') => {
    note(caller)
    if (queued > 0 || !hasPlace(caller)) {
      return traced(channels.wait, () => ({}), () => place(caller)).then(() => inPlace(work, caller))
    }
    begin(caller)
    return inPlace(work, caller)
  }
}
