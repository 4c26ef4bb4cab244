import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { furtherServers } from '../fastify-internals.ts'

const CHECK = 'checkContinue'
const prepared = new WeakSet<Server>()

function continueLate (server: Server): void {
  if (prepared.has(server)) return
  prepared.add(server)
  if (server.listenerCount(CHECK) > 0) return
  server.on(CHECK, (request, response) => {
    // The host has added a listener of its own, which answers.
    if (server.listenerCount(CHECK) > 1) return
    request._read = (size) => {
      Reflect.deleteProperty(request, '_read')
      // Not to a client that has not waited, or whose request was answered.
      if (request.readableLength === 0 && !response.headersSent) response.writeContinue()
      request._read(size)
    }
    server.emit('request', request, response)
  })
}

/**
 * Has the servers of a host tell a client with `Expect: 100-continue` to go on when its body is first read, not before
 * anything has looked at its request. A refused request gets its answer in place of that (RFC 9110 section 10.1.1).
 */
export function continueWhenRead (host: FastifyInstance): void {
  continueLate(host.server)
  host.addHook('onListen', async () => { for (const server of furtherServers(host)) continueLate(server) })
}
