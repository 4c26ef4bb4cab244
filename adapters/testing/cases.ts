import type { SchemaRequirements, Storage } from '../../lib/storage/storage.ts'

/** What a duty has beside its empty store. */
export interface Context { seed: number, records: number }

/** Duties by name. Each gets an empty store of its own, and throws if the store does not do its duty. */
export type Cases = Record<string, (storage: Storage, context: Context) => Promise<void>>

/** Duties about one thing, and what the store has to be opened for. */
export interface Subject { needs: SchemaRequirements, cases: Cases }
