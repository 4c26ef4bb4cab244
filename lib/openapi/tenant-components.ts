import { TENANT } from '../core/tenant.ts'
import type { Schema } from './component-parts.ts'

const tenant: Schema = {
  type: 'string',
  pattern: TENANT.source,
  description: 'The tenant that it belongs to, which never changes; absent: none.'
}

/** Components that have the tenant, with the option `tenants`. */
const OF_TENANTS = [
  'User', 'UserInput', 'UserPatch', 'UserReplacement', 'ApiKey', 'NewApiKey', 'ApiKeyInput', 'Event', 'Webhook',
  'NewWebhook', 'WebhookInput', 'WebhookPatch'
]

/** Adds the tenant to the components that have it. */
export function withTenant (components: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const changed = OF_TENANTS.map((name) => {
    const { properties, ...rest } = Object(components[name])
    return [name, { ...rest, properties: { ...properties, tenant } }]
  })
  return { ...components, ...Object.fromEntries(changed) }
}
