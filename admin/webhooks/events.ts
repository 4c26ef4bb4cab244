import type { Client } from '../api/client.ts'
import { errorOf } from '../../client/error.ts'
import type { Delivery, Feed, LoggedEvent } from '../api/types.ts'

const BASE_32 = '0123456789abcdefghjkmnpqrstvwxyz'
/** An event has its time a little before its id, longer if a database was slow. */
const SLACK_MS = 5000
const MOST_PAGES = 3

/** The type of test events, which are not in the log. */
export const TEST = 'webhook.test'

/** When an id was made, in epoch milliseconds: the first 50 bits of a TypeID are two zeros and the time. */
function timeOf (id: string): number {
  return [...id.slice(4, 14)].reduce((time, digit) => time * 32 + BASE_32.indexOf(digit), 0)
}

/** The events of deliveries by their ids, as far as a few requests find them in the log. */
export async function eventsOf (
  client: Client,
  deliveries: readonly Delivery[],
  { limit, signal }: { limit: number, signal: AbortSignal }
): Promise<Map<string, LoggedEvent>> {
  const found = new Map<string, LoggedEvent>()
  const ids = new Set(deliveries.filter(({ type }) => type !== TEST).map(({ event }) => event))
  const times = [...ids].map(timeOf)
  const query = new URLSearchParams({
    order: 'desc',
    limit: String(limit),
    since: new Date(Math.min(...times) - SLACK_MS).toISOString(),
    until: new Date(Math.max(...times) + SLACK_MS).toISOString()
  })
  let more = ids.size > 0
  for (let page = 1; more && found.size < ids.size && page <= MOST_PAGES; page++) {
    const { body: { data, meta } } = await client.get<Feed>(`/events?${query.toString()}`, { signal })
    for (const event of data) if (ids.has(event.id)) found.set(event.id, event)
    more = meta.more
    query.set('before', data[data.length - 1]?.id ?? '')
  }
  return found
}

/** The event with an id: the last one before whatever follows it. @throws ClientError if the log has it no longer */
export async function findEvent (client: Client, id: string, signal: AbortSignal): Promise<LoggedEvent> {
  const { body: { data: [next] } } = await client.get<Feed>(`/events?after=${id}&limit=1`, { signal })
  const before = next === undefined ? '' : `&before=${next.id}`
  const { body: { data: [event] } } = await client.get<Feed>(`/events?order=desc&limit=1${before}`, { signal })
  if (event?.id !== id) throw errorOf(404, { code: 'events_expired' }, null)
  return event
}
