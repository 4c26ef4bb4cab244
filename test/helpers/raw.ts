import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Listens on loopback, unless it does already, and returns the port. */
export async function listen (app: FastifyInstance): Promise<number> {
  if (app.server.address() === null) await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  return address.port
}

/** The next event of a socket, as text. It throws if the event does not happen within `ms` milliseconds. */
export async function nextEvent (socket: Socket, event: 'data' | 'close', ms = 10_000): Promise<string> {
  const late = new Error(`the socket's event '${event}' did not happen within ${ms} ms`)
  const deadline = setTimeout(() => socket.destroy(late), ms)
  try {
    const [value] = await once(socket, event)
    return String(value)
  } finally {
    clearTimeout(deadline)
  }
}

/** Writes the lines to a socket unchanged, and returns everything that the server sends until it closes. */
export async function rawRequest (port: number, lines: readonly string[], body = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('latin1')
  let answer = ''
  socket.on('data', (chunk) => { answer += String(chunk) })
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  // A server that does not read the rest of a request resets the connection behind its answer.
  await nextEvent(socket, 'close').catch((error: NodeJS.ErrnoException) => {
    if (answer === '' || error.code !== 'ECONNRESET') throw error
  })
  return answer
}
