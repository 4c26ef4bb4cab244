import { fromStorage } from '../lib/storage/storage-errors.ts'
import { tenantRemains } from '../lib/storage/tenant-remains.ts'
import { assignUsers } from '../lib/storage/tenant-assignment.ts'
import { repositoryOf } from '../lib/storage/repository.ts'
import type { Page, Storage, TenantRecord } from '../lib/storage/storage.ts'
import type { UnassignedUser } from '../lib/storage/tenant-loop.ts'
import { requireTenant } from './common.ts'
import { Refusal } from './failure.ts'
import type { Output } from './output.ts'
import { createProgress } from './progress.ts'

const PAGE = 100
// How many records of a tenant go in one step.
const REMOVED_TOGETHER = 500

/** True if the storage has users or keys that belong to tenants. */
export async function hasTenants (storage: Storage): Promise<boolean> {
  return (await storage.listTenants({ order: 'asc', limit: 1, from: { offset: 0 } })).total > 0
}

/** Every tenant, by name. */
async function allTenants (storage: Storage): Promise<TenantRecord[]> {
  const all: TenantRecord[] = []
  let from: { offset: number } | { after: string } = { offset: 0 }
  while (true) {
    const page: Page<TenantRecord> = await storage.listTenants({ order: 'asc', limit: PAGE, from })
    const last: TenantRecord | undefined = page.items.at(-1)
    if (last === undefined) break
    all.push(...page.items)
    from = { after: last.id }
  }
  return all
}

/** Shows every tenant by name, with the number of its users. @throws StorageError */
export async function listTenants (storage: Storage, output: Output): Promise<void> {
  const all = await allTenants(storage)
  if (output.json) return output.value(all)
  await output.table({ heads: ['TENANT', 'USERS'], rows: all.map(({ id, users }) => [id, String(users)]) })
}

/** Deletes a tenant with all that it has. @throws UsageError, Refusal without a confirmation, StorageError */
export async function deleteTenant (
  storage: Storage,
  output: Output,
  tenant: string,
  { yes }: { yes: boolean }
): Promise<void> {
  requireTenant(tenant, 'the name of a tenant')
  const repository = repositoryOf(storage)
  const remains = await fromStorage(() => tenantRemains(repository, tenant))
  if (remains === null) throw new Refusal('there is no tenant with this name')
  const { users } = remains
  if (!yes) {
    throw new Refusal(`The tenant and its ${users} ${users === 1 ? 'user' : 'users'} would be lost, with its keys, ` +
      'webhooks and the values in its events: take a backup, then confirm with --yes.')
  }
  while (await repository.tenants.remove(tenant, REMOVED_TOGETHER) > 0);
  if (output.json) return output.value({ id: tenant, users })
  await output.line(`${tenant} is deleted. Servers that cached its keys refuse them within apiKeys.cache, ` +
    '5 seconds by default.')
}

/** How many users belong to no tenant. */
async function countWithoutTenant (storage: Storage): Promise<number> {
  const one = { order: 'asc', limit: 1, from: { offset: 0 } } as const
  const { total } = await storage.users.list({ emailKey: null, words: null, fields: {} }, one)
  return (await allTenants(storage)).reduce((left, { users }) => left - users, total)
}

const nameOf = (count: number): string => count === 1 ? '1 user' : `${count} users`

const whyNot = (user: UnassignedUser): string =>
  `the tenant has a user with the same ${user.code === 'email_taken' ? 'address' : user.field}`

/**
 * Gives the users who belong to no tenant to one.
 * @throws UsageError, StorageError, Refusal without a confirmation, or if any user stays without a tenant
 */
export async function assignToTenant (
  storage: Storage,
  output: Output,
  tenant: string,
  { yes }: { yes: boolean }
): Promise<void> {
  requireTenant(tenant, 'the name of a tenant')
  const count = await countWithoutTenant(storage)
  if (!yes) {
    throw new Refusal(`${nameOf(count)} of no tenant would belong to this one for good, with their events: take a ` +
      'backup, then confirm with --yes.')
  }
  const progress = createProgress(process.stderr)
  const refused: UnassignedUser[] = []
  const total = await assignUsers(repositoryOf(storage).tenants.assign, tenant, async (users, { assigned }) => {
    progress.show(assigned, assigned / Math.max(1, count, assigned))
    if (output.json) refused.push(...users)
    else for (const user of users) await output.line(`${user.id}: ${whyNot(user)}`)
  })
  progress.clear()
  if (output.json) await output.value({ id: tenant, assigned: total.assigned, refused })
  else await output.line(`${nameOf(total.assigned)} belong${total.assigned === 1 ? 's' : ''} to ${tenant} now.`)
  if (total.refused > 0) throw new Refusal(`${nameOf(total.refused)} could not be assigned`)
}
