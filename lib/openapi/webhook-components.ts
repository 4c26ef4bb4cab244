import { DELIVERY_ID } from '../core/ids.ts'
import { NAME_MAX, OVERLAP_MAX, WEBHOOK_TYPES_MAX, WEBHOOK_URL_MAX } from '../core/limits.ts'
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
  description: 'An https URL whose host resolves only to public addresses.'
}
const types = (items: Schema): Schema => ({
  type: 'array',
  items,
  maxItems: WEBHOOK_TYPES_MAX,
  description: 'The types of events that the webhook receives; empty if all.'
})
const inputTypes = types({ type: 'string', enum: TYPE_FILTERS })
const description: Schema = { type: 'string', minLength: 1, maxLength: NAME_MAX }
const enabled: Schema = { type: 'boolean', description: 'False pauses deliveries until it is set to true again.' }
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
    'It answered 410, or failed for five days. Absent if the server did not disable it.'
  ),
  failingSince: moment('The time since which every attempt has failed. Absent if the last one did not fail.'),
  ...times
}
const OPTIONAL = ['description', 'disabledReason', 'failingSince']
const secret = {
  type: 'string',
  pattern: '^whsec_',
  description: 'Verifies deliveries. Shown only in this answer, and not in its replay.'
}
const nullableDescription: Schema = { ...description, type: ['string', 'null'] }

const attempt = answer({
  at: moment('When the attempt began.'),
  status: { type: 'integer', minimum: 100, maximum: 599, description: 'HTTP status. Absent if there was no answer.' },
  milliseconds: { type: 'integer', minimum: 0 },
  error: { type: 'string', description: 'A code for why there was no answer, such as `timeout`.' },
  response: {
    type: 'string',
    description: 'The start of the body of an unsuccessful answer: at most 1024 bytes, without control characters.'
  }
}, { optional: ['status', 'error', 'response'] })

const deliveryId: Schema = { type: 'string', pattern: DELIVERY_ID.source }
const deliveryStatus = known(['pending', 'succeeded', 'failed'])
const deliveryCreatedAt = moment('When the delivery was created.')

const delivery = {
  id: deliveryId,
  event: { ...eventId, description: 'The id of the event, sent as `webhook-id`.' },
  type: { type: 'string', description: 'The type of the event; `webhook.test` for a test.' },
  status: deliveryStatus,
  attempts: { type: 'array', items: attempt, description: 'The latest 20 attempts, oldest first.' },
  nextAttemptAt: moment('When the next attempt is due. Absent if there is none.'),
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
    after: { ...eventId, description: 'Replay the events after this one. Not together with `since`.' },
    since: moment('Replay the events since this time. Not together with `after`.')
  }, { optional: ['after', 'since'], example: { since: WEBHOOK.createdAt } }),
  SecretRotation: body({
    overlap: {
      type: 'integer',
      minimum: 0,
      maximum: OVERLAP_MAX,
      description: 'Seconds that deliveries are signed with the old secret too. Default: a day.'
    }
  }, { optional: ['overlap'], example: { overlap: 3600 } }),
  Delivery: answer(delivery, { optional: ['nextAttemptAt'] }),
  /** A delivery that carried an event of a person. */
  SubjectDelivery: answer({
    ...delivery,
    webhook: answer({
      id: webhookId, origin: { type: 'string', description: 'The origin of its URL; empty if it was deleted.' }
    })
  }, { optional: ['nextAttemptAt'] }),
  MinimalDelivery: answer({ id: deliveryId, status: deliveryStatus, createdAt: deliveryCreatedAt }),
  WrittenDelivery: written('Delivery', 'MinimalDelivery', 'webhooks:read'),
  DeliveryList: list('Delivery', pageSize)
})
