// Streams of events over sockets: how they end on each version of HTTP, and HEAD.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { advancing } from '../helpers/advancing.ts'
import { testApp } from '../helpers/app.ts'
import { endingOf, served, turns } from '../helpers/exchanges.ts'
import { withoutType } from '../helpers/fields.ts'
import { TRANSPORTS } from '../helpers/transports.ts'
import { until } from '../helpers/until.ts'

const EVENT_STREAM = { accept: 'text/event-stream' }

for (const transport of TRANSPORTS) {
  const { name } = transport

  test(`${name}: a stream of events ends behind an event when the server closes`, async (t) => {
    const { app, send } = await served(t, transport, { eventLog: true })
    const stream = send('GET', '/events', EVENT_STREAM)
    stream.read()
    await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    await until('the event is there', () => stream.text().includes('user.created'))
    await app.close()
    t.equal(await endingOf(stream), 'whole')
    t.match(stream.text(), /\n\n$/)
  })

  test(`${name}: a stream of events whose reader takes nothing for 30 seconds is broken off`, async (t) => {
    const fields = Type.Object({ note: Type.String() })
    const { app, send, running } = await served(t, transport, { eventLog: true, fields: { schema: fields } })
    const note = 'x'.repeat(15_000)
    for (let n = 0; n < 800; n++) {
      await app.users.create(withoutType({ name: 'Ann', email: `user${n}@example.org`, note }))
    }
    const { advance } = advancing(t)
    const stream = send('GET', '/events', EVENT_STREAM)
    await turns('it has begun', () => running() === 1)
    while (running() === 1) await advance(30_001)
    stream.read()
    await turns('it has ended', () => stream.ending() !== null)
    t.equal(stream.ending(), 'broken')
  })
}

// Of the connection, or of the moment.
const PASSING = ['date', 'keep-alive', 'transfer-encoding']

test('HEAD with Accept: text/event-stream answers as GET does, and holds no place', async (t) => {
  const { app, key } = await testApp(t, { eventLog: true, limits: { streams: { perKey: 1 } } })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  const { data: [newest] } = await app.users.events.list()
  const last = String(newest?.id)
  const ask = async (method: string, query: string, more: Record<string, string> = {}) => {
    const ending = new AbortController()
    const response = await fetch(`${origin}/v1/events${query}`, {
      method,
      signal: ending.signal,
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...more }
    })
    const { status, headers } = response
    const length = method === 'HEAD' ? (await response.text()).length : 0
    const end = () => ending.abort()
    const kept = Object.fromEntries([...headers].filter(([name]) => !PASSING.includes(name)))
    return { status, headers: kept, length, end }
  }
  const cases: Array<[status: number, query: string, more?: Record<string, string>]> = [
    [200, `?type=user.*&subject=${id}`, { 'last-event-id': last }], [400, '?order=desc'], [200, '']
  ]
  for (const [status, query, more] of cases) {
    const { length, ...answer } = await ask('HEAD', query, more)
    t.strictSame([answer.status, length], [status, 0], query)
  }
  const head = await ask('HEAD', '')
  const open = await ask('GET', '')
  t.strictSame([head.status, head.headers], [open.status, open.headers])
  t.equal((await ask('HEAD', '')).status, 429, 'the key has its one stream')
  open.end()
})
