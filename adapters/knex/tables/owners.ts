import type { CollectionName } from '../../../lib/storage/storage.ts'

/** The collection whose rows take those of another one with them. */
export const OWNERS: { readonly [Name in CollectionName]?: CollectionName } = {
  keyUses: 'apiKeys', deliveries: 'webhooks', idempotency: 'users', memberships: 'userGroups'
}
