import { DELIVERY_ID } from '../core/ids.ts'
import { NAME_MAX, WEBHOOK_TYPES_MAX, WEBHOOK_URL_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import { TYPE_FILTERS } from '../events/rules.ts'
import { answer, body, eventId, known, list, moment, type Schema, webhookId, written } from './component-parts.ts'

const WEBHOOK = {
  id: 'whk_01h455vb4pex5vsknk084sn02q',
  url: 'https://example.org/hooks/users',
  types: ['user.*'],
  enabled: true,
  createdAt: '2026-01-31T09:30:00.000Z',
  updatedAt: '2026-01-31T09:30:00.000Z'
}

const url: Schema = {
  type: 'string',
  format: 'uri',
  maxLength: WEBHOOK_URL_MAX,
  description: 'https, and a name or address that leads to public addresses alone.'
}
const types = (items: Schema): Schema => ({
  type: 'array',
  items,
  maxItems: WEBHOOK_TYPES_MAX,
  description: 'The types of events that it gets; empty: all.'
})
const inputTypes = types({ type: 'string', enum: TYPE_FILTERS })
const description: Schema = { type: 'string', minLength: 1, maxLength: NAME_MAX }
const enabled: Schema = { type: 'boolean', description: 'False: it gets nothing until it is true again.' }
const times = {
  createdAt: moment('When the webhook was created.'),
  updatedAt: moment('When the webhook was last changed.')
}
const members: Readonly<Record<string, Schema>> = {
  id: webhookId,
  url,
  types: types(known(TYPE_FILTERS)),
  description,
  enabled,
  disabledReason: known(
    ['gone', 'failing'],
    'It answered 410, or has failed for five days. Absent: it was not disabled because of that.'
  ),
  failingSince: moment('Since when every attempt has failed. Absent: the last one did not.'),
  ...times
}
const OPTIONAL = ['description', 'disabledReason', 'failingSince']
const secret = {
  type: 'string',
  pattern: '^whsec_',
  description: 'Verifies deliveries: shown only in this answer, and not in a repetition.'
}
const nullableDescription: Schema = { ...description, type: ['string', 'null'] }

const attempt = answer({
  at: moment('When it began.'),
  status: { type: 'integer', minimum: 100, maximum: 599, description: 'Absent: there was no answer.' },
  milliseconds: { type: 'integer', minimum: 0 },
  error: { type: 'string', description: 'A word for what went wrong without an answer, such as `timeout`.' },
  response: {
    type: 'string',
    description: 'How the body of an answer that is no success begins: at most 1024 bytes, without control characters.'
  }
}, { optional: ['status', 'error', 'response'] })

const deliveryId: Schema = { type: 'string', pattern: DELIVERY_ID.source }
const deliveryStatus = known(['pending', 'succeeded', 'failed'])
const deliveryCreatedAt = moment('When the delivery was made.')

const delivery = {
  id: deliveryId,
  event: { ...eventId, description: 'The event, which is `webhook-id` too.' },
  type: { type: 'string', description: 'The type of the event; of a test `webhook.test`.' },
  status: deliveryStatus,
  attempts: { type: 'array', items: attempt, description: 'The latest, oldest first.' },
  nextAttemptAt: moment('When the next attempt is due. Absent: there is none.'),
  createdAt: deliveryCreatedAt
}

/** Components of webhooks. */
export const webhookComponents = (pageSize: PageSize): Readonly<Record<string, Schema>> => ({
  Webhook: answer(members, { optional: OPTIONAL, example: WEBHOOK }),
  WebhookList: list('Webhook', pageSize),
  NewWebhook: answer({ ...members, secret }, {
    optional: [...OPTIONAL, 'secret'], example: { ...WEBHOOK, secret: 'whsec_…' }
  }),
  MinimalWebhook: answer({ id: webhookId, ...times }),
  MinimalNewWebhook: answer({ id: webhookId, ...times, secret }, { optional: ['secret'] }),
  CreatedWebhook: written('NewWebhook', 'MinimalWebhook', 'webhooks:read'),
  WrittenWebhook: written('Webhook', 'MinimalWebhook', 'webhooks:read'),
  RotatedWebhook: written('NewWebhook', 'MinimalNewWebhook', 'webhooks:read'),
  WebhookInput: body({ url, types: inputTypes, description: nullableDescription, enabled }, {
    optional: ['types', 'description', 'enabled'],
    example: { url: WEBHOOK.url, types: WEBHOOK.types }
  }),
  WebhookPatch: body({ url, types: inputTypes, description: nullableDescription, enabled }, {
    optional: ['url', 'types', 'description', 'enabled'],
    example: { enabled: false }
  }),
  WebhookReplay: body({
    after: { ...eventId, description: 'Those after this event. Not together with `since`.' },
    since: moment('Those that happened since. Not together with `after`.')
  }, { optional: ['after', 'since'], example: { since: WEBHOOK.createdAt } }),
  Delivery: answer(delivery, { optional: ['nextAttemptAt'] }),
  /** A delivery that carried an event of a person. */
  SubjectDelivery: answer({
    ...delivery,
    webhook: answer({
      id: webhookId, origin: { type: 'string', description: 'The origin of its URL; empty: it is gone.' }
    })
  }, { optional: ['nextAttemptAt'] }),
  MinimalDelivery: answer({ id: deliveryId, status: deliveryStatus, createdAt: deliveryCreatedAt }),
  WrittenDelivery: written('Delivery', 'MinimalDelivery', 'webhooks:read'),
  DeliveryList: list('Delivery', pageSize)
})
