// What the standalone service does with requests that are wrong or arrive too slowly, also in the middle of an answer.
import { once } from 'node:events'
import { connect } from 'node:net'
import { type Test, test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { readConfig } from '../../examples/standalone/config.ts'
import { loggerOptions } from '../../examples/standalone/logger.ts'
import { captureLog } from '../helpers/log.ts'
import { listen } from '../helpers/raw.ts'
import { until } from '../helpers/until.ts'

const KEY = 's'.repeat(32)
const GOOD = '{"name":"Ann","email":"ann@example.org"}\n'
const PROBLEMS = {
  400: '{"type":"about:blank","title":"Bad Request","status":400}',
  408: '{"type":"about:blank","title":"Request Timeout","status":408}',
  431: '{"type":"about:blank","title":"Request Header Fields Too Large","status":431}'
}

/** The service, with a second for a request to arrive, and a way to send bytes to it. */
async function service (t: Test) {
  const log = captureLog()
  const config = readConfig({ DATABASE_URL: 'memory:', API_KEYS: KEY, REQUEST_TIMEOUT: '1' })
  const app = await buildApp(config, { level: 'warn', stream: log.stream })
  t.teardown(() => app.close())
  let late = 0
  app.server.on('clientError', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') late++
  })
  const port = await listen(app)

  return {
    app,
    late: () => late,
    /** What was logged of requests. */
    warnings: () => log.entries().filter(({ reqId }) => reqId !== undefined),
    open () {
      const socket = connect(port, '127.0.0.1')
      const closed = once(socket, 'close')
      let text = ''
      socket.setEncoding('latin1').on('data', (chunk) => { text += String(chunk) })
      return {
        text: () => text,
        closed,
        write: (bytes: string) => socket.write(bytes),
        /** Sends the head of an import whose body comes in chunks. */
        begin (query: string) {
          socket.write([
            `POST /v1/users/import?${query} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${KEY}`,
            'Content-Type: application/x-ndjson', 'Transfer-Encoding: chunked', '', ''
          ].join('\r\n'))
        },
        send: (bytes: string) => socket.write(`${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`)
      }
    }
  }
}

/** The parts of an answer. */
function partsOf (text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [status, ...fields] = head.split('\r\n')
  return { status, fields, body }
}

const answerOf = (status: keyof typeof PROBLEMS, title: string) => ({
  status: `HTTP/1.1 ${status} ${title}`,
  fields: [
    'Content-Type: application/problem+json', `Content-Length: ${PROBLEMS[status].length}`, 'Cache-Control: no-store',
    'Connection: close'
  ],
  body: PROBLEMS[status]
})

