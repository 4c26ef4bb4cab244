import { apiKeyCases } from './api-keys.ts'
import { batchIdempotencyCases } from './batch-idempotency.ts'
import { batchCases } from './batches.ts'
import type { Cases } from './cases.ts'
import { userCreationCases } from './create-user.ts'
import { userDeletionCases } from './delete-user.ts'
import { fieldCases } from './fields.ts'
import { filterCases } from './filter-users.ts'
import { historyCases } from './histories.ts'
import { hostileKeyCases } from './hostile-keys.ts'
import { hostileUserCases } from './hostile-users.ts'
import { idempotencyCases } from './idempotency.ts'
import { keyRaceCases } from './key-races.ts'
import { largeListCases } from './large-lists.ts'
import { listCases } from './list-users.ts'
import { nearValueCases } from './near-values.ts'
import { FEW_DELAYS } from './races.ts'
import { readingCases } from './read-users.ts'
import { rangeCases } from './range-users.ts'
import { successorCases } from './revoke-successors.ts'
import { apiKeyEndCases } from './rotate-revoke-api-keys.ts'
import { keyChangeCases, userChangeCases } from './seen-everywhere.ts'
import { sortCases } from './sort-users.ts'
import { uniqueFieldCases } from './unique-fields.ts'
import { restorePurgeCases } from './restore-purge.ts'
import { trashCases } from './trash.ts'
import { searchCases } from './search-users.ts'
import { statusCases, statusOutcomeCases } from './user-status.ts'
import { userUpdateCases } from './update-user.ts'
import { userRaceCases } from './user-races.ts'

const keyEndCases = { ...apiKeyEndCases, ...successorCases }
/** The duties of calls that make several writes. */
export const batches = { ...batchCases, ...batchIdempotencyCases }

/** The duties in the order in which an author writes the methods, by subject. */
export const subjects: Record<string, Cases> = {
  'creating and finding users': userCreationCases,
  'lists of users': listCases,
  'changes of users': userUpdateCases,
  'deletions of users': userDeletionCases,
  'statuses of users': { ...statusCases, ...statusOutcomeCases },
  'filters of lists': filterCases,
  'searches by words': searchCases,
  'ranges and lists of values': rangeCases,
  'orders of lists': sortCases,
  'reading all users': readingCases,
  'changes that are seen everywhere': userChangeCases,
  'values of users': hostileUserCases,
  'values of users that look the same': nearValueCases,
  'own fields': fieldCases,
  'unique fields': uniqueFieldCases,
  idempotency: idempotencyCases,
  'API keys': apiKeyCases,
  'ends of API keys': keyEndCases,
  'changes of API keys that are seen everywhere': keyChangeCases,
  'values of API keys': hostileKeyCases,
  'long lists': largeListCases,
  histories: historyCases
}

/** Those that write much: they are played with an event for every write too. */
export const writing: Record<string, Cases> = {
  'creating and finding users': userCreationCases,
  'changes of users': userUpdateCases,
  'deletions of users': userDeletionCases,
  'statuses of users': statusCases,
  'own fields': fieldCases,
  'unique fields': uniqueFieldCases,
  idempotency: idempotencyCases,
  'API keys': apiKeyCases,
  'ends of API keys': keyEndCases,
  histories: historyCases,
  // Their interleavings are run without events.
  'races of users': userRaceCases(FEW_DELAYS),
  'races of API keys': keyRaceCases(FEW_DELAYS)
}

/** Those about users that are put away, which a store may lack. */
export const trashSubjects: Record<string, Cases> = {
  'users that are put away': trashCases, 'restoring and purging': restorePurgeCases
}
