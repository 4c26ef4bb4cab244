// What becomes of the connections of requests that are answered while their server closes.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type Test } from 'tap'
import admin from '../../lib/admin-plugin.ts'
import { testApp } from '../helpers/app.ts'
import { listen } from '../helpers/raw.ts'
import { until } from '../helpers/until.ts'

/** A host whose requests wait for `release` in a hook of its own, and a client that keeps its connections. */
async function waiting (t: Test) {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  let arrived = (): void => {}
  const isThere = new Promise<void>((resolve) => { arrived = resolve })
  const { app, key } = await testApp(t, {
    // As long as by default, so that a test that waits for it fails.
    server: { keepAliveTimeout: 72_000 },
    before (host) {
      host.addHook('onRequest', async () => {
        arrived()
        await released
      })
    }
  })
  await app.register(admin, { prefix: '/admin' })
  const port = await listen(app)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  return {
    app,
    isThere,
    release,
    async send (method: string, path: string, body?: string): Promise<IncomingMessage> {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const headers = { authorization: `Bearer ${key}`, ...type }
      const sent = request({ host: '127.0.0.1', port, agent, method, path, headers }).end(body)
      const [response] = await once(sent, 'response')
      return response
    }
  }
}

const REQUESTS: Array<[what: string, status: number, method: string, path: string, body?: string]> = [
  ['a creation', 201, 'POST', '/v1/users', '{"name":"Ann","email":"ann@example.org"}'],
  ['an error', 400, 'POST', '/v1/users', '{}'],
  ['an unknown path', 404, 'GET', '/v1/unknown'],
  ['a file of the administration page', 200, 'GET', '/admin/admin.css']
]

for (const [what, status, ...asked] of REQUESTS) {
  test(`${what} that is answered while the server closes ends its connection`, async (t) => {
    const { app, isThere, release, send } = await waiting(t)
    const answered = send(...asked)
    await isThere
    const closed = app.close()
    await until('the server listens no more', () => !app.server.listening)
    release()
    const response = await answered
    await text(response)
    t.match(response, { statusCode: status, headers: { connection: 'close' } })
    await closed
  })
}

test('an answer before the server closes keeps its connection', async (t) => {
  const { release, send } = await waiting(t)
  release()
  const response = await send('GET', '/v1/users')
  await text(response)
  t.equal(response.headers.connection, 'keep-alive')
})
