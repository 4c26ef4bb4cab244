// An adapter for a store of another kind: LMDB, a sorted key-value file with one writer at a time. A unit is a
// transaction in which nothing is awaited, so that what it compares and writes is one step.
import { pageOf, type Storage } from 'fastify-users/storage'
import { openDatabase } from './database.ts'
import { lmdbEvents } from './events.ts'
import { lmdbRows } from './rows.ts'
import { lmdbUsers } from './users.ts'

export function lmdb (path: string): Storage {
  const database = openDatabase(path)
  const { log, ...events } = lmdbEvents(database)
  const { users, takenIn, reads, open } = lmdbUsers(database)
  const { apiKeys, ...rows } = lmdbRows(database, { users, takenIn }, events)
  return {
    name: 'lmdb',
    open,
    close: database.close,
    ...rows,
    users: reads,
    log,
    listTenants: (page) => database.read(() => {
      const names = [...users.between('tenant', '', 'z'), ...apiKeys.between('tenant', '', 'z')].map(([name]) => name)
      const all = [...new Set(names)].sort().map((id) => ({ id, users: [...users.ids('tenant', id)].length }))
      return { items: pageOf(all, page, ({ id }) => id), total: all.length }
    })
  }
}
