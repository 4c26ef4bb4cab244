import { once } from 'node:events'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Listens on loopback and gives the port. */
export async function listen (app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  return address.port
}

/** Writes lines to a socket as they are and gives back everything the server answers until it closes. */
export async function rawRequest (port: number, lines: readonly string[], body = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('latin1')
  let answer = ''
  socket.on('data', (chunk) => { answer += String(chunk) })
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  await once(socket, 'close')
  return answer
}
