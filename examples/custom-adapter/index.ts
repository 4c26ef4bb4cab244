import type { Storage } from 'fastify-users'
import { lmdbApiKeys } from './api-keys.ts'
import { openDatabase } from './database.ts'
import { lmdbUsers } from './users.ts'

/** A storage in an LMDB directory: an example of an adapter for a store that is neither SQL nor a server. */
export function lmdb (path: string): Storage {
  const database = openDatabase(path)
  return {
    name: 'lmdb',
    supports: { transactions: false },
    within () { throw new TypeError('LMDB has no transactions that outlive a turn of the event loop') },
    // The databases are made when they are opened, and this is the first version of what is in them.
    async migrate () {},
    check: () => database.read(() => {}),
    close: database.close,
    ...lmdbUsers(database),
    ...lmdbApiKeys(database)
  }
}
