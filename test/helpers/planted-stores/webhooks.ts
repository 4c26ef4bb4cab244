import type { PageRequest, WebhookRecord } from '../../../lib/storage/storage.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import { type Mistake, untyped } from './plant.ts'
import type { State } from './state.ts'
import { HookStore, plantHookMethods, plantHooks, plantKeptHook } from './webhook-store.ts'

const seconds = (time: string | null): string | null => time && `${time.slice(0, 19)}.000Z`

const kept: Mistake[] = [
  plantKeptHook('secrets are sorted', (webhook) =>
    ({ ...webhook, secrets: webhook.secrets.toSorted((a, b) => a.text < b.text ? -1 : 1) })),
  plantKeptHook('only the current secret is kept', (webhook) => ({ ...webhook, secrets: webhook.secrets.slice(0, 1) })),
  plantKeptHook('the end of a secret is lost', (webhook) =>
    ({ ...webhook, secrets: webhook.secrets.map((each) => ({ ...each, expiresAt: null })) })),
  plantKeptHook('the end of a secret is cut to seconds', (webhook) =>
    ({ ...webhook, secrets: webhook.secrets.map((each) => ({ ...each, expiresAt: seconds(each.expiresAt) })) })),
  plantKeptHook('types are a set', (webhook) => ({ ...webhook, types: [...new Set(webhook.types)] })),
  plantKeptHook('no types are all types by name', (webhook) =>
    ({ ...webhook, types: webhook.types.length === 0 ? ['*'] : webhook.types })),
  plantKeptHook('types are kept as a text with commas', (webhook) =>
    ({ ...webhook, types: webhook.types.length === 0 ? [] : webhook.types.join().split(',') })),
  plantKeptHook('no description is an empty one', (webhook) =>
    ({ ...webhook, description: webhook.description ?? '' })),
  plantKeptHook('an empty description is none', (webhook) =>
    ({ ...webhook, description: webhook.description === '' ? null : webhook.description })),
  plantKeptHook('an endpoint is disabled only for a reason', (webhook) =>
    ({ ...webhook, enabled: webhook.disabledReason === null })),
  plantKeptHook('the reason of a disabled endpoint is lost', (webhook) => ({ ...webhook, disabledReason: null })),
  plantKeptHook('where deliveries have come to is lost', (webhook) => ({ ...webhook, after: null })),
  plantKeptHook('since when an endpoint fails is lost', (webhook) => ({ ...webhook, failingSince: null })),
  plantKeptHook('until when an endpoint is paused is cut to seconds', (webhook) =>
    ({ ...webhook, pausedUntil: seconds(webhook.pausedUntil) })),
  plantKeptHook('an endpoint was changed when it was made', (webhook) =>
    ({ ...webhook, updatedAt: webhook.createdAt })),
  plantKeptHook('URLs are normalised', (webhook) => ({ ...webhook, url: new URL(webhook.url).href })),
  plantKeptHook('descriptions are normalised', (webhook) =>
    ({ ...webhook, description: webhook.description && webhook.description.normalize('NFC') })),
  plantKeptHook('enabled is a number', (webhook) => ({ ...webhook, enabled: untyped(webhook.enabled ? 1 : 0) }))
]

const found: Mistake[] = [
  plantHooks('find gives the stored endpoint', class extends HookStore {
    override giveWebhook (webhook: WebhookRecord | null) { return webhook }
  }),
  plantHookMethods('insert keeps the endpoint of the caller', (_right, { database }) => ({
    insert: async (webhook) => { database.state.webhooks.set(webhook.id, webhook) }
  })),
  plantHookMethods('insert gives the endpoint', (right) => ({
    insert: async (webhook) => {
      await right.insert(webhook)
      return untyped(structuredClone(webhook))
    }
  })),
  plantHookMethods('insert resolves before the endpoint is there', (right) => ({
    // Nothing waits for it: that is the mistake.
    insert: async (webhook) => { setTimeout(() => right.insert(webhook), 100) }
  })),
  plantHookMethods('no endpoint is undefined', (right) => ({
    find: async (id) => await right.find(id) ?? untyped(undefined)
  })),
  plantHookMethods('an unknown endpoint is an error', (right) => ({
    find: async (id) => {
      const webhook = await right.find(id)
      if (webhook === null) throw new StorageError('fault', 'no such endpoint')
      return webhook
    }
  })),
  plantHookMethods('ids of endpoints are compared without case', (right) => ({
    find: async (id) => right.find(id.toLowerCase())
  })),
  plantHookMethods('ids of endpoints end after 30 characters', (right) => ({
    remove: async (id) => right.remove(id.slice(0, 30))
  })),
  plantHookMethods('the last endpoint is found by any part of its id', (right, { database }) => ({
    find: async (id) => await right.find(id) ??
      structuredClone([...database.state.webhooks.values()].findLast((each) => each.id.startsWith(id)) ?? null)
  })),
  plantHookMethods('find throws synchronously', (right) => ({
    find: (id) => {
      if (id === '') throw new StorageError('fault', 'no id')
      return right.find(id)
    }
  })),
  plantHookMethods('a list of endpoints is in the order of insertion', (_right, { database }) => ({
    list: async ({ limit, from }) => {
      const items = [...database.state.webhooks.values()]
      const first = 'offset' in from ? from.offset : items.findIndex(({ id }) => id === from.after) + 1
      return structuredClone({ items: items.slice(first, first + limit), total: items.length })
    }
  })),
  plantHookMethods('a list of endpoints is always ascending', (right) => ({
    list: (page) => right.list({ ...page, order: 'asc' })
  })),
  plantHookMethods('a list of endpoints ignores where it begins', (right) => ({
    list: (page) => right.list('after' in page.from ? { ...page, from: { offset: 0 } } : page)
  })),
  plantHookMethods('a list of endpoints has one more than the limit', (right) => ({
    list: (page) => right.list({ ...page, limit: page.limit + 1 })
  })),
  plantHookMethods('the number of endpoints is that of the page', (right) => ({
    list: async (page) => {
      const { items } = await right.list(page)
      return { items, total: items.length }
    }
  })),
  plantHookMethods('the number of endpoints is kept beside them, and not counted down', (right) => {
    let total = 0
    return {
      insert: async (webhook) => right.insert(webhook).then(() => { total++ }),
      list: async (page) => ({ ...await right.list(page), total })
    }
  }),
  plantHookMethods('endpoints are counted a turn before they are listed', (right, store) => ({
    list: async (page) => {
      const { total } = await right.list(page)
      await store.turn()
      return { ...await right.list(page), total }
    }
  })),
  plantHooks('the enabled endpoints alone are listed', class extends HookStore {
    override webhooksOn (state: State, page: PageRequest) {
      const enabled = [...state.webhooks.values()].filter((each) => each.enabled)
      return structuredClone(this.pageOf(enabled, page))
    }
  })
]

export const webhooks: Mistake[] = [...kept, ...found]
