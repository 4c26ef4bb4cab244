import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LoggedEvent } from '../events/types.ts'
import { type Pace, pacedStream, RECHECK_MS } from './paced-stream.ts'

export const EVENT_STREAM = 'text/event-stream'

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
  /** Throws once the caller may no longer read: asked every 15 seconds. */
  recheck: () => Promise<void>
}

/**
 * The text of a stream (HTML Living Standard, section 9.2): a comment at least every 15 seconds. It ends with the log,
 * with the server, and when the caller may no longer read.
 */
async function * textOf ({ pages, recheck }: StreamOptions, gone: AbortSignal, pace: Pace): AsyncGenerator<string> {
  const events = pages(gone)
  // Sends the headers now.
  yield * pace(':\n\n')
  let next = events.next()
  let checked = performance.now()
  while (true) {
    const page = await within(next, RECHECK_MS)
    if (performance.now() - checked >= RECHECK_MS) {
      await recheck()
      checked = performance.now()
    }
    if (page === null) {
      yield * pace(':\n\n')
      continue
    }
    if (page.done === true) return
    yield * pace(page.value.map(frame).join(''))
    next = events.next()
  }
}

/** Answers with Server-Sent Events. */
export function sendStream (request: FastifyRequest, reply: FastifyReply, options: StreamOptions): FastifyReply {
  // Ends without an error: whatever it is, the client comes again and is told then.
  const stream = pacedStream(reply, new AbortController(), async function * (gone, pace) {
    try {
      yield * textOf(options, gone, pace)
    } catch (err) {
      request.log.info({ err }, 'a stream of events was ended')
    }
  })
  // The server need not wait for a connection whose stream it has ended. HTTP/2 has no such field.
  if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
  return reply.type(EVENT_STREAM).send(stream)
}
