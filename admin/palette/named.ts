import type { Client } from '../api/client.ts'
import { ClientError } from '../../client/error.ts'
import type { ApiKey, Feed, Listed, LoggedEvent, User, Webhook } from '../api/types.ts'
import { type Named, timeOfId } from '../state/pasted.ts'
import { currentTenant, hrefOf } from '../state/route.ts'
import type { Session } from '../state/session.ts'
import type { Speech } from '../state/texts.ts'

/** What an id, or the start of a key, leads to. */
export interface Found { key: string, label: string, note: string, href: string }

/** An event gets its timestamp just before its id, unless the clock was turned back meanwhile. */
const NEAR_MS = 50

/** Where a record is shown: one of another tenant than the page is narrowed to, among those of all. */
const tenantFor = (tenant: unknown): string | null => {
  const narrowed = currentTenant()
  return tenant === narrowed ? narrowed : null
}

/** The event with an id, among those of its time: the API reads no single event. */
async function findEvent (client: Client, id: string, limit: number, signal: AbortSignal) {
  const time = timeOfId(id)
  const query = new URLSearchParams({
    since: new Date(time - NEAR_MS).toISOString(),
    until: new Date(time + NEAR_MS).toISOString(),
    limit: String(limit)
  })
  const { body: { data } } = await client.get<Feed>(`/events?${query.toString()}`, { signal, isOfAll: true })
  return data.find((event) => event.id === id)
}

function eventHref (event: LoggedEvent): string {
  const { timestamp, data: { id } } = event
  const until = new Date(Date.parse(timestamp) + 1).toISOString()
  const query = new URLSearchParams({ ...(typeof id === 'string' && { subject: id }), since: timestamp, until })
  return hrefOf(['events'], query, tenantFor(event.tenant))
}

/** Finds what an id or the start of a key names; null: nothing that the person may see. */
export async function findNamed (
  named: Named,
  { client, can, capabilities: { offers, pageSize } }: Session,
  { say }: Speech,
  signal: AbortSignal
): Promise<Found | null> {
  const { is, text } = named
  const read = async <Body>(path: string): Promise<Body | null> => {
    try {
      return (await client.get<Body>(path, { signal, isOfAll: true })).body
    } catch (error) {
      if (error instanceof ClientError && error.statusCode === 404) return null
      throw error
    }
  }
  switch (is) {
    case 'usr': {
      const user = can('users:read') ? await read<User>(`/users/${text}`) : null
      if (user === null) return null
      const href = hrefOf(['users', text], undefined, tenantFor(user['tenant']))
      return { key: text, label: user.name, note: user.email, href }
    }
    case 'key':
    case 'start': {
      if (!offers.apiKeys || !can('keys:read')) return null
      const apiKey = is === 'key'
        ? await read<ApiKey>(`/api-keys/${text}`)
        : (await read<Listed<ApiKey>>(`/api-keys?start=${text}`))?.data[0]
      if (!apiKey) return null
      const { id, name, start } = apiKey
      const href = hrefOf(['api-keys'], new URLSearchParams({ key: id }), tenantFor(apiKey.tenant))
      return { key: id, label: `${name} (${start}…)`, note: say('keys.one'), href }
    }
    case 'whk': {
      const webhook = offers.webhooks && can('webhooks:read') ? await read<Webhook>(`/webhooks/${text}`) : null
      return webhook && { key: text, label: webhook.url, note: say('hooks.title'), href: hrefOf(['webhooks', text]) }
    }
    case 'evt': {
      if (!offers.events || !can('events:read')) return null
      const event = await findEvent(client, text, pageSize.max, signal)
      if (event === undefined) return null
      const { name } = event.data
      const label = typeof name === 'string' ? `${event.type}: ${name}` : event.type
      return { key: text, label, note: say('hooks.event'), href: eventHref(event) }
    }
  }
}
