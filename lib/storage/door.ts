// The one way to a store: its calls are told to whoever listens, and refused while it is not open.

import { StorageError } from './storage-error.ts'
import type { EventLog, Storage, UserReads } from './storage.ts'
import { channels, traced } from './tracing.ts'

/** A store whose calls are told and refused. */
export interface Door extends Storage {
  /** Refuses all calls until the returned function is called. */
  refuseCalls (): () => void
}

type Method<Args extends unknown[], Value> = (...args: Args) => Promise<Value>

const doors = new WeakMap<Storage, Door>()

function makeDoor (storage: Storage): Door {
  const { name, users, log, join, watch, server } = storage
  let waiting = 0

  function told<Args extends unknown[], Value> (method: string, call: Method<Args, Value>): Method<Args, Value> {
    return (...args) => {
      if (waiting > 0) {
        const why = 'the storage is not open yet: its tables are made, migrated or checked'
        return Promise.reject(new StorageError('unavailable', why))
      }
      return channels.storage.hasSubscribers
        ? traced(channels.storage, () => ({ storage: name, method }), () => call(...args))
        : call(...args)
    }
  }

  const reads: UserReads = {
    find: told('users.find', (id, atLeast) => users.find(id, atLeast)),
    list: told('users.list', (filter, page) => users.list(filter, page)),
    walk: told('users.walk', (filter, order, onPart, sort) => users.walk(filter, order, onPart, sort))
  }
  const events: EventLog = {
    read: told('log.read', (request) => log.read(request)),
    history: told('log.history', (subject, page) => log.history(subject, page)),
    find: told('log.find', (id) => log.find(id)),
    before: told('log.before', (id, tenant) => log.before(id, tenant)),
    rewrite: told('log.rewrite', (rewrite, limit) => log.rewrite(rewrite, limit)),
    prune: told('log.prune', (before, limit) => log.prune(before, limit)),
    pruned: told('log.pruned', () => log.pruned())
  }
  const find: Storage['find'] = (of, keys) => told('find', () => storage.find(of, keys))()
  const list: Storage['list'] = (of, query) => told('list', () => storage.list(of, query))()
  return {
    name,
    open: told('open', (options) => storage.open(options)),
    close: () => storage.close(),
    commit: told('commit', (units) => storage.commit(units)),
    find,
    list,
    users: reads,
    listTenants: told('listTenants', (page) => storage.listTenants(page)),
    log: events,
    ...(join !== undefined && { join: (transaction: unknown) => join.call(storage, transaction) }),
    ...(watch !== undefined && { watch: (listener: () => void) => watch.call(storage, listener) }),
    ...(server !== undefined && { server }),
    refuseCalls () {
      waiting++
      return () => { waiting-- }
    }
  }
}

/** The door of a store: one for all mounts. */
export function doorOf (storage: Storage): Door {
  const known = doors.get(storage)
  if (known !== undefined) return known
  const made = makeDoor(storage)
  doors.set(storage, made)
  return made
}
