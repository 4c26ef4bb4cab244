// One attempt: what is sent, and what a receiver can't do with it.
import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { test, type Test } from 'tap'
import { parseNetwork } from '../../lib/webhooks/addresses.ts'
import { createSend } from '../../lib/webhooks/send.ts'
import { createTargets } from '../../lib/webhooks/targets.ts'

const targets = createTargets({ allowHttp: true, allowedNetworks: [parseNetwork('127.0.0.0/8')] })
const never = new AbortController().signal

async function portOf (t: Test, server: Server): Promise<number> {
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address: AddressInfo = Object(server.address())
  return address.port
}

async function serve (t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  t.teardown(() => server.closeAllConnections())
  return `http://127.0.0.1:${await portOf(t, server)}/`
}

/** A server that does what it likes with its connections. */
async function serveRaw (t: Test, onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    onSocket(socket)
  })
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  return `http://127.0.0.1:${await portOf(t, server)}/`
}

const headers = { 'content-type': 'application/json' }
const message = (url: string) => ({ url, caller: 'x', headers, body: '{"a":"ü"}' })

test('sends the body in UTF-8 with its length, and nothing that was not asked for', async (t) => {
  let seen: unknown
  const url = await serve(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, headers: { host, ...headers } } = request
    seen = { method, headers, body: Buffer.concat(chunks).toString() }
    response.writeHead(202, { 'retry-after': '5' }).end('thanks')
  })
  const answer = await createSend(targets)(message(url), never)
  t.match(answer, { status: 202, error: null, retryAfter: '5' })
  t.ok(Number.isInteger(answer.milliseconds) && answer.milliseconds >= 0)
  t.strictSame(seen, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': '10', connection: 'close' },
    body: '{"a":"ü"}'
  })
})

test('keeps how an answer begins, without half a character', async (t) => {
  const url = await serve(t, (_request, response) => { response.writeHead(500).end(`x${'ü'.repeat(9000)}`) })
  t.match(await createSend(targets)(message(url), never), { status: 500, response: `x${'ü'.repeat(511)}` })
})

test('does not follow a redirect', async (t) => {
  let inner = 0
  const other = await serve(t, (_request, response) => {
    inner++
    response.end()
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const url = await serve(t, (_request, response) => { response.writeHead(status, { location: other }).end() })
    t.match(await createSend(targets)(message(url), never), { status, error: null })
  }
  t.equal(inner, 0)
})

test('reads at most the first part of an answer that does not end', async (t) => {
  let written = 0
  const url = await serve(t, (_request, response) => {
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  t.match(await createSend(targets)(message(url), never), { status: 200, error: null })
  t.ok(written < 16 * 1024 * 1024, `${written} bytes were sent`)
})

test('gives up in time, wherever the receiver stops', async (t) => {
  const silent = await serveRaw(t, () => {})
  const dripping = await serveRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    const timer = setInterval(() => socket.write('y'), 10)
    socket.on('close', () => clearInterval(timer))
  })
  const send = createSend(targets, 200)
  for (const url of [silent, dripping]) {
    const answer = await send(message(url), never)
    t.match(answer, { status: null, error: 'timeout' })
    t.ok(answer.milliseconds >= 190, `${answer.milliseconds} ms`)
  }
  // The status counts once it is there, however slow the rest is.
  const unfinished = await serveRaw(t, (socket) => socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'))
  t.match(await send(message(unfinished), never), { status: 204 })
  const stalled = await serveRaw(t, (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'))
  t.match(await send(message(stalled), never), { status: 200, error: null })
})

test('has a word for each way to fail', async (t) => {
  const send = createSend(targets, 5000)
  const reset = await serveRaw(t, (socket) => socket.on('data', () => socket.resetAndDestroy()))
  const closing = await serveRaw(t, (socket) => socket.on('data', () => socket.end()))
  const garbage = await serveRaw(t, (socket) => socket.on('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n\r\n')))
  const headers = await serveRaw(t, (socket) => socket.on('data', () =>
    socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`)))
  const upgrade = await serveRaw(t, (socket) => socket.on('data', () => socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  )))
  const status = await serveRaw(t, (socket) => socket.on('data', () => socket.end('HTTP/1.1 099 Odd\r\n\r\n')))
  const cases: Array<[string, string]> = [
    [status, 'no_http'], [upgrade, 'no_http'],
    [reset, 'connection_closed'], [closing, 'connection_closed'], [garbage, 'no_http'], [headers, 'no_http'],
    [garbage.replace('http:', 'https:'), 'tls'], ['http://127.0.0.1:1/', 'unreachable'],
    ['http://name.invalid/', 'dns']
  ]
  for (const [url, error] of cases) t.match(await send(message(url), never), { status: null, error }, `${error} ${url}`)
})

test('ends when it is told to', async (t) => {
  const ending = new AbortController()
  const url = await serveRaw(t, () => ending.abort())
  t.match(await createSend(targets)(message(url), ending.signal), { status: null, error: 'closed' })
})
