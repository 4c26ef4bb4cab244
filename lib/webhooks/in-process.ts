import { type ListMeta, listMeta, type PagingQuery } from '../core/paging.ts'
import type { Delivery, Webhook } from '../storage/webhook.ts'
import type { ReplayStart, WebhookInput, WebhookPatch } from './rules.ts'
import type { MadeWebhook, NewWebhook, WebhooksService } from './service.ts'

/** The webhooks that a caller sees: in process what the routes do over HTTP. Every method throws UsersError alone. */
export interface TenantWebhooks {
  /**
   * Creates a webhook. It gets the events that are recorded from now on. Its secret is only in this result.
   * @throws `validation_failed`, `url_not_allowed`, `too_many_webhooks`, `storage_unavailable`
   */
  create (input: WebhookInput): Promise<NewWebhook>
  /** @throws `webhook_not_found`, `storage_unavailable` */
  get (id: string): Promise<Webhook>
  /** @throws `validation_failed`, `storage_unavailable` */
  list (query?: PagingQuery): Promise<{ data: Webhook[], meta: ListMeta }>
  /**
   * Changes the given members. One that is enabled again goes on after the last event that it got.
   * @throws `validation_failed`, `url_not_allowed`, `webhook_not_found`, `storage_unavailable`
   */
  update (id: string, patch: WebhookPatch): Promise<Webhook>
  /** Deletes it with its deliveries. @throws `webhook_not_found`, `storage_unavailable` */
  delete (id: string): Promise<void>
  /**
   * Makes a new secret. Deliveries are signed with the old one too for `overlap` seconds, a day by default.
   * @throws `validation_failed`, `webhook_not_found`, `storage_unavailable`
   */
  rotateSecret (id: string, options?: { overlap?: number }): Promise<NewWebhook>
  /** Sends a `webhook.test` event now, and waits for its one attempt. @throws as `get` */
  test (id: string): Promise<Delivery>
  /**
   * Delivers the events after one, or since a time, again, but for those whose delivery is still pending.
   * @throws `validation_failed`, `position_unknown`, `events_expired`, `webhook_not_found`, `storage_unavailable`
   */
  replay (id: string, start: ReplayStart): Promise<Webhook>
  /** Deliveries, newest first. @throws `validation_failed`, `webhook_not_found`, `storage_unavailable` */
  deliveries (id: string, query?: { page?: number, limit?: number }): Promise<{ data: Delivery[], meta: ListMeta }>
  /** Makes a delivery due now. @throws `webhook_not_found`, `delivery_not_found`, `storage_unavailable` */
  retry (id: string, delivery: string): Promise<Delivery>
}

/** `app.webhooks`: with the option `tenants` of the users, those of every tenant. */
export interface Webhooks extends TenantWebhooks {
  /**
   * The same for one tenant: its webhooks get its events alone, and those of others are not there.
   * @throws TypeError without the option `tenants`
   * @throws `validation_failed` for what is no name of a tenant
   */
  tenant (name: string): TenantWebhooks
}

/** Makes `app.webhooks`. `serviceOf`: the service of a tenant. */
export function createWebhooks (service: WebhooksService, serviceOf: (tenant: string) => WebhooksService): Webhooks {
  return Object.freeze({
    ...webhookMethods(service),
    tenant: (name: string) => Object.freeze(webhookMethods(serviceOf(name)))
  })
}

function shown ({ webhook, secret }: MadeWebhook): NewWebhook {
  return { ...webhook, secret }
}

function webhookMethods (service: WebhooksService): TenantWebhooks {
  return {
    create: async (input: WebhookInput) => shown(await service.create(input)),
    get: (id: string) => service.get(id),
    async list (query: PagingQuery = {}) {
      const page = await service.list({ ...query })
      return { data: page.items, meta: listMeta(page) }
    },
    update: (id: string, patch: WebhookPatch) => service.update(id, patch),
    delete: (id: string) => service.remove(id),
    rotateSecret: async (id: string, options: { overlap?: number } = {}) =>
      shown(await service.rotateSecret(id, options)),
    test: (id: string) => service.test(id),
    replay: (id: string, start: ReplayStart) => service.replay(id, start),
    async deliveries (id: string, query: { page?: number, limit?: number } = {}) {
      const page = await service.deliveries(id, { ...query })
      return { data: page.items, meta: listMeta(page) }
    },
    retry: (id: string, delivery: string) => service.retry(id, delivery)
  }
}
