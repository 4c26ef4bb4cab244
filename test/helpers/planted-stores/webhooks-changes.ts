import type { DecideChange, WebhookChange, WebhookRecord } from '../../../lib/storage/storage.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import { type Mistake, untyped } from './plant.ts'
import type { State } from './state.ts'
import { HookStore, plantHookGap, plantHookMethods, plantHooks } from './webhook-store.ts'

type Put = [state: State, id: string, change: WebhookChange | undefined]
type Decided = [state: State, id: string, deliveryId: string | null, decide: DecideChange]

const changed: Mistake[] = [
  plantHookGap('a change decides some turns before it writes', 'change'),
  plantHooks('a change writes either the endpoint or deliveries', class extends HookStore {
    override put (...[state, id, change]: Put) {
      return super.put(state, id, change?.webhook === undefined ? change : { ...change, deliveries: [] })
    }
  }),
  plantHooks('a change merges the endpoint with what it was', class extends HookStore {
    override put (...[state, id, change]: Put) {
      const types = [...state.webhooks.get(id)?.types ?? [], ...change?.webhook?.types ?? []]
      const merged = change?.webhook && { webhook: { ...change.webhook, types: [...new Set(types)] } }
      return super.put(state, id, change && { ...change, ...merged })
    }
  }),
  plantHooks('a change takes away the deliveries that it leaves out', class extends HookStore {
    override put (...[state, id, change]: Put) {
      const isListed = change?.deliveries !== undefined
      for (const each of isListed ? this.deliveriesFor(state, id) : []) state.deliveries.delete(each.id)
      return super.put(state, id, change)
    }
  }),
  plantHooks('a change disables the endpoint that it leaves out', class extends HookStore {
    override put (...[state, id, change]: Put) {
      const webhook = state.webhooks.get(id)
      const written = change?.webhook === undefined && webhook ? { webhook: { ...webhook, enabled: false } } : {}
      return super.put(state, id, change && { ...change, ...written })
    }
  }),
  plantHookMethods('a change gives the endpoint before it', (right) => ({
    change: async (id, ...rest) => {
      const before = await right.find(id)
      return await right.change(id, ...rest) && before
    }
  })),
  plantHookMethods('a change for nothing gives null', (right) => ({
    change: async (id, delivery, decide) => {
      let isNothing = false
      const result = await right.change(id, delivery, (...given) => {
        const change = decide(...given)
        isNothing = change === null
        return change
      })
      return isNothing ? null : result
    }
  })),
  plantHookMethods('a change of an unknown endpoint asks for a decision', (right) => ({
    change: async (id, delivery, decide) => {
      const webhook = await right.find(id)
      if (webhook === null) decide(untyped({}), null)
      return right.change(id, delivery, decide)
    }
  })),
  plantHooks('an unknown delivery is as good as none', class extends HookStore {
    override decided (...[state, id, deliveryId, decide]: Decided) {
      return super.decided(state, id, state.deliveries.has(deliveryId ?? '') ? deliveryId : null, decide)
    }
  }),
  plantHooks('a decision gets a delivery of another endpoint', class extends HookStore {
    override deliveryOf (...[state, , id]: [State, string, string]) {
      return state.deliveries.get(id)
    }
  }),
  plantHooks('a decision gets the newest delivery', class extends HookStore {
    override deliveryOf (...[state, webhook, id]: [State, string, string]) {
      return super.deliveryOf(state, webhook, id) && this.sort(this.deliveriesFor(state, webhook), 'desc')[0]
    }
  }),
  plantHooks('a decision gets no delivery', class extends HookStore {
    override decided (...[state, id, deliveryId, decide]: Decided) {
      return super.decided(state, id, deliveryId, (webhook) => decide(webhook, null))
    }
  }),
  plantHooks('a decision gets what is stored', class extends HookStore {
    override decided (...[state, id, deliveryId, decide]: Decided) {
      return super.decided(state, id, deliveryId, (copy, delivery) => decide(state.webhooks.get(id) ?? copy, delivery))
    }
  }),
  plantHooks('what was decided is kept as it is', class extends HookStore {
    override decided (...[state, id, deliveryId, decide]: Decided) {
      let change: WebhookChange | null = null
      const result = super.decided(state, id, deliveryId, (...given) => (change = decide(...given)))
      return result && (change ?? {})
    }
  })
]

const removed: Mistake[] = [
  plantHooks('deliveries of a removed endpoint stay', class extends HookStore {
    override removeWebhook (state: State, id: string) { return state.webhooks.delete(id) }
  }),
  plantHooks('only the deliveries that are pending go with an endpoint', class extends HookStore {
    override removeWebhook (state: State, id: string) {
      for (const each of this.deliveriesFor(state, id)) if (each.dueAt !== null) state.deliveries.delete(each.id)
      return state.webhooks.delete(id)
    }
  }),
  plantHooks('all deliveries go with an endpoint', class extends HookStore {
    override removeWebhook (state: State, id: string) {
      if (state.webhooks.has(id)) state.deliveries.clear()
      return state.webhooks.delete(id)
    }
  }),
  plantHookMethods('remove is always true', (right) => ({
    remove: async (id) => right.remove(id).then(() => true)
  })),
  plantHookMethods('remove looks some turns before it deletes', (right) => ({
    remove: async (id) => {
      const isThere = await right.find(id) !== null
      await right.remove(id)
      return isThere
    }
  })),
  plantHooks('a change brings a removed endpoint back', class extends HookStore {
    readonly #gone = new Map<string, WebhookRecord>()

    override removeWebhook (state: State, id: string) {
      const webhook = state.webhooks.get(id)
      if (webhook !== undefined) this.#gone.set(id, webhook)
      return super.removeWebhook(state, id)
    }

    override decided (...[state, id, ...rest]: Decided) {
      const webhook = this.#gone.get(id)
      if (webhook !== undefined && !state.webhooks.has(id)) state.webhooks.set(id, webhook)
      return super.decided(state, id, ...rest)
    }
  })
]

class Closing extends HookStore {
  isClosed = false

  override async close () {
    await super.close()
    this.isClosed = true
  }
}

const closed: Mistake[] = [
  plantHooks('webhooks after close throw an error of the driver', class extends Closing {
    override claimable (...given: Parameters<HookStore['claimable']>) {
      if (this.isClosed) throw new Error('the pool has ended')
      return super.claimable(...given)
    }
  }),
  plantHooks('webhooks after close throw a fault', class extends Closing {
    override dueWebhooks (...given: Parameters<HookStore['dueWebhooks']>) {
      if (this.isClosed) throw new StorageError('fault', 'the pool has ended')
      return super.dueWebhooks(...given)
    }
  }),
  plantHooks('webhooks after close are other ones', class extends Closing {
    override giveWebhook (webhook: WebhookRecord | null) {
      return this.isClosed && webhook !== null ? { ...webhook, url: '' } : super.giveWebhook(webhook)
    }
  }),
  plantHooks('webhooks after close are gone', class extends Closing {
    override giveWebhook (webhook: WebhookRecord | null) {
      return this.isClosed ? null : super.giveWebhook(webhook)
    }
  })
]

export const webhooksChanges: Mistake[] = [...changed, ...removed, ...closed]
