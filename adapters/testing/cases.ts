import type { Storage } from '../../lib/core/storage.ts'

/** Duties by name: each gets a fresh, empty store and throws where the duty is not done. */
export type Cases = Record<string, (storage: Storage) => Promise<void>>
