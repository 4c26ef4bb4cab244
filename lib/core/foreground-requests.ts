import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'

/** The requests that HTTP/1.1 servers of this process answer, on any route, while background work watches them. */
export interface ForegroundRequests {
  /** True if a request has arrived in the last 100 ms. */
  isBusy (): boolean
  /**
   * Resolves in the next turn of the event loop. While requests arrive: when one has been answered and none is being
   * answered, or after 10 ms. Requests that take longer than 20 ms do not count.
   */
  yieldToRequests (): Promise<void>
  /** Stops watching. */
  close (): void
}

// Published by Node.js, so that nothing is added to the host's server.
const CHANNEL = 'http.server.request.start'
const BUSY_MS = 100
// A longer request is a stream, or waits for something else.
const SHORT_MS = 20
// Background work goes on beside requests that never pause.
const YIELD_MAX_MS = 10

/** Watches the requests that arrive from now on. */
export function watchForegroundRequests (): ForegroundRequests {
  const startTimes = new Map<EventEmitter, number>()
  let lastArrival = -Infinity
  let onEnd = (): void => {}

  const begin = (message: unknown): void => {
    const { response }: { response: EventEmitter } = Object(message)
    lastArrival = performance.now()
    startTimes.set(response, lastArrival)
    response.once('close', () => {
      startTimes.delete(response)
      onEnd()
    })
  }

  const isBusy = (): boolean => performance.now() - lastArrival < BUSY_MS
  const isAnswering = (): boolean => {
    const now = performance.now()
    return [...startTimes.values()].some((start) => now - start < SHORT_MS)
  }

  /** Resolves when a request ends, or at the deadline, by `performance.now()`. */
  const nextEnd = (deadline: number): Promise<void> => new Promise((resolve) => {
    const timer = setTimeout(resolve, deadline - performance.now())
    onEnd = () => {
      clearTimeout(timer)
      resolve()
    }
  })

  subscribe(CHANNEL, begin)
  return {
    isBusy,
    async yieldToRequests () {
      const deadline = performance.now() + YIELD_MAX_MS
      // The event loop reads the requests that have arrived.
      await new Promise((resolve) => { setImmediate(resolve) })
      if (!isBusy()) return
      do await nextEnd(deadline)
      while (performance.now() < deadline && isAnswering())
    },
    close: () => { unsubscribe(CHANNEL, begin) }
  }
}
