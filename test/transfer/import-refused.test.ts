// Imports that are refused as a whole: each gets its answer, and none holds a connection or the server.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { type Test, test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit } from '../helpers/around.ts'
import { advancing } from '../helpers/advancing.ts'
import { testApp, type TestAppOptions } from '../helpers/app.ts'
import { endingOf, served, turns } from '../helpers/exchanges.ts'
import { importWords } from '../helpers/import-rows.ts'
import { listen } from '../helpers/raw.ts'
import { TRANSPORTS } from '../helpers/transports.ts'

const CSV = { 'content-type': 'text/csv' }

/** The ways in which an import is refused while its body comes. */
const refusals: Array<[way: string, options: () => TestAppOptions, status: number, code: string]> = [
  ['header', () => ({}), 400, 'validation_failed'],
  ['storage', () => {
    const storage = memory()
    const lost = () => Promise.reject(new StorageError('unavailable', 'the connection was lost'))
    return { storage: aroundCommit(storage, 'users', lost) }
  }, 503, 'storage_unavailable'],
  ['handler', () => ({ server: { handlerTimeout: 200 } }), 503, 'FST_ERR_HANDLER_TIMEOUT']
]

for (const transport of TRANSPORTS) {
  const { name } = transport

  for (const [way, options, status, code] of refusals) {
    test(`${name}: an import refused by its ${way} gets its answer, and holds up no server that closes`, async (t) => {
      const { server, ...given } = options()
      const { app, send } = await served(t, { ...transport, server: { ...transport.server, ...server } }, given)
      const imported = send('POST', '/users/import', CSV)
      imported.read()
      if (way === 'header') imported.send(`wrong\n${'x\n'.repeat(200_000)}`)
      else imported.send(way === 'storage' ? 'name,email\nAnn,ann@example.org\n' : 'name,')
      t.equal(await endingOf(imported), 'whole')
      t.equal(imported.status(), status)
      t.match(JSON.parse(imported.text()), { code })
      imported.send('x\n')
      await app.close()
    })
  }
}

/** A host that listens, and the fields of an import of a table. */
async function listening (t: Test) {
  const { app, key } = await testApp(t)
  const port = await listen(app)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
  const lines = Object.entries({ host: 'localhost', ...headers, 'content-length': '1000000' })
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let answer = ''
  let isClosed = false
  socket.on('data', (part) => { answer += String(part) }).on('error', () => {}).on('close', () => { isClosed = true })
  return {
    app,
    port,
    headers,
    begin (): void {
      const fields = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      socket.write(`POST /v1/users/import HTTP/1.1\r\n${fields}\r\nwrong\n`)
    },
    isAnswered: () => answer.includes('validation_failed'),
    isClosed: () => isClosed
  }
}

test('refused imports of a client that keeps its connection are all answered', async (t) => {
  const { port, headers } = await listening(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ports = new Set<number | undefined>()
  for (const lines of [1, 60_000, 60_000, 2000]) {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/v1/users/import', headers, agent })
    sent.end(`wrong\n${'x'.repeat(79)}\n`.repeat(lines))
    const [answer] = await once(sent, 'response')
    ports.add(sent.socket?.localPort)
    t.equal(answer.statusCode, 400)
    answer.resume()
    await once(answer, 'end')
  }
  t.equal(ports.size, 1, 'over one connection')
})

test('what a client sends after its refusal is read away for five seconds', async (t) => {
  const { begin, isAnswered, isClosed } = await listening(t)
  const { advance } = advancing(t)
  begin()
  await turns('the answer has come', isAnswered)
  await advance(4999)
  t.notOk(isClosed())
  await advance(1)
  await turns('the connection is closed', isClosed)
})

test('a refused import that was injected holds up no server that closes', async (t) => {
  const { app, call } = await testApp(t)
  const payload = new PassThrough()
  payload.write('wrong\n')
  t.equal((await call('POST', '/users/import', { headers: CSV, payload })).statusCode, 400)
  await app.close()
})

test('a table whose lines end with CR alone is refused, with how they must end', async (t) => {
  const { call } = await testApp(t)
  const rows = 'name,email\rA,a@example.org\rB,b@example.org\r'
  for (const [table, detail] of [
    [rows, 'must not have a CR outside of quotation marks: its lines must end with LF or CR LF'],
    [rows.repeat(2000), 'must begin with a header of at most 64 KiB; its lines must end with LF or CR LF']
  ] as const) {
    const { status, errors } = await importWords(call, 'ignoreUnknown=true', table, 'text/csv')
    t.strictSame([status, errors], [400, [{ pointer: '', code: 'format', detail }]])
  }
  const converted = 'name,email\r\r\nA,a@example.org\r\r\n'
  t.match((await importWords(call, '', converted, 'text/csv')).words, ['2 created'])
})
