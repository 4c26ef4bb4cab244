import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyInstance, FastifyReply, FastifyServerOptions } from 'fastify'

type ClientErrorHandler = NonNullable<FastifyServerOptions['clientErrorHandler']>

const LATE = 'ERR_HTTP_REQUEST_TIMEOUT'

/** The status of what Node.js could not take for a request. */
function statusOf (code: string): number {
  if (code === LATE) return 408
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
}

const problemOf = (status: number): string =>
  JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status })

/** What Fastify answers without a route: a path that is no URL, or has a parameter that is too long. */
export function frameworkErrors (
  { statusCode = 400 }: Error & { statusCode?: number }, _: unknown, { raw }: { raw: ServerResponse }
): void {
  raw.writeHead(statusCode, { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' })
  raw.end(problemOf(statusCode))
}

/** A whole response, for a connection that no reply can be sent on. */
function problemResponse (status: number): string {
  const body = problemOf(status)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body
  ].join('\r\n')
}

/** True for an import that is being answered, which may take any time to arrive. */
function isImport ({ request, raw }: FastifyReply): boolean {
  return request.routeOptions.url?.endsWith('/users/import') === true && !raw.writableEnded
}

/** Ends a connection in the middle of an answer, so that its client sees that it is not whole. */
function breakOff (socket: Socket, { raw }: FastifyReply): void {
  // HTTP/1.0 has no other end of an answer than that of its connection. TLS has one of its own, which is missing then.
  if (raw.req.httpVersion === '1.0' && !(socket instanceof TLSSocket)) socket.resetAndDestroy()
  else socket.destroy()
}

/**
 * What becomes of connections whose requests are wrong, or arrive too slowly. Fastify would write its text for them
 * into an answer that has begun. `seconds`: what a request may take to arrive, and an import until more of it does.
 */
export function clientErrors (seconds: number): { handler: ClientErrorHandler, watch (app: FastifyInstance): void } {
  /** The last reply of each connection. */
  const replies = new WeakMap<Socket, FastifyReply>()

  function end (code: string, socket: Socket, reply: FastifyReply | undefined): void {
    if (reply !== undefined && !reply.raw.writableFinished) {
      const { log, raw: { headersSent } } = reply
      const what = code === LATE ? 'has not arrived in time (REQUEST_TIMEOUT)' : 'is not well-formed'
      log.warn({ code, bytes: socket.bytesRead }, `ended the connection of a request that ${what}`)
      if (headersSent) return breakOff(socket, reply)
    }
    if (socket.writable) socket.write(problemResponse(statusOf(code)))
    socket.destroy()
  }

  /** Ends an import once nothing of it has come for so long. */
  function endWhenIdle (socket: Socket, reply: FastifyReply): void {
    const { raw } = reply.request
    let before = socket.bytesRead
    const timer = setInterval(() => {
      if (!raw.complete && socket.bytesRead === before) end(LATE, socket, reply)
      before = socket.bytesRead
    }, seconds * 1000)
    raw.once('close', () => clearInterval(timer))
  }

  return {
    watch (app) {
      app.addHook('onRequest', async (request, reply) => { replies.set(request.raw.socket, reply) })
    },

    handler ({ code }, socket) {
      if (code === 'ECONNRESET' || socket.destroyed) return
      const reply = replies.get(socket)
      // Node.js says so once, and leaves the connection to us.
      if (code === LATE && reply !== undefined && isImport(reply)) endWhenIdle(socket, reply)
      else end(code, socket, reply)
    }
  }
}
