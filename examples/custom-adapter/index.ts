// An adapter for a store of another kind: LMDB, a sorted key-value file with one writer at a time. A unit is a
// transaction in which nothing is awaited, so that what it compares and writes is one step.
import type { Storage } from 'fastify-users/storage'
import { openDatabase } from './database.ts'
import { lmdbEvents } from './events.ts'
import { lmdbRows } from './rows.ts'
import { lmdbUsers } from './users.ts'

export function lmdb (path: string): Storage {
  const database = openDatabase(path)
  const { log, ...events } = lmdbEvents(database)
  const { reads, open, ...users } = lmdbUsers(database)
  return { name: 'lmdb', open, close: database.close, ...lmdbRows(database, users, events), users: reads, log }
}
