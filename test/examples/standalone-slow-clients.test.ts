// The standalone service ends requests that come too slowly soon after their time is up.
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { readConfig } from '../../examples/standalone/config.ts'

test('a body that never ends is not waited for', async (t) => {
  const app = await buildApp(readConfig({ DATABASE_URL: 'memory:', API_KEYS: 's'.repeat(32) }), false)
  t.teardown(() => app.close())
  t.equal(app.server.requestTimeout, 30_000)
  app.server.requestTimeout /= 60
  app.server.headersTimeout /= 60
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address: AddressInfo = Object(app.server.address())
  const started = performance.now()
  const head = ['POST /v1/users HTTP/1.1', 'Host: x', `Authorization: Bearer ${'s'.repeat(32)}`]
  const body = ['Content-Type: application/json', 'Content-Length: 9', '', '{']
  const sockets = [[...head, ...body], head].map((lines) => lines.join('\r\n')).map((text) => {
    const socket = connect(address.port, address.address)
    socket.on('error', () => {}).resume()
    socket.write(text)
    return once(socket, 'close')
  })
  await Promise.all(sockets)
  const took = performance.now() - started
  t.ok(took < 10_000, `${took} ms: Node.js looks for late requests every 30 seconds unless told otherwise`)
})
