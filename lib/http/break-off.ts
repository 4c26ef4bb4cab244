import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UsersError } from '../core/errors.ts'
import { StorageError } from '../storage/storage-error.ts'

// RFC 9113 section 7.
const INTERNAL_ERROR = 2
// How long responses may go on when their server closes. The standalone service ends all connections a second later.
const CLOSING_MS = 7000

/** The cause of what a server that closes refuses. Nothing has failed, so it is not logged. */
export const CLOSING = Object.freeze(new StorageError('unavailable', 'the server is closing'))

export function serverClosing (): UsersError {
  const detail = 'The server is closing. Try again later.'
  return new UsersError('storage_unavailable', { detail, headers: { 'retry-after': '5' }, cause: CLOSING })
}

/** True for {@link serverClosing}. */
export const isServerClosing = (error: unknown): boolean => error instanceof UsersError && error.cause === CLOSING

/** The stream of a message of HTTP/2; null: it is of another version. */
export function http2Stream (message: object): ServerHttp2Stream | null {
  return 'stream' in message ? Object(message.stream) : null
}

export function bodyBrokenOff (cause?: unknown): UsersError {
  return new UsersError('malformed_json', { detail: 'The request body ended before it was complete.', cause })
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

/** Ends a connection behind its last response: a client that keeps it alive would hold up a server that closes. */
function endConnection ({ req }: ServerResponse): void {
  const isOpen = http2Stream(req) === null && req.socket instanceof Duplex
  // A client that still sends would lose its answer.
  if (isOpen && req.complete) req.socket.destroySoon()
}

/**
 * Has each response that a server sends while it closes end its connection. Fastify says so to requests that come then,
 * but not to those that run: their connections would hold the server up for its `keepAliveTimeout`, 72 seconds.
 */
export function endConnectionsOnClose (scope: FastifyInstance): void {
  let isClosing = false
  scope.addHook('preClose', async () => { isClosing = true })
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    // HTTP/2 has a frame for it, which Node.js sends.
    if (isClosing) reply.raw.shouldKeepAlive = false
    done()
  })
}

/** Makes a controller for a response that can be broken off. @throws UsersError `storage_unavailable` while closing */
export type Breakables = (reply: FastifyReply) => AbortController

/**
 * Makes the function that makes such controllers. When the server closes, the responses that run may come to their end
 * for seven seconds; then it aborts them.
 */
export function breakables (scope: FastifyInstance): Breakables {
  const running = new Set<AbortController>()
  let isClosing = false
  scope.addHook('preClose', async () => {
    isClosing = true
    setTimeout(() => { for (const gone of running) gone.abort() }, CLOSING_MS).unref()
  })
  return (reply) => {
    if (isClosing) throw serverClosing()
    const gone = breakable(reply)
    running.add(gone)
    gone.signal.addEventListener('abort', () => {
      running.delete(gone)
      if (isClosing) endConnection(reply.raw)
    })
    return gone
  }
}
