// The standalone service ends on a signal: soon, and without cutting off a request.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'tap'
import { get, KEY, startService } from '../helpers/service.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

/** Sends requests on a keep-alive connection, one after the other, until the server is gone. Returns the last error. */
async function client (
  url: string, headers: Record<string, string>, onAnswer: (status: number | undefined) => void
): Promise<unknown> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    while (true) {
      await new Promise<void>((resolve, reject) => {
        const sent = request(url, { agent, headers }, (response) => response.resume().on('end', () => {
          onAnswer(response.statusCode)
          resolve()
        }))
        sent.on('error', reject).end()
      })
    }
  } catch (error) {
    return Object(error).code
  } finally {
    agent.destroy()
  }
}

test('SIGTERM under load: answers every request, resets no connection and ends within 2 seconds', async (t) => {
  const service = startService(t, await temporaryDirectory(t), { LOG_LEVEL: 'info', RATE_LIMIT: '0' })
  const url = await service.printed(/curl .* (\S+)\n/)
  const headers = { authorization: `Bearer ${KEY.exec(service.stdout())?.[0]}` }
  const statuses: Array<number | undefined> = []
  const clients = Array.from({ length: 20 }, () => client(url, headers, (status) => { statuses.push(status) }))
  await until('1,000 answers', () => statuses.length >= 1000)
  const start = performance.now()
  t.equal(await service.stop(), 0)
  const took = performance.now() - start
  t.ok(took < 2000, `${took} ms`)
  t.strictSame(new Set(await Promise.all(clients)), new Set(['ECONNREFUSED']))
  t.strictSame(new Set(statuses), new Set([200]))
  t.match(service.stderr(), '"msg":"closing"')
})

test('SIGTERM ends the service within 2 seconds despite silent sockets and half requests', async (t) => {
  const service = startService(t, await temporaryDirectory(t), { DATABASE_URL: 'memory:' })
  const url = new URL(await service.printed(/curl .* (\S+)\n/))
  const halves = ['', 'GET /v1/us', 'POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{']
  const sockets = await Promise.all(halves.map(async (text) => {
    const socket = connect(Number(url.port), url.hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (text !== '') socket.write(text)
    return socket
  }))
  // A later request was answered, so the service has read these.
  await get(`${url.origin}/health`)
  const start = performance.now()
  t.equal(await service.stop(), 0)
  t.ok(performance.now() - start < 2000)
  for (const socket of sockets) socket.destroy()
})

test('on SIGTERM exports come to their end, imports say where they stopped, and streams of events end', async (t) => {
  const directory = await temporaryDirectory(t)
  const FIELDS_FILE = join(directory, 'fields.json')
  await writeFile(FIELDS_FILE, JSON.stringify({ type: 'object', properties: { note: { type: 'string' } } }))
  const env = { DATABASE_URL: 'memory:', RATE_LIMIT: '0', EVENT_LOG: 'true', FIELDS_FILE }
  const service = startService(t, directory, env)
  const url = await service.printed(/curl .* (\S+)\n/)
  const headers = { authorization: `Bearer ${KEY.exec(service.stdout())?.[0]}`, 'content-type': 'application/x-ndjson' }
  const send = (method: string, path: string, more = {}) =>
    request(new URL(path, url), { method, headers: { ...headers, ...more }, agent: new Agent() })
  const answered = async (sent: ReturnType<typeof send>): Promise<IncomingMessage> => {
    const [response]: IncomingMessage[] = await once(sent, 'response')
    if (response === undefined) throw new Error('there was no response')
    return response
  }
  // More than the buffers of a connection hold.
  const count = 6000
  const line = (n: number) =>
    `${JSON.stringify({ name: 'Ann', email: `user${n}@example.org`, note: 'x'.repeat(2500) })}\n`
  const filled = send('POST', '/v1/users/import').end(Array.from({ length: count }, (_, n) => line(n)).join(''))
  t.match(await text(await answered(filled)), `"created":${count}`)

  const exported = await answered(send('GET', '/v1/users/export').end())
  const events = await answered(send('GET', '/v1/events?after=now', { accept: 'text/event-stream' }).end())
  const stream = text(events)
  const sent = send('POST', '/v1/users/import?report=all')
  sent.on('error', () => {})
  sent.write(line(count) + line(count + 1).slice(0, 9))
  const imported = await answered(sent)
  const answer = text(imported)
  service.process.kill('SIGTERM')
  await stream
  t.match((await answer).trimEnd().split('\n').map((each) => JSON.parse(each)), [
    { line: 1, status: 'created' }, { summary: { created: 1, stoppedAfter: 1 } }
  ])
  t.ok((await text(exported)).split('\n').length > count)
  t.ok(exported.complete && imported.complete && events.complete)
  t.equal(await service.exitCode(), 0)
})
