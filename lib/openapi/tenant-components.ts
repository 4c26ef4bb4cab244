import type { PageSize } from '../core/paging.ts'
import { answer, known, list, type Schema, tenantId } from './component-parts.ts'

const tenant: Schema = {
  ...tenantId,
  description: 'The tenant that this belongs to, which never changes. Absent if there is none.'
}
const status = known(['deleting'], 'Present while the answering process is deleting the tenant.')

/** Components that have the tenant, with the option `tenants`. */
const OF_TENANTS = [
  'User', 'DeletedUser', 'UserInput', 'UserPatch', 'UserReplacement', 'ApiKey', 'NewApiKey', 'ApiKeyInput', 'Event',
  'Group', 'GroupInput', 'GroupPatch', 'Webhook', 'NewWebhook', 'WebhookInput', 'WebhookPatch'
]

/** Adds the tenant to the components that have it, and the components of tenants. */
export function withTenants (
  components: Readonly<Record<string, Schema>>,
  pageSize: PageSize
): Readonly<Record<string, Schema>> {
  const changed = OF_TENANTS.map((name) => {
    const { properties, ...rest } = Object(components[name])
    return [name, { ...rest, properties: { ...properties, tenant } }]
  })
  const users = { type: 'integer', minimum: 0, description: 'How many users it has.' }
  return {
    ...components,
    ...Object.fromEntries(changed),
    Tenant: answer({ id: tenantId, users, status }, { optional: ['status'], example: { id: 'acme', users: 42 } }),
    TenantList: list('Tenant', pageSize),
    TenantDeletion: answer({ id: tenantId, status })
  }
}
