import type { Storage } from 'fastify-users/storage'
import { lmdbApiKeys } from './api-keys.ts'
import { openDatabase } from './database.ts'
import { lmdbEvents } from './events.ts'
import { lmdbUsers } from './users.ts'

/** A storage in an LMDB directory: an example of an adapter for a store that is neither SQL nor a server. */
export function lmdb (path: string): Storage {
  const database = openDatabase(path)
  const { add, eraseOf, ...eventLog } = lmdbEvents(database)
  return {
    name: 'lmdb',
    eventLog,
    close: database.close,
    ...lmdbUsers(database, { add, eraseOf }),
    ...lmdbApiKeys(database, { add })
  }
}
