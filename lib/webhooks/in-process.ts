import { type ListMeta, listMeta, type PagingQuery } from '../core/paging.ts'
import type { Delivery, Webhook } from '../storage/webhook.ts'
import { FROM_PROCESS } from './call.ts'
import type { DeliveriesQuery, ReplayStart, WebhookInput, WebhookPatch } from './rules.ts'
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
  /**
   * Deliveries, newest first. `status`: only those with it.
   * @throws `validation_failed`, `webhook_not_found`, `storage_unavailable`
   */
  deliveries (id: string, query?: DeliveriesQuery): Promise<{ data: Delivery[], meta: ListMeta }>
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

/** Makes `app.webhooks`. `requireTenant`: throws for what is no tenant that the mount may have. */
export function createWebhooks (service: WebhooksService, requireTenant: (name: string) => void): Webhooks {
  return Object.freeze({
    ...webhookMethods(service),
    tenant (name: string) {
      requireTenant(name)
      return Object.freeze(webhookMethods(service, name))
    }
  })
}

function shown ({ webhook, secret }: MadeWebhook): NewWebhook {
  return { ...webhook, secret }
}

function webhookMethods (service: WebhooksService, tenant?: string): TenantWebhooks {
  const call = { ...FROM_PROCESS, tenant }
  return {
    create: async (input: WebhookInput) => shown(await service.create(input, call)),
    get: (id: string) => service.get(id, tenant),
    async list (query: PagingQuery = {}) {
      const page = await service.list({ ...query }, call)
      return { data: page.items, meta: listMeta(page) }
    },
    update: (id: string, patch: WebhookPatch) => service.update(id, patch, call),
    delete: (id: string) => service.remove(id, tenant),
    rotateSecret: async (id: string, options: { overlap?: number } = {}) =>
      shown(await service.rotateSecret(id, options, call)),
    test: (id: string) => service.test(id, call),
    replay: (id: string, start: ReplayStart) => service.replay(id, start, call),
    async deliveries (id: string, query: DeliveriesQuery = {}) {
      const page = await service.deliveries(id, { ...query }, call)
      return { data: page.items, meta: listMeta(page) }
    },
    retry: (id: string, delivery: string) => service.retry(id, delivery, call)
  }
}
