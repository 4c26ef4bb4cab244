const WRITERS = [1, 2, 3]

/** Lets others go on. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A promise whose failure is reported where it is awaited, though that may be later than it fails. */
export function awaitedLater<Result> (promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {})
  return promise
}

/** Reads while three writers go on. Every write has a number of its own, from 1,000 on. */
export async function whileWriting (write: (n: number) => Promise<void>, read: () => Promise<void>): Promise<void> {
  const reading = new AbortController()
  const writers = awaitedLater(Promise.all(WRITERS.map(async (writer) => {
    for (let n = 999 + writer; !reading.signal.aborted; n += WRITERS.length) {
      await write(n)
      // With a store that never waits, this loop would block the event loop.
      await turn()
    }
  })))
  await read().finally(async () => {
    reading.abort()
    await writers.catch(() => {})
  })
  await writers
}
