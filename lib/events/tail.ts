import { UsersError } from '../core/errors.ts'
import type { LoggedEvent } from './types.ts'

// Poll once a second for changes by other processes. Changes by this process wake the readers immediately.
const POLL_MS = 1000

/** What a reader gets, and the last event that it has passed, which may be one that it did not ask for; null: none. */
export interface Part { events: LoggedEvent[], last: string | null }

type Read = (after: string | null) => Promise<Part>

/** The parts of a log, in their order. */
export type Parts = AsyncGenerator<Part, void, undefined>

/** Follows a log: reads what is there, then what comes. */
export interface Tail {
  /** Says that there may be new events. */
  wake (): void
  /**
   * Yields what has been passed, first what is after `after`, until the signal is aborted or the tail is closed. A
   * storage that is unavailable is asked again.
   */
  follow (read: Read, after: string | null, signal: AbortSignal): Parts
  /** Ends all that follow. */
  close (): void
}

/** What wakes one that follows: it notes what comes while it reads. */
class Alarm {
  #isRung = false
  #wake = (): void => {}

  readonly ring = (): void => {
    this.#isRung = true
    this.#wake()
  }

  /** Waits for `ring()`, for at most one second, because other processes do not ring it. */
  async wait (): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS).unref()
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#isRung = false
  }
}

/** Makes a tail for all that follow a log in this process. */
export function createTail (): Tail {
  const alarms = new Set<Alarm>()
  const closing = new AbortController()
  /** How many follow with each signal: however many they are, it has one listener of ours. */
  const signals = new Map<AbortSignal, number>()

  function listenTo (signal: AbortSignal): void {
    const count = signals.get(signal) ?? 0
    signals.set(signal, count + 1)
    if (count === 0) signal.addEventListener('abort', wake)
  }

  function leave (signal: AbortSignal): void {
    const count = (signals.get(signal) ?? 1) - 1
    if (count > 0) {
      signals.set(signal, count)
      return
    }
    signals.delete(signal)
    signal.removeEventListener('abort', wake)
  }

  function wake (): void {
    for (const { ring } of alarms) ring()
  }

  async function readOrNothing (read: Read, after: string | null): Promise<Part> {
    try {
      return await read(after)
    } catch (error) {
      if (error instanceof UsersError && error.code === 'storage_unavailable') return { events: [], last: null }
      throw error
    }
  }

  async function * follow (read: Read, start: string | null, signal: AbortSignal): Parts {
    const alarm = new Alarm()
    alarms.add(alarm)
    listenTo(signal)
    const isOver = (): boolean => signal.aborted || closing.signal.aborted
    try {
      let after = start
      while (!isOver()) {
        const part = await readOrNothing(read, after)
        if (part.last === null) await alarm.wait()
        else if (!isOver()) yield part
        after = part.last ?? after
      }
    } finally {
      alarms.delete(alarm)
      leave(signal)
    }
  }

  return {
    follow,
    wake,
    close () {
      closing.abort()
      wake()
    }
  }
}
