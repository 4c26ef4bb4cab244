import { apiKeys } from './api-keys.ts'
import { apiKeysRaces } from './api-keys-races.ts'
import { apiKeysRevoke } from './api-keys-revoke.ts'
import { apiKeysRotate } from './api-keys-rotate.ts'
import { apiKeysSuccessors } from './api-keys-successors.ts'
import { batches } from './batches.ts'
import { batchesKeys } from './batches-keys.ts'
import { keyCaches, userCaches } from './caches.ts'
import { events } from './events.ts'
import { eventsEnds } from './events-ends.ts'
import { eventsFilters } from './events-filters.ts'
import { eventsLong } from './events-long.ts'
import { eventsPositions } from './events-positions.ts'
import { eventsReading } from './events-reading.ts'
import { eventsSteps } from './events-steps.ts'
import { idempotency } from './idempotency.ts'
import { idempotencyDeletions } from './idempotency-deletions.ts'
import { keyUses } from './key-uses.ts'
import { lifecycle } from './lifecycle.ts'
import { lifecycleClose } from './lifecycle-close.ts'
import { lifecycleErrors } from './lifecycle-errors.ts'
import { listsFilters } from './lists-filters.ts'
import { listsPages } from './lists-pages.ts'
import { listsWords } from './lists-words.ts'
import { listsReading } from './lists-reading.ts'
import { listsSnapshots } from './lists-snapshots.ts'
import { orders } from './orders.ts'
import type { Mistake } from './plant.ts'
import { statuses } from './statuses.ts'
import { tenants } from './tenants.ts'
import { tenantsAssignment } from './tenants-assignment.ts'
import { transactions } from './transactions.ts'
import { transactionsEnds } from './transactions-ends.ts'
import { trash } from './trash.ts'
import { trashPurges } from './trash-purges.ts'
import { trashRestores } from './trash-restores.ts'
import { valuesFields } from './values-fields.ts'
import { valuesLookups } from './values-lookups.ts'
import { valuesRecords } from './values-records.ts'
import { valuesText } from './values-text.ts'
import { webhooks } from './webhooks.ts'
import { webhooksChanges } from './webhooks-changes.ts'
import { webhooksClaims } from './webhooks-claims.ts'
import { webhooksDeliveries } from './webhooks-deliveries.ts'
import { webhooksEvents } from './webhooks-events.ts'
import { writesAddresses } from './writes-addresses.ts'
import { writesCreate } from './writes-create.ts'
import { writesDelete } from './writes-delete.ts'
import { writesGuards } from './writes-guards.ts'
import { writesLong } from './writes-long.ts'
import { writesRaces } from './writes-races.ts'
import { writesUnique } from './writes-unique.ts'
import { writesUpdate } from './writes-update.ts'

const themes: Record<string, Mistake[]> = {
  values: [...valuesText, ...valuesFields, ...valuesRecords, ...valuesLookups],
  writes: [
    ...writesCreate, ...writesUpdate, ...writesGuards, ...writesDelete, ...writesRaces, ...writesUnique,
    ...writesAddresses, ...writesLong, ...userCaches
  ],
  lists: [...listsPages, ...listsWords, ...listsFilters, ...listsReading, ...listsSnapshots],
  idempotency: [...idempotency, ...idempotencyDeletions],
  'api-keys': [...apiKeys, ...apiKeysRotate, ...apiKeysRevoke, ...apiKeysSuccessors, ...apiKeysRaces, ...keyCaches],
  lifecycle: [...lifecycle, ...lifecycleClose, ...lifecycleErrors],
  transactions: [...transactions, ...transactionsEnds],
  events: [
    ...events, ...eventsReading, ...eventsFilters, ...eventsPositions, ...eventsEnds, ...eventsLong, ...eventsSteps
  ],
  batches: [...batches, ...batchesKeys],
  webhooks: [...webhooks, ...webhooksChanges, ...webhooksDeliveries, ...webhooksClaims, ...webhooksEvents],
  tenants: [...tenants, ...tenantsAssignment],
  'key-uses': keyUses,
  statuses,
  orders,
  trash: [...trash, ...trashRestores, ...trashPurges]
}

/** Every planted mistake, with its theme. */
export const plantedStores = Object.entries(themes).flatMap(([theme, mistakes]) => {
  return mistakes.map((mistake) => ({ theme, ...mistake }))
})
