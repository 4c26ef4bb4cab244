import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'

const GRACE_MS = 500
const SWEEP_MS = 50
const LIMIT_MS = 1500
const KILL_MS = 10_000

interface Connections {
  /** From now on every answer says `Connection: close`: a client that hears it sends nothing more on its connection. */
  letGo: () => void
  /** Ends the connections on which no request is being answered. */
  endSilent: () => void
}

/** Watches a server's connections, and what is being answered on them. */
function watchConnections (server: Server): Connections {
  const answering = new Map<Socket, Set<ServerResponse>>()
  let isLettingGo = false
  server.on('connection', (socket: Socket) => {
    answering.set(socket, new Set())
    socket.on('close', () => answering.delete(socket))
  })
  // Before Fastify, which may answer immediately.
  server.prependListener('request', ({ socket }, response) => {
    if (isLettingGo) response.shouldKeepAlive = false
    const responses = answering.get(socket)
    responses?.add(response)
    response.on('close', () => responses?.delete(response))
  })
  return {
    letGo () {
      isLettingGo = true
      for (const response of [...answering.values()].flatMap((each) => [...each])) response.shouldKeepAlive = false
    },
    endSilent () {
      for (const [socket, responses] of answering) if (responses.size === 0) socket.destroy()
    }
  }
}

/**
 * Ends the service on a signal: no new connections, an answer to every request, then the storage. For half a second
 * each answer has its client close the connection: one that the server closes could meet a request on its way, and its
 * client would see a reset. After that connections are closed when they are idle, silent ones and half requests too,
 * and all others after a second more.
 */
export function closeOnSignal (app: FastifyInstance): void {
  const { server } = app
  const { letGo, endSilent } = watchConnections(server)
  const closeIdle = server.closeIdleConnections.bind(server)
  closeWithGrace({ delay: KILL_MS, logger: app.log }, async ({ signal, err }) => {
    if (err === undefined) app.log.info({ signal }, 'closing')
    else app.log.fatal({ err }, 'closing after an error')
    letGo()
    // Closing a server begins with the idle connections.
    server.closeIdleConnections = () => {}
    let sweep: NodeJS.Timeout | undefined
    const grace = setTimeout(() => {
      endSilent()
      // A keep-alive connection that falls idle later would hold it for its whole timeout.
      sweep = setInterval(closeIdle, SWEEP_MS)
    }, GRACE_MS)
    const limit = setTimeout(() => server.closeAllConnections(), LIMIT_MS)
    await app.close()
    for (const timer of [grace, sweep, limit]) clearTimeout(timer)
  })
}
