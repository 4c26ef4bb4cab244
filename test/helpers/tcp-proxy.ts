import { connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'

export interface Proxy {
  port: number
  /** Ends every connection and accepts no more. */
  close: () => void
  /** Accepts connections again. */
  open: () => Promise<void>
  /** Drops everything that is sent from now on, in both directions. */
  freeze: () => void
  thaw: () => void
  /** Everything that is sent from now on takes so many milliseconds more, in both directions. */
  slow: (ms: number) => void
}

/** Starts a proxy to a port of this machine that a test can close and freeze. */
export async function startProxy (port: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let frozen = false
  let delay = 0
  const pass = (to: Socket, chunk: Buffer): void => {
    if (frozen) return
    if (delay === 0) to.write(chunk)
    else setTimeout(() => to.write(chunk), delay)
  }
  const server: Server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.on('data', (chunk) => pass(upstream, chunk)).on('end', () => upstream.end())
    upstream.on('data', (chunk) => pass(client, chunk)).on('end', () => client.end())
  })
  const listen = async (on: number): Promise<void> => {
    server.listen(on, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const own = Number(Object(server.address()).port)
  return {
    port: own,
    close () {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
    freeze () { frozen = true },
    thaw () { frozen = false },
    slow (ms) { delay = ms },
    open: () => listen(own)
  }
}
