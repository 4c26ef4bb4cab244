import { awaitedLater } from './awaited-later.ts'

/** Reads while three writers go on, each with numbers of its own from 1,000, 2,000 and 3,000 on. */
export async function whileWriting (
  write: (n: number) => Promise<void>,
  read: () => Promise<void>
): Promise<void> {
  const reading = new AbortController()
  const writers = awaitedLater(Promise.all([1000, 2000, 3000].map(async (from) => {
    for (let n = from; !reading.signal.aborted; n++) {
      await write(n)
      // With a store that never waits, this loop would block the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
  })))
  try {
    await read()
  } finally {
    reading.abort()
    await writers.catch(() => {})
  }
  await writers
}
