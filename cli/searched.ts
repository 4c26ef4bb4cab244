import type { KnexStorage } from '../adapters/knex/index.ts'
import { fieldsIn, wordsOfFields } from '../lib/fields/searched-fields.ts'
import { withFieldWords } from '../lib/storage/field-words.ts'
import type { Searchable } from '../lib/storage/storage.ts'

/** The same storage. What is written with it is found by the fields that the server has searched: the tables say so. */
export function searching (storage: KnexStorage): KnexStorage {
  let known: Promise<Searchable | null> | undefined

  async function read (): Promise<Searchable | null> {
    const { searchable } = await storage.inspect()
    return searchable === '' ? null : wordsOfFields(fieldsIn(searchable))
  }

  return {
    ...storage,
    async writeUsers (writes, options) {
      known ??= read()
      return withFieldWords(storage, await known).writeUsers(writes, options)
    }
  }
}
