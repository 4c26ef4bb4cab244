import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'

const GRACE_MS = 500
const SWEEP_MS = 50
// An import answers itself, for what it has read.
const IMPORT = /\/users\/import(?:$|\?)/
// A write may wait for its turn, for a lock and for the disk as long as a statement may take.
const LIMIT_MS = 8000
const KILL_MS = 10_000

interface Connections {
  /** From now on every answer says `Connection: close`: a client that hears it sends nothing more on its connection. */
  announceClose: () => void
  /** Ends the connections on which no whole request has come. */
  endSilent: () => void
}

/** Watches a server's connections, and what is being answered on them. */
function watchConnections (server: Server): Connections {
  const answering = new Map<Socket, Set<ServerResponse>>()
  let isClosing = false
  server.on('connection', (socket: Socket) => {
    answering.set(socket, new Set())
    socket.on('close', () => answering.delete(socket))
  })
  // Before Fastify, which may answer immediately.
  server.prependListener('request', ({ socket }, response) => {
    if (isClosing) response.shouldKeepAlive = false
    const responses = answering.get(socket)
    responses?.add(response)
    response.on('close', () => responses?.delete(response))
  })
  return {
    announceClose () {
      isClosing = true
      for (const response of [...answering.values()].flatMap((each) => [...each])) response.shouldKeepAlive = false
    },
    endSilent () {
      for (const [socket, responses] of answering) {
        if ([...responses].every(({ req }) => !req.complete && !IMPORT.test(String(req.url)))) socket.destroy()
      }
    }
  }
}

/**
 * Ends the service on a signal: no new connections, an answer to every request, then the storage. For half a second
 * each answer has its client close the connection: one that the server closes could meet a request on its way, and its
 * client would see a reset. After that connections are closed when they are idle, silent ones and half requests too,
 * and all others after eight seconds, when the longest statement has ended. The plugin ends exports and imports before.
 */
export function closeOnSignal (app: FastifyInstance): void {
  const { server } = app
  const { announceClose, endSilent } = watchConnections(server)
  const closeIdle = server.closeIdleConnections.bind(server)
  closeWithGrace({ delay: KILL_MS, logger: app.log }, async ({ signal, err }) => {
    if (err === undefined) app.log.info({ signal }, 'closing')
    else app.log.fatal({ err }, 'closing after an error')
    announceClose()
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
