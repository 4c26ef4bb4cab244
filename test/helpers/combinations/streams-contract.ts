// The contract of events, and of the administration page.
import type { Exchange } from '../transports.ts'
import { until } from '../until.ts'
import type { Site } from './site.ts'

/** The data of the events that a stream has brought. */
const eventsOf = (stream: Exchange): string[] =>
  stream.text().split('\n').filter((text) => text.startsWith('data: ')).map((text) => text.slice(6))

async function events ({ step, open, note, app }: Site): Promise<Exchange> {
  const read = (): Exchange => {
    const stream = open('GET', '/v1/events?type=user.deleted', { accept: 'text/event-stream' })
    stream.read()
    return stream
  }
  const stream = read()
  const { id } = await app.users.create({ name: 'Eve', email: 'eve@example.org' })
  await until('a stream has the events from before', () => eventsOf(stream).length > 0)
  const before = eventsOf(stream).length
  await app.users.delete(id)
  await until('an event is there', () => eventsOf(stream).length === before + 1)
  for (const [n, event] of eventsOf(stream).entries()) note(`event ${n} of a stream`, event)
  await step('a page of events', 200, 'GET', '/v1/events?limit=2&type=user.*')
  await step('the events of a user', 200, 'GET', `/v1/users/${id}/events`)
  await step('events after an unknown one', 400, 'GET', '/v1/events?after=evt_x', {
    headers: { accept: 'text/event-stream' }
  })
  const left = read()
  await until('a second stream is open', () => eventsOf(left).length > before)
  left.cancel()
  await until('its client has left', () => left.ending() !== null)
  return stream
}

async function page ({ step }: Site): Promise<void> {
  // Browsers have no key when they load it.
  const key = null
  for (const name of ['', 'admin.js', 'admin.css', 'settings.json']) {
    const path = `/admin/${name}`
    const { headers } = await step(`GET ${path}`, 200, 'GET', path, { key })
    await step(`HEAD ${path}`, 200, 'HEAD', path, { key })
    await step(`${path} as it is`, 200, 'GET', path, { key, headers: { 'accept-encoding': 'identity' } })
    await step(`${path} that is known`, 304, 'GET', path, { key, headers: { 'if-none-match': headers['etag'] ?? '' } })
  }
  await step('the page without its slash', 308, 'GET', '/admin?x=1', { key })
  await step('what a key may do', 200, 'GET', '/v1/capabilities')
}

/** Returns a stream of events that is still open. */
export async function streamsContract (site: Site): Promise<Exchange> {
  await page(site)
  return await events(site)
}
