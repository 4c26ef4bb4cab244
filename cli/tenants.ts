import { fromStorage } from '../lib/storage/storage-errors.ts'
import { tenantRemains } from '../lib/storage/tenant-remains.ts'
import type { Page, Storage, TenantRecord } from '../lib/storage/storage.ts'
import { requireTenant } from './common.ts'
import { Refusal } from './failure.ts'
import { type Output, tableOf } from './output.ts'

const PAGE = 100
// How many records of a tenant go in one step.
const REMOVED_TOGETHER = 500

/** True if the storage has users or keys that belong to tenants. */
export async function hasTenants ({ tenants }: Storage): Promise<boolean> {
  const page = await tenants?.list({ order: 'asc', limit: 1, from: { offset: 0 } })
  return (page?.total ?? 0) > 0
}

/** Shows every tenant by name, with the number of its users. @throws StorageError */
export async function listTenants ({ tenants }: Storage, output: Output): Promise<void> {
  const all: TenantRecord[] = []
  let from: { offset: number } | { after: string } = { offset: 0 }
  while (true) {
    const page: Page<TenantRecord> | undefined = await tenants?.list({ order: 'asc', limit: PAGE, from })
    const last: TenantRecord | undefined = page?.items.at(-1)
    if (page === undefined || last === undefined) break
    all.push(...page.items)
    from = { after: last.id }
  }
  if (output.json) return output.value(all)
  await output.line(tableOf(['TENANT', 'USERS'], all.map(({ id, users }) => [id, String(users)])))
}

/** Deletes a tenant with all that it has. @throws UsageError, Refusal without a confirmation, StorageError */
export async function deleteTenant (
  storage: Storage,
  output: Output,
  tenant: string,
  { yes }: { yes: boolean }
): Promise<void> {
  requireTenant(tenant, 'the name of a tenant')
  const remains = await fromStorage(() => tenantRemains(storage, tenant))
  if (remains === null) throw new Refusal('there is no tenant with this name')
  const { users } = remains
  if (!yes) {
    throw new Refusal(`The tenant and its ${users} ${users === 1 ? 'user' : 'users'} would be lost, with its keys, ` +
      'webhooks and the values in its events: take a backup, then confirm with --yes.')
  }
  while ((await storage.tenants?.remove(tenant, REMOVED_TOGETHER) ?? 0) > 0);
  if (output.json) return output.value({ id: tenant, users })
  await output.line(`${tenant} is deleted. Servers that cached its keys refuse them within apiKeys.cache, ` +
    '5 seconds by default.')
}
