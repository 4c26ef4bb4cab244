import { Readable } from 'node:stream'

// Drop a reader that has read nothing for 30 seconds.
const SLOW_MS = 30_000
// A few texts are made before they are read; no more.
const BUFFERED = 2

/** How often the key of a stream's reader is checked again. */
export const RECHECK_MS = 15_000

/** Yields texts one by one. A reader that does not take one in time is gone. */
export type Pace = (text: string) => AsyncGenerator<string, void, undefined>

/** Makes the function for one stream. */
function createPace (gone: AbortController): { pace: Pace, stop: () => void } {
  let slow: NodeJS.Timeout | undefined
  return {
    async * pace (text) {
      slow = setTimeout(() => gone.abort(), SLOW_MS)
      yield text
      clearTimeout(slow)
    },
    stop: () => clearTimeout(slow)
  }
}

/**
 * A stream of texts that only read, whose reader's key is checked again while it is taken. The first text is made
 * before the response begins, so that what can't be read at all is an ordinary error. `recheck` throws once the reader
 * may no longer.
 */
export async function readingStream (
  gone: AbortController,
  texts: AsyncGenerator<string, void, undefined>,
  recheck: () => Promise<void>
): Promise<Readable> {
  const first = await texts.next()
  const stream = pacedStream(gone, async function * (_signal, pace) {
    let checked = performance.now()
    for (let next = first; next.done !== true; next = await texts.next()) {
      if (performance.now() - checked >= RECHECK_MS) {
        await recheck()
        checked = performance.now()
      }
      yield * pace(next.value)
    }
  })
  // Also of a stream that nobody has begun to read.
  stream.once('close', () => { texts.return().catch(() => {}) })
  return stream
}

/**
 * A stream of texts that are made as they are taken. `texts` gets the signal that the reader has gone, or takes
 * nothing, and the function that its texts must go through. If they throw, `gone` is aborted, which must break off
 * the response.
 */
export function pacedStream (
  gone: AbortController,
  texts: (signal: AbortSignal, pace: Pace) => AsyncGenerator<string, void, undefined>
): Readable {
  const { pace, stop } = createPace(gone)
  async function * all (): AsyncGenerator<string, void, undefined> {
    try {
      yield * texts(gone.signal, pace)
    } finally {
      stop()
    }
  }
  const stream = Readable.from(all(), { highWaterMark: BUFFERED })
  // Before Fastify's listener destroys the response.
  stream.once('error', () => gone.abort())
  // Not when the texts end: the last ones are still to be sent.
  stream.once('close', () => { if (!stream.readableEnded) gone.abort() })
  gone.signal.addEventListener('abort', () => stream.destroy())
  if (gone.signal.aborted) stream.destroy()
  return stream
}
