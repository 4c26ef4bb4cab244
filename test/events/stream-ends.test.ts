// How streams of events end, on each version of HTTP.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { advancing } from '../helpers/advancing.ts'
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
