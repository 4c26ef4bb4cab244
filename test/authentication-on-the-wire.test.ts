// Contract §9 on a real socket: requests whose body has not arrived, and repeated or malformed headers.
import { connect } from 'node:net'
import { test } from 'tap'
import { testApp } from './helpers/app.ts'
import { listen, nextEvent, rawRequest } from './helpers/raw.ts'

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

test('refuses repeated and malformed Authorization headers', async (t) => {
  const { app, key } = await testApp(t)
  const port = await listen(app)
  const send = (...lines: string[]) =>
    rawRequest(port, ['GET /v1/users HTTP/1.1', 'Host: x', 'Connection: close', ...lines])
  t.match(await send(`Authorization: Bearer ${key}`), /^HTTP\/1.1 200 /)
  t.match(
    await send(`AUTHORIZATION:\t Bearer ${key}  `),
    /^HTTP\/1.1 200 /,
    'white space around the field is no part of it'
  )
  t.match(
    await send(`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`),
    /^HTTP\/1.1 401 .*invalid_api_key/s
  )
  t.match(await send(`Authorization: Bearer ${key}`, 'Authorization: Basic x'), /^HTTP\/1.1 401 .*invalid_api_key/s)
  t.match(await send('Authorization: Basic x', `Authorization: Bearer ${key}`), /^HTTP\/1.1 401 .*invalid_api_key/s)
  t.match(await send(`Authorization: Bearer ${key}\xe9`), /^HTTP\/1.1 401 .*invalid_api_key/s)
  t.match(await send(`Proxy-Authorization: Bearer ${key}`), /^HTTP\/1.1 401 .*"unauthorized"/s)
  const post = [
    'POST /v1/users HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${key}`,
    'Content-Length: 2'
  ]
  t.match(
    await rawRequest(port, [...post, 'Content-Type: application/json', 'Content-Type: application/json'], '{}'),
    /^HTTP\/1.1 415 /,
    'two media types are not supported'
  )
})
