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

// All who watch share these, so that a request has one listener however many they are.
const watchers = new Set<ForegroundRequests>()
const startTimes = new Map<EventEmitter, number>()
const waiting = new Set<() => void>()
let lastArrival = -Infinity

function begin (message: unknown): void {
  const { response }: { response: EventEmitter } = Object(message)
  lastArrival = performance.now()
  startTimes.set(response, lastArrival)
  response.once('close', () => {
    startTimes.delete(response)
    for (const onEnd of waiting) onEnd()
  })
}

function isAnswering (): boolean {
  const now = performance.now()
  return [...startTimes.values()].some((start) => now - start < SHORT_MS)
}

/** Resolves when a request ends, or at the deadline, by `performance.now()`. */
function nextEnd (deadline: number): Promise<void> {
  return new Promise((resolve) => {
    const onEnd = (): void => {
      clearTimeout(timer)
      waiting.delete(onEnd)
      resolve()
    }
    const timer = setTimeout(onEnd, deadline - performance.now())
    waiting.add(onEnd)
  })
}

/** Forgets the requests that have arrived. */
function stop (): void {
  unsubscribe(CHANNEL, begin)
  startTimes.clear()
  lastArrival = -Infinity
}

/** Watches requests, together with all others of the process who do, until it is closed. */
export function watchForegroundRequests (): ForegroundRequests {
  const isBusy = (): boolean => watchers.has(requests) && performance.now() - lastArrival < BUSY_MS
  const requests: ForegroundRequests = {
    isBusy,
    async yieldToRequests () {
      const deadline = performance.now() + YIELD_MAX_MS
      // The event loop reads the requests that have arrived.
      await new Promise((resolve) => { setImmediate(resolve) })
      if (!isBusy()) return
      do await nextEnd(deadline)
      while (performance.now() < deadline && isAnswering())
    },
    close () {
      watchers.delete(requests)
      if (watchers.size === 0) stop()
    }
  }
  if (watchers.size === 0) subscribe(CHANNEL, begin)
  watchers.add(requests)
  return requests
}
