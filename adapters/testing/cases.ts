import type { Storage } from '../../lib/core/storage.ts'

/** Duties by name. Each gets an empty store of its own, and throws if the store does not do its duty. */
export type Cases = Record<string, (storage: Storage) => Promise<void>>
