import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Following } from '../../events/log.ts'
import type { LoggedEvent } from '../../events/types.ts'
import { JSON_TYPE } from '../body.ts'
import { breakable } from '../break-off.ts'
import { type Pace, pacedStream, RECHECK_MS } from './paced-stream.ts'

export const EVENT_STREAM = 'text/event-stream'

/** The weight that a client gives to a type that it names (RFC 9110 section 12.4.2): 0 if it does not name it. */
function weightOf (accept: string, type: string): number {
  const named = accept.toLowerCase().split(',').map((range) => range.split(';').map((part) => part.trim()))
    .find(([range]) => range === type)
  const weight = named?.find((parameter) => parameter.startsWith('q='))
  return named === undefined ? 0 : Number(weight?.slice(2) ?? 1)
}

/** True if a client asks for Server-Sent Events: by name, since any client accepts `*`/`*`, and no less than JSON. */
export function wantsStream ({ headers: { accept = '' } }: FastifyRequest): boolean {
  const weight = weightOf(accept, EVENT_STREAM)
  return weight > 0 && weight >= weightOf(accept, JSON_TYPE)
}

// JSON has no line breaks, and neither have ids. Without a line `event:` every event reaches `onmessage`, even of types
// that a reader does not know; the type is in the data.
function frame (event: LoggedEvent): string {
  return `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`
}

/**
 * A keep-alive comment. It carries the id of the last event that the filter skipped, so that the client can resume
 * after it. `null`: the client already has that event.
 */
function sign (passed: string | null): string {
  return passed === null ? ':\n\n' : `:\nid: ${passed}\n\n`
}

/**
 * Returns a function that waits for a value, at most as many milliseconds; null: it has not come. It may be called any
 * number of times, and leaves nothing on the promise each time.
 */
function waiting<Value> (promise: Promise<Value>): (ms: number) => Promise<Value | null> {
  let isSettled = false
  let wake = (): void => {}
  const settle = (): void => {
    isSettled = true
    wake()
  }
  promise.then(settle, settle)
  return async (ms) => {
    if (!isSettled) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        wake = resolve
        timer = setTimeout(resolve, ms)
      })
      clearTimeout(timer)
    }
    return isSettled ? promise : null
  }
}

export interface StreamOptions extends Following {
  /** Throws once the caller may no longer read: asked every 15 seconds. */
  recheck: () => Promise<void>
  /** Called when the stream is over. */
  onClose: () => void
}

/**
 * The text of a stream (HTML Living Standard, section 9.2): a comment every 15 seconds. It ends with the log, with the
 * server, and when the caller may no longer read.
 */
async function * textOf (
  { start, parts, recheck }: StreamOptions,
  gone: AbortSignal,
  pace: Pace
): AsyncGenerator<string> {
  const all = parts(gone)
  try {
    // Sends the headers now. A client that comes again sends the id, and not `now` once more.
    yield * pace(sign(start))
    let next = waiting(all.next())
    let checked = performance.now()
    let passed: string | null = null
    while (true) {
      const part = await next(checked + RECHECK_MS - performance.now())
      if (performance.now() >= checked + RECHECK_MS) {
        await recheck()
        checked = performance.now()
        yield * pace(sign(passed))
        passed = null
      }
      if (part === null) continue
      if (part.done === true) return
      const { events, last } = part.value
      if (events.length > 0) yield * pace(events.map(frame).join(''))
      passed = events.at(-1)?.id === last ? null : last
      next = waiting(all.next())
    }
  } finally {
    // Not awaited: it may wait for a running read.
    all.return().catch(() => {})
  }
}

/** Answers with Server-Sent Events; to HEAD with the same headers alone. */
export function sendStream (request: FastifyRequest, reply: FastifyReply, options: StreamOptions): FastifyReply {
  // The server need not wait for a connection whose stream it has ended. HTTP/2 lacks this header.
  if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
  reply.type(EVENT_STREAM)
  if (request.method === 'HEAD') {
    options.onClose()
    return reply.send()
  }
  // Ends without an error: the client reconnects, and is told the cause then.
  const stream = pacedStream(breakable(reply), async function * (gone, pace) {
    try {
      yield * textOf(options, gone, pace)
    } catch (err) {
      request.log.info({ err }, 'a stream of events ended with an error')
    }
  })
  stream.once('close', options.onClose)
  return reply.send(stream)
}
