// Contract §9 on a real socket: requests whose body has not arrived. Headers: break-in.test.ts.
import { connect } from 'node:net'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { listen, nextEvent } from '../helpers/raw.ts'
import { until } from '../helpers/until.ts'

test('refuses a request before its body has arrived', async (t) => {
  const { app, key } = await testApp(t)
  const port = await listen(app)
  for (const [authorization, type, status] of [
    ['', 'application/json', '401'],
    [`Authorization: Bearer ${key}\r\n`, 'text/plain', '415'],
    [`Authorization: Bearer ${key}\r\n`, 'application/json', '413']
  ]) {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /v1/users HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: ${type}\r\n` +
        'Content-Length: 10000000\r\n\r\n{'
    )
    const answer = await nextEvent(socket, 'data')
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), 'answered after one byte of ten million')
    socket.destroy()
  }
})

test('a client that expects to be told to go on is told so when its body is read, and once', async (t) => {
  const rows: Array<[name: string, listen: boolean]> = [['of Node.js', false], ['of a listener of the host', true]]
  for (const [name, hasOwn] of rows) {
    const { app, key } = await testApp(t)
    await app.register(users, { prefix: '/v2', storage: memory(), decoratorName: 'others' })
    app.post('/own', async ({ body }) => body)
    if (hasOwn) {
      app.server.on('checkContinue', (request, response) => {
        response.writeContinue()
        app.server.emit('request', request, response)
      })
    }
    const port = await listen(app)
    const send = async (path: string, token: string, type: string, body: string): Promise<string> => {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', (part) => { answer += String(part) })
      const fields = [
        'Host: x', `Authorization: Bearer ${token}`, `Content-Type: ${type}`, `Content-Length: ${body.length}`,
        'Expect: 100-continue', 'Connection: close'
      ]
      socket.write(`POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
      await until('there is an answer', () => answer.includes('\r\n\r\n'))
      if (answer.startsWith('HTTP/1.1 100')) socket.write(body)
      await until('there is a final answer', () => /HTTP\/1\.1 [^1][^]*\r\n\r\n/.test(answer))
      socket.destroy()
      return (answer.match(/HTTP\/1\.1 (\d+)/g) ?? []).join().replaceAll('HTTP/1.1 ', '')
    }
    const user = '{"name":"A","email":"a@b.co"}'
    t.equal(await send('/v1/users', key, 'application/json', user), '100,201', name)
    t.equal(await send('/v1/users/import', key, 'text/csv', 'name,email\nA,x\n'), '100,200', name)
    t.equal(await send('/own', key, 'application/json', '{}'), '100,200', name)
    t.equal(await send('/v1/users', 'x', 'application/json', user), hasOwn ? '100,401' : '401', name)
    t.equal(await send('/v1/users', key, 'text/plain', user), hasOwn ? '100,415' : '415', name)
  }
})

test('a host that has such a listener when the plugin is registered keeps it alone', async (t) => {
  const { app } = await testApp(t, { before: (app) => { app.server.on('checkContinue', () => {}) } })
  t.equal(app.server.listenerCount('checkContinue'), 1)
})
