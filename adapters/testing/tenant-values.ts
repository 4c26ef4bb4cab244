import assert from 'node:assert/strict'
import type { UserFilter } from '../../lib/storage/storage.ts'
import { addKey } from './api-key-values.ts'
import { eventOf } from './event-values.ts'
import type { KitStorage } from './kit-storage.ts'
import { firstPage, upTo } from './list-values.ts'
import { anyVersion, everyone, idOf, keysOf, timeOf, userOf } from './values.ts'
import { webhookOf } from './webhook-values.ts'

/** The tenant of the duties, and another one. */
export const OWN = 'own-tenant'
export const OTHER = 'other-tenant'
/** Users and keys of others have numbers from here on: duties use those below. */
const FOREIGN = 500_000

/** The filter of the users of a tenant. */
export const inTenant = (tenant: string): UserFilter => ({ ...everyone, tenant })

/** Adds users with these numbers to a tenant, with an event of each where there is a log. */
export async function addTo (storage: KitStorage, tenant: string | undefined, ...numbers: number[]): Promise<void> {
  for (const n of numbers) {
    const user = userOf(n, tenant === undefined ? {} : { tenant })
    await storage.createUser(user, keysOf(user), null, storage.supports.eventLog ? eventOf(n, 'user.created') : null)
  }
}

/** Adds a user that others have put away. */
async function addDeleted (storage: KitStorage, n: number, belongs: { tenant?: string }): Promise<void> {
  const user = userOf(n, belongs)
  await storage.createUser(user, keysOf(user), null)
  await storage.putAwayUser(user.id, anyVersion, { deletedAt: timeOf(100), deletedBy: null })
}

/**
 * Adds what others have: users like those of the duties, with the same addresses and names, and keys, events and
 * webhooks.
 */
export async function addForeign (storage: KitStorage): Promise<void> {
  const { supports: { eventLog }, trash, webhooks } = storage
  for (const [place, tenant] of [OTHER, undefined].entries()) {
    for (const n of upTo(8)) {
      const belongs = tenant === undefined ? {} : { tenant }
      const id = FOREIGN + 100 * place + n
      const { name, email } = userOf(n)
      const user = userOf(id, { name, email, fields: { plan: 'pro', text: 'x', value: 1, legacyId: n }, ...belongs })
      await storage.createUser(user, keysOf(user), null, eventLog ? eventOf(id, 'user.created') : null)
      if (n < 3 && webhooks !== undefined) await webhooks.insert(webhookOf(id, belongs))
      if (n < 3 && trash !== undefined) await addDeleted(storage, id + 50, belongs)
      if (n < 3) await addKey(storage, id, { scopes: ['keys:write', 'users:read'], ...belongs })
    }
  }
}

/** What others have has to stay as it is. */
export async function requireForeign (storage: KitStorage): Promise<void> {
  const { items, total } = await storage.listUsers(inTenant(OTHER), firstPage(10))
  const expected = upTo(8).map((n) => ({ id: idOf('usr', FOREIGN + n), version: 1 }))
  assert.deepEqual(items.map(({ id, version }) => ({ id, version })), expected, 'the users of another tenant stay')
  assert.equal(total, 8, 'listUsers: the total of another tenant stays')
  const deleted = await storage.trash?.list({ offset: 0, limit: 10, tenant: OTHER })
  assert.ok(deleted === undefined || deleted.total === 2, 'the users that another tenant has put away stay')
  const keys = await storage.listApiKeys({ ...firstPage(10), tenant: OTHER })
  assert.deepEqual(keys.items.map(({ revokedAt }) => revokedAt), [null, null], 'the keys of another tenant stay')
}
