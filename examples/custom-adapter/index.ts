import type { Storage } from 'fastify-users/storage'
import { lmdbApiKeys } from './api-keys.ts'
import { openDatabase } from './database.ts'
import { lmdbEvents } from './events.ts'
import { lmdbKeyUses } from './key-uses.ts'
import { lmdbTenants } from './tenants.ts'
import { lmdbTrash } from './trash.ts'
import { lmdbUsers } from './users.ts'

/** A storage in an LMDB directory: an example of an adapter for a store that is neither SQL nor a server. */
export function lmdb (path: string): Storage {
  const database = openDatabase(path)
  const { add, eraseOf, forgetOf, assignOf, withoutTenant, ...eventLog } = lmdbEvents(database)
  const { trash, ...deletions } = lmdbTrash(database)
  const { drop, assign, ...users } = lmdbUsers(database, { add, eraseOf }, deletions)
  const { dropOf, ...apiKeys } = lmdbApiKeys(database, { add })
  return {
    name: 'lmdb',
    eventLog,
    trash,
    tenants: lmdbTenants(database, {
      drop,
      dropOf,
      dropDeletedOf: deletions.forgetOf,
      forgetOf,
      assign,
      assignDeleted: deletions.assign,
      assignOf,
      withoutTenant
    }),
    keyUses: lmdbKeyUses(database),
    close: database.close,
    ...users,
    ...apiKeys
  }
}
