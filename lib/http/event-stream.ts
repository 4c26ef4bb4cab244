import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LoggedEvent } from '../events/types.ts'

export const EVENT_STREAM = 'text/event-stream'

const HEARTBEAT_MS = 15_000
// A reader that takes nothing for as long is dropped. It can come again, and go on after the last event that it has.
const SLOW_MS = 30_000
// A few pages are made before they are read; no more.
const BUFFERED_PAGES = 2

/** True if a client asks for Server-Sent Events: by name, since any client accepts `*`/`*`. */
export function wantsStream ({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === EVENT_STREAM && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

// JSON has no line breaks, and neither have ids and types.
function frame (event: LoggedEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** The next page of events; null if none has come for as long. */
async function within<Value> (next: Promise<Value>, ms: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => { timer = setTimeout(resolve, ms, null) })
  return Promise.race([next, late]).finally(() => clearTimeout(timer))
}

export interface StreamOptions {
  /** Follows the log until the signal is aborted. */
  pages: (signal: AbortSignal) => AsyncGenerator<LoggedEvent[], void, undefined>
  /** Throws once the caller may no longer read: asked at every heartbeat. */
  recheck: () => Promise<void>
}

/**
 * The text of a stream (HTML Living Standard, section 9.2): a comment at least every 15 seconds. It ends with the log,
 * with the server, and when the caller may no longer read. It throws if the reader takes nothing for long.
 */
async function * textOf ({ pages, recheck }: StreamOptions, gone: AbortController): AsyncGenerator<string> {
  const events = pages(gone.signal)
  let slow: NodeJS.Timeout | undefined
  async function * paced (text: string): AsyncGenerator<string> {
    slow = setTimeout(() => gone.abort(), SLOW_MS)
    yield text
    clearTimeout(slow)
  }

  try {
    // Sends the headers now.
    yield * paced(':\n\n')
    let next = events.next()
    let checked = performance.now()
    while (true) {
      const page = await within(next, HEARTBEAT_MS)
      if (performance.now() - checked >= HEARTBEAT_MS) {
        await recheck()
        checked = performance.now()
      }
      if (page === null) {
        yield * paced(':\n\n')
        continue
      }
      if (page.done === true) return
      yield * paced(page.value.map(frame).join(''))
      next = events.next()
    }
  } finally {
    clearTimeout(slow)
    gone.abort()
  }
}

/** Answers with Server-Sent Events. */
export function sendStream (request: FastifyRequest, reply: FastifyReply, options: StreamOptions): FastifyReply {
  const gone = new AbortController()
  // Ends without an error: whatever it is, the client comes again and is told then.
  async function * text (): AsyncGenerator<string> {
    try {
      yield * textOf(options, gone)
    } catch (err) {
      request.log.info({ err }, 'a stream of events was ended')
    }
  }
  const stream = Readable.from(text(), { highWaterMark: BUFFERED_PAGES })
  gone.signal.addEventListener('abort', () => stream.destroy())
  reply.raw.on('close', () => gone.abort())
  // The server need not wait for a connection whose stream it has ended. HTTP/2 has no such field.
  if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
  return reply.type(EVENT_STREAM).send(stream)
}
