import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'

/** The requests that the servers of this process answer, to whatever route, while somebody watches them. */
export interface Foreground {
  /** True while requests come. */
  isBusy (): boolean
  /**
   * Resolves in the next turn of the event loop; while requests come, when one has been answered and no other one is
   * there, or after 10 ms. Requests that take more than 20 ms do not count.
   */
  rest (): Promise<void>
  /** Ends the watch. */
  close (): void
}

// Published by Node.js itself, so that nothing is added to the host's server.
const CHANNEL = 'http.server.request.start'
const BUSY_MS = 100
// What takes longer is a stream, or waits for something else.
const SHORT_MS = 20
// Work in the background goes on beside requests that never pause.
const REST_MAX_MS = 10

/** Watches the requests that come from now on, so that work in the background can step aside for them. */
export function watchForeground (): Foreground {
  const running = new Map<EventEmitter, number>()
  let lastSeen = -Infinity
  let onEnd = (): void => {}

  const begin = (message: unknown): void => {
    const { response }: { response: EventEmitter } = Object(message)
    lastSeen = performance.now()
    running.set(response, lastSeen)
    response.once('close', () => {
      running.delete(response)
      onEnd()
    })
  }

  const isBusy = (): boolean => performance.now() - lastSeen < BUSY_MS
  const answersNow = (now: number): boolean => [...running.values()].some((since) => now - since < SHORT_MS)

  /** Resolves when a request ends, or at a time. */
  const nextEnd = (until: number): Promise<void> => new Promise((resolve) => {
    const timer = setTimeout(resolve, until - performance.now())
    onEnd = () => {
      clearTimeout(timer)
      resolve()
    }
  })

  subscribe(CHANNEL, begin)
  return {
    isBusy,
    async rest () {
      const until = performance.now() + REST_MAX_MS
      // Whoever comes now is seen, and served, before the work goes on.
      await new Promise((resolve) => { setImmediate(resolve) })
      if (!isBusy()) return
      do await nextEnd(until)
      while (performance.now() < until && answersNow(performance.now()))
    },
    close: () => { unsubscribe(CHANNEL, begin) }
  }
}
