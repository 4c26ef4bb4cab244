// A host with two tenants that have the same.
import type { Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import type { Scope, Storage } from '../../lib/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { ALL_SCOPES, inject, testApp } from './app.ts'
import { deliveryOf } from './records.ts'

const SCOPES: Scope[] = [...ALL_SCOPES, 'tenants:read', 'tenants:delete']
const JSON_TYPE = { 'content-type': 'application/json' }

export const PLATFORM = 'platform-key-of-at-least-32-characters'
export const URL = 'http://127.0.0.1:9/hook'
export const ANN = { name: 'Ann', email: 'ann@example.org' }

export interface Ids {
  tenant: string,
  user: string,
  deleted: string,
  key: string,
  event: string,
  webhook: string,
  delivery: string,
  group: string
}

/** A host whose tenants have keys, and each the same when it is asked for. */
export async function twoTenants (t: Test, storage: Storage) {
  const { app } = await testApp(t, {
    storage,
    tenants: true,
    eventLog: true,
    trash: true,
    groups: true,
    apiKeys: {
      routes: true,
      countUses: true,
      static: [{ key: PLATFORM, name: 'platform', scopes: SCOPES, tenant: null }],
      cache: 0
    },
    server: { genReqId: () => 'fixed' }
  })
  await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'], deliver: false })
  const keyOf = async (tenant: string) =>
    (await app.users.tenant(tenant).apiKeys.create({ name: 'service', scopes: SCOPES })).key
  const idsOf = async (tenant: string): Promise<Ids> => {
    const users = app.users.tenant(tenant)
    const { id: user } = await users.create(ANN)
    const { id: deleted } = await users.create({ name: 'Gone', email: 'gone@example.org' })
    await users.delete(deleted)
    const { id: group } = await users.groups.create({ name: 'Staff' })
    await users.groups.changeMembers(group, { add: [user] })
    const { id: key } = await users.apiKeys.create({ name: 'other' })
    const { data: events } = await users.events.list()
    const event = String(events.at(-1)?.id)
    const { id: webhook } = await app.webhooks.tenant(tenant).create({ url: URL })
    const delivery = newId('dlv')
    await repositoryOf(storage).webhooks.change(webhook, null, () =>
      ({ deliveries: [deliveryOf(1, { id: delivery, webhook, event })] }))
    return { tenant, user, deleted, key, event, webhook, delivery, group }
  }
  const send = async (key: string, method: string, path: string, body?: object, headers: object = {}) => {
    const { statusCode, headers: { date, ...rest }, body: text } = await inject(app, method, `/v1${path}`, {
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && JSON_TYPE), ...headers },
      ...(body !== undefined && { payload: body })
    })
    return { statusCode, headers: rest, text }
  }
  const fill = (text: string, ids: object): string => {
    const values: Record<string, string> = { ...ids }
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
  }
  return { app, keyOf, idsOf, send, fill }
}

/** The ids of what belongs to nobody, as if it had been made now: how old an event is shows. */
export const unknownIds = (): Ids => ({
  tenant: 'nobody',
  user: newId('usr'),
  deleted: newId('usr'),
  key: newId('key'),
  event: newId('evt'),
  webhook: newId('whk'),
  delivery: newId('dlv'),
  group: newId('grp')
})

/** An answer with the names of ids in their place. */
export function asText (ids: Ids, answer: object): string {
  let text = JSON.stringify(answer)
  for (const [name, id] of Object.entries(ids)) text = text.replaceAll(id, name)
  return text
}
