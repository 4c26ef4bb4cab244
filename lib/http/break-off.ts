import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UsersError } from '../core/errors.ts'

// RFC 9113 section 7.
const INTERNAL_ERROR = 2

/** The stream of a message of HTTP/2; null: it is of another version. */
export function http2Stream (message: object): ServerHttp2Stream | null {
  return 'stream' in message ? Object(message.stream) : null
}

export function bodyBrokenOff (cause?: unknown): UsersError {
  return new UsersError('malformed_json', { detail: 'The body was broken off.', cause })
}

/**
 * Throws if the client has broken a request off. To be asked after its body: over HTTP/2 Fastify takes what has come of
 * one for all of it, while in HTTP/1 that is an error.
 */
export function requireWhole ({ raw }: FastifyRequest): void {
  if (http2Stream(raw)?.aborted === true) throw bodyBrokenOff()
}

/**
 * Ends a request together with its response. Over HTTP/2 one that a hook of the host's has read in part and then paused
 * would keep its connection open. In HTTP/1 Fastify closes the connection.
 */
export function endWithAnswer ({ raw }: FastifyReply): void {
  const stream = http2Stream(raw)
  stream?.once('finish', () => setImmediate(() => {
    stream.close()
    // The listener that passes chunks on to the request stops at the first one that is not taken.
    stream.removeAllListeners('data').resume()
  }))
}

/** Resets a connection of TCP. TLS has an end of its own, which is missing then, and a Unix socket has none. */
function reset ({ socket }: ServerResponse): void {
  try {
    socket?.resetAndDestroy()
  } catch {
    // Not a TCP socket.
  }
}

/**
 * Ends a response so that its client sees that it is not whole. Of HTTP/1.1 the last chunk is missing then. HTTP/1.0
 * has no other end of a body than that of the connection, so that is reset; and in HTTP/2 Node.js destroys a stream
 * without an error, which is a regular end.
 */
function breakOff (raw: ServerResponse): void {
  const stream = http2Stream(raw)
  if (stream !== null) {
    stream.close(INTERNAL_ERROR)
    return
  }
  if (raw.req.httpVersion === '1.0') reset(raw)
  raw.destroy()
}

/**
 * Makes the controller of a response that may take long. To abort it breaks the response off. It is aborted too when
 * the response is over, or its client has gone.
 */
export function breakable ({ raw }: FastifyReply): AbortController {
  const gone = new AbortController()
  let isOver = false
  gone.signal.addEventListener('abort', () => { if (!isOver) breakOff(raw) })
  raw.once('close', () => {
    isOver = true
    gone.abort()
  })
  return gone
}

/** Makes a controller for a response that can be broken off. */
export type Breakables = (reply: FastifyReply) => AbortController

/** Makes the function that makes such controllers. A server that closes aborts them, and need not wait. */
export function breakables (scope: FastifyInstance): Breakables {
  const running = new Set<AbortController>()
  scope.addHook('preClose', async () => { for (const gone of running) gone.abort() })
  return (reply) => {
    const gone = breakable(reply)
    running.add(gone)
    gone.signal.addEventListener('abort', () => running.delete(gone))
    return gone
  }
}
