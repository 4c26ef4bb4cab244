/** What adapters are made of: the interface of a storage, and what every store needs of us. */
export { afterPruning } from './recorded-events.ts'
export { isAskedEvent, isAskedUser, isSameRecord, membershipId, pageOf, pageOfRows } from './selection.ts'
export { StorageError } from './storage-error.ts'
export type { StorageErrorCode, StorageErrorOptions } from './storage-error.ts'
export { belongsTo, wordsOfUser } from './storage-rules.ts'
export type * from './storage.ts'
export { meets, sortedPage, SORT_LENGTH, sortKey, sortValue } from './user-order.ts'