test('a request that is late, too large or no HTTP gets problem details', async (t) => {
  const { open, warnings } = await service(t)
  const head = ['POST /v1/users HTTP/1.1', 'Host: x', `Authorization: Bearer ${KEY}`, 'Content-Length: 9']
  for (const [sent, status, title] of [
    [[...head, 'Content-Type: application/json', '', '{'].join('\r\n'), 408, 'Request Timeout'],
    ['GET /v1/users HTTP/1.1\r\nHost', 408, 'Request Timeout'],
    [`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 431, 'Request Header Fields Too Large'],
    ['no request\r\n\r\n', 400, 'Bad Request']
  ] as const) {
    const { write, closed, text } = open()
    write(sent)
    await closed
    t.strictSame(partsOf(text()), answerOf(status, title))
  }
  t.match(warnings(), [{
    msg: 'ended the connection of a request that has not arrived in time (REQUEST_TIMEOUT)',
    code: 'ERR_HTTP_REQUEST_TIMEOUT',
    bytes: head.join('\r\n').length + '\r\nContent-Type: application/json\r\n\r\n{'.length
  }])
  t.equal(warnings().length, 1, 'of the others it knows no request')
})

test('paths that the service does not have: problem details, and nothing of them in the log', async (t) => {
  const log = captureLog()
  const config = readConfig({ DATABASE_URL: 'memory:', API_KEYS: KEY })
  const app = await buildApp(config, loggerOptions('info', false, log.stream))
  t.teardown(() => app.close())
  const port = await listen(app)
  for (const [path, status, shown] of [
    ['/uk_0123456789ab_secret', 404, '/*'],
    ['/users/ann@example.org?email=bob@example.org', 404, '/users/*'],
    ['/v1/users/%zz?email=bob@example.org', 400, '/v1/users/*'],
    [`/v1/users/${'ann@example.org'.repeat(9)}`, 414, '/v1/users/*'],
    ['/v1/usrs/ann@example.org', 404, '/v1/*/*'],
    ['/health', 200, null]
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    const text = await response.text()
    t.equal(response.status, status, path)
    if (shown === null) continue
    t.match(response.headers.get('content-type'), /^application\/problem\+json/, path)
    t.notMatch(text, /secret|example\.org|%zz/)
    t.match(log.entries().findLast(({ req }) => req !== undefined), { req: { path: shown } })
  }
  t.notMatch(log.text(), /secret|example\.org/)
})

test('an import may take longer than other requests, while something of it comes', async (t) => {
  const { app, open, late, warnings } = await service(t)
  const { begin, send, write, text } = open()
  begin('report=all')
  send(GOOD)
  await until('the time of other requests is over', () => {
    send('\n')
    return late() === 1
  })
  send(GOOD.replace('ann@', 'bob@'))
  write('0\r\n\r\n')
  await until('it is answered', () => text().endsWith('\r\n0\r\n\r\n'))
  t.match(text(), /"summary":\{"created":2,/)
  t.equal((await app.users.list()).meta.total, 2)
  t.strictSame(warnings(), [])
})

test('an import of which nothing more comes is ended, by problem details while nothing was answered', async (t) => {
  const { app, open, warnings } = await service(t)
  const { begin, send, closed, text } = open()
  begin('report=faults')
  send(GOOD)
  await closed
  t.strictSame(partsOf(text()), answerOf(408, 'Request Timeout'))
  t.equal((await app.users.list()).meta.total, 1)
  const summary = { created: 1, updated: 0, skipped: 0, refused: 0, dryRun: false }
  await until('it is logged', () => warnings().length === 2)
  t.match(warnings(), [
    { msg: /has not arrived in time/, code: 'ERR_HTTP_REQUEST_TIMEOUT' },
    { msg: 'an import was aborted; the rows imported so far are kept', summary }
  ])
})

for (const [what, more, code] of [
  ['is late', '', 'ERR_HTTP_REQUEST_TIMEOUT'], ['is not well-formed', 'zz\r\n', 'HPE_INVALID_CHUNK_SIZE']
] as const) {
  test(`an answer that has begun is broken off when its request ${what}, and has nothing else in it`, async (t) => {
    const { open, warnings } = await service(t)
    const { begin, send, write, closed, text } = open()
    begin('report=all')
    send(GOOD)
    await until('the first line is answered', () => text().endsWith('}\n\r\n'))
    const before = text()
    write(more)
    await closed
    t.equal(text(), before)
    t.match(before, /^HTTP\/1\.1 200 OK\r\n/)
    await until('it is logged', () => warnings().length === 2)
    t.match(warnings()[0], { code })
    t.match(warnings()[1], { summary: { created: 1 } })
  })
}

test('an answer over HTTP/1.0 that has begun ends by a reset', async (t) => {
  const { open } = await service(t)
  const { write, closed, text } = open()
  const ended = closed.then(() => 'closed', ({ code }) => code)
  write([
    'POST /v1/users/import?report=all HTTP/1.0', `Authorization: Bearer ${KEY}`,
    'Content-Type: application/x-ndjson', 'Content-Length: 999', '', GOOD
  ].join('\r\n'))
  await until('the first line is answered', () => text().endsWith('}\n'))
  t.equal(await ended, 'ECONNRESET')
  t.notMatch(text(), '408')
})
