import type { ApiKeyRecord } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { apiKeyOf, idOf } from './values.ts'

/** Revoke a key even if it is the last one. */
export const ANY_KEY = { keepOneWith: [] }

/** Revoke a key only if another active key may administer keys. */
export const KEEP_ADMIN = { keepOneWith: ['keys:write'] }

/** Adds the key with this number. */
export async function addKey (storage: KitStorage, n: number, members: Partial<ApiKeyRecord> = {}): Promise<void> {
  await storage.createApiKey(apiKeyOf(n, members), { onlyFirst: false })
}

/** A key as it is found by id and by start. */
export async function readBothWays (storage: KitStorage, n: number): Promise<Array<ApiKeyRecord | null>> {
  return [await storage.findApiKey({ id: idOf('key', n) }), await storage.findApiKey({ start: apiKeyOf(n).start })]
}

/** How many keys a store has. */
export async function countKeys (storage: KitStorage): Promise<number> {
  return (await storage.listApiKeys({ order: 'asc', limit: 1, from: { offset: 0 } })).total
}
