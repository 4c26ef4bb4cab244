import type { KitStorage } from './kit-storage.ts'

/** What a duty has beside its empty store. */
export interface Context {
  /** Seed of random values. The report has it. */
  seed: number
  /** How many records a large list has. */
  records: number
  /** Runs with another empty store, and closes it afterwards. */
  withStore: <Result>(run: (storage: KitStorage) => Promise<Result>) => Promise<Result>
  /** The same with a store whose schema nobody has made yet. */
  withoutSchema: <Result>(run: (storage: KitStorage) => Promise<Result>) => Promise<Result>
}

/** Duties by name. Each gets an empty store of its own, and throws if the store does not do its duty. */
export type Cases = Record<string, (storage: KitStorage, context: Context) => Promise<void>>
