// A network between service and database that lies, cuts and waits.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Starts a proxy. Its mode may change at any time: `pass`; `freeze`: nothing arrives, and nothing is said; `delay`:
 * each chunk from the server is late by `ms`; `reset`: `decide(chunk, fromServer)` says when a connection is reset.
 */
export async function openProxy (port) {
  const sockets = new Set()
  let mode = { kind: 'pass' }
  let upstreamPort = port
  let resets = 0

  function pipe (from, to, fromServer, reset) {
    let last = Promise.resolve()
    from.on('data', (chunk) => {
      const { kind, ms, decide } = mode
      if (kind === 'freeze') return
      if (kind === 'reset' && decide(chunk, fromServer)) {
        resets++
        return reset()
      }
      const late = kind === 'delay' && fromServer
      if (!late) last = last.then(() => to.write(chunk))
      else last = Promise.all([last, wait(ms)]).then(() => to.write(chunk))
    })
    from.on('end', () => { last = last.then(() => to.end()) })
  }

  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        if (mode.kind === 'freeze') return
        client.destroy()
        upstream.destroy()
      })
    }
    const reset = () => {
      client.resetAndDestroy()
      upstream.destroy()
    }
    pipe(client, upstream, false, reset)
    pipe(upstream, client, true, reset)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: server.address().port,
    resets: () => resets,
    set (next) { mode = next },
    /** Leads to another server from now on. */
    leadTo (next) { upstreamPort = next },
    /** Resets every connection that is open. */
    drop () {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    close () {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
