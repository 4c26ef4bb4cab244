/** What adapters are made of: the interface of a storage, and the rules that every store shares. */
export {
  type Deletion, makeWrite, type PurgedUser, type SynchronousWrites, type UserUpdate
} from './make-write.ts'
export {
  afterPruning, apiKeyEvent, deletionBefore, erased, eventOfSuccessor, forgotten, LIVE_PURGE, purgeEvent, updateEvents,
  updateTypes, userEvent, withoutActorName
} from './recorded-events.ts'
export { StorageError } from './storage-error.ts'
export type { StorageErrorCode, StorageErrorOptions } from './storage-error.ts'
export {
  apiKeyRefusalOf, belongsTo, changedKeys, creationAlone, refusalOf, requireActive, requireAnotherKey,
  requireSameRequest, requireVersion, unassignedBy, withoutUsers, withSuccessors, withUser, wordsOfUser
} from './storage-rules.ts'
export type * from './storage.ts'
export { meets, sortedPage, SORT_LENGTH, sortKey, sortValue } from './user-order.ts'
