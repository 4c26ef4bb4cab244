// HEAD of the event log as Server-Sent Events, over sockets.
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'

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
    [200, ''], [200, '?after=now'], [200, `?type=user.*&subject=${id}`, { 'last-event-id': last }],
    [400, '?order=desc'], [400, '?after=x'], [400, '', { 'last-event-id': 'x' }], [200, '']
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
