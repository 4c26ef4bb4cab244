import { awaitedLater } from './awaited-later.ts'

const WRITERS = [1, 2, 3]

/** Reads while three writers go on: 1, 2 and 3. Every write has a number of its own, from 1,000 on, however many. */
export async function whileWriting (
  write: (n: number, writer: number) => Promise<void>,
  read: () => Promise<void>
): Promise<void> {
  const reading = new AbortController()
  const writers = awaitedLater(Promise.all(WRITERS.map(async (writer) => {
    for (let n = 999 + writer; !reading.signal.aborted; n += WRITERS.length) {
      await write(n, writer)
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
