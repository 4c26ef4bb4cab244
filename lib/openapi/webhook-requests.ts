import { EVENT_TYPES } from '../events/types.ts'
import type { Schema } from './component-parts.ts'

const header = (name: string, description: string): Schema =>
  ({ name, in: 'header', required: true, schema: { type: 'string' }, description })

const HEADERS = [
  header('webhook-id', 'The id of the event: the same in every attempt.'),
  header('webhook-timestamp', 'The Unix time of this attempt, in seconds.'),
  header('webhook-signature', 'One signature per secret, separated by spaces: `v1,` and an HMAC-SHA-256 in base64.')
]

/** What `data` of an event is. */
function dataOf (type: string): string {
  if (type.startsWith('user.')) return 'EventUser'
  return type.startsWith('api_key.') ? 'EventApiKey' : 'Webhook'
}

/** Such as `receiveUserCreated`. */
function operationIdOf (type: string): string {
  return `receive${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`
}

/**
 * The requests that receivers get, for the member `webhooks` of OpenAPI 3.1, by the type of the event. `suffix`: of
 * the ids of operations.
 */
export const webhookRequests = (suffix: string): Readonly<Record<string, Schema>> => Object.fromEntries(
  EVENT_TYPES.map((type) => [type, {
    post: {
      operationId: `${operationIdOf(type)}${suffix}`,
      tags: ['webhooks'],
      summary: `Receive \`${type}\``,
      description: 'Standard Webhooks 1.0.0.',
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              allOf: [{ $ref: 'Event' }, { properties: { type: { const: type }, data: { $ref: dataOf(type) } } }]
            }
          }
        }
      },
      responses: {
        '2XX': { description: 'The event was received: it is not sent again.' },
        410: { description: 'The receiver is gone: the webhook is disabled.' },
        default: { description: 'The event is sent again later.' }
      },
      security: []
    }
  }])
)
