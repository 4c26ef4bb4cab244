import { SCOPES } from '../api-keys/scopes.ts'
import { answer, known, moment } from './component-parts.ts'
import type { Schema } from './schema.ts'

const flag: Schema = { type: 'boolean' }
const whole: Schema = { type: 'integer', minimum: 1 }
const names: Schema = { type: 'array', items: { type: 'string' } }

/** The component of the capabilities. */
export const capabilitiesComponents: Readonly<Record<string, Schema>> = {
  Capabilities: answer({
    caller: answer({
      type: known(['api_key', 'static', 'host']),
      id: { type: 'string' },
      name: { type: 'string', description: 'The name of an API key.' },
      scopes: { ...names, description: `Such as ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.` },
      expiresAt: moment('When the key expires; absent: never.')
    }, { optional: ['name', 'expiresAt'] }),
    offers: answer({ apiKeys: flag, events: flag, webhooks: flag }),
    requireIfMatch: { ...flag, description: 'True if changes and deletions need `If-Match`.' },
    pageSize: answer({ default: whole, max: whole }),
    fields: answer({ properties: { type: 'object' }, required: names }),
    filterable: { ...names, description: 'The fields that lists can be filtered by.' }
  })
}
