import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'

const SWEEP_MS = 50
const QUIET_MS = 500
const LIMIT_MS = 1500
const KILL_MS = 10_000

/** Watches a server's connections: gives the function that ends those on which no request is being answered. */
function watchConnections (server: Server): () => void {
  const answering = new Map<Socket, number>()
  server.on('connection', (socket: Socket) => {
    answering.set(socket, 0)
    socket.on('close', () => answering.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    answering.set(socket, (answering.get(socket) ?? 0) + 1)
    response.on('close', () => {
      if (answering.has(socket)) answering.set(socket, (answering.get(socket) ?? 1) - 1)
    })
  })
  return () => {
    for (const [socket, requests] of answering) if (requests === 0) socket.destroy()
  }
}

/**
 * Ends the service on a signal: no new connections, an answer to every request in flight, then the storage. Idle
 * connections are closed immediately. Those that have sent nothing, or half a request, are closed after half a second,
 * and all others after one and a half.
 */
export function closeOnSignal (app: FastifyInstance): void {
  const endSilent = watchConnections(app.server)
  closeWithGrace({ delay: KILL_MS, logger: app.log }, async ({ signal, err }) => {
    if (err === undefined) app.log.info({ signal }, 'closing')
    else app.log.fatal({ err }, 'closing after an error')
    const timers = [
      // A keep-alive connection that falls idle after the close began would hold it for its whole timeout.
      setInterval(() => app.server.closeIdleConnections(), SWEEP_MS),
      setTimeout(endSilent, QUIET_MS),
      setTimeout(() => app.server.closeAllConnections(), LIMIT_MS)
    ]
    await app.close()
    for (const timer of timers) clearTimeout(timer)
  })
}
