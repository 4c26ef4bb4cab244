import { Readable } from 'node:stream'

// Drop a reader that has taken nothing for 30 seconds. Operating systems buffer megabytes for a slow one, and then take
// nothing until a third of that is read, which is a minute at 20 KB a second. So what a reader has taken gives it more
// time, at 10 KB a second: two minutes at most.
const SLOW_MS = 30_000
const BYTES_PER_MS = 10
const SLOW_MAX_MS = 120_000
// Of a longer text nobody would see how much was taken.
const PIECE_LENGTH = 64 * 1024
// A few texts are made before they are read; no more.
const BUFFERED = 2

/** How often the key of a stream's reader is checked again. */
export const RECHECK_MS = 15_000

/** Cuts a long text, and no character of it. */
function * piecesOf (text: string): Generator<string> {
  for (let start = 0, end = 0; end < text.length; start = end) {
    end = start + PIECE_LENGTH
    if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end--
    yield text.slice(start, end)
  }
}

/** Yields texts one by one, in pieces. A reader that does not take one in time is gone. */
export type Pace = (text: string) => AsyncGenerator<string, void, undefined>

/** Makes the function for one stream. */
function createPace (gone: AbortController): { pace: Pace, stop: () => void } {
  let slow: NodeJS.Timeout | undefined
  let allowed = SLOW_MS
  return {
    async * pace (text) {
      for (const piece of piecesOf(text)) {
        const begun = performance.now()
        slow = setTimeout(() => gone.abort(), allowed)
        yield piece
        clearTimeout(slow)
        const left = Math.max(SLOW_MS, allowed - (performance.now() - begun))
        allowed = Math.min(SLOW_MAX_MS, left + piece.length / BYTES_PER_MS)
      }
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
