// The one way to a store: traces its calls, and refuses them while the store is not open.

import { StorageError } from './storage-error.ts'
import type { EventLog, Standbys, Storage, UserReads } from './storage.ts'
import { channels, traced } from './tracing.ts'

/** A store whose calls are traced, and refused while it is not open. */
export interface Door extends Storage {
  /** The standbys of the server, which trace their own calls, refused in the same way; null: there are none. */
  readonly standbys: Standbys | null
  /** Refuses all calls until the returned function is called. */
  refuseCalls (): () => void
}

type Method<Args extends unknown[], Value> = (...args: Args) => Promise<Value>

const notOpen = (): Promise<never> => Promise.reject(new StorageError('unavailable',
  'the storage is not open yet: its tables are being created, migrated or checked'))

const doors = new WeakMap<Storage, Door>()

function makeDoor (storage: Storage): Door {
  const { name, users, log, join, watch, server } = storage
  let waiting = 0

  function told<Args extends unknown[], Value> (method: string, call: Method<Args, Value>): Method<Args, Value> {
    return (...args) => {
      if (waiting > 0) return notOpen()
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

  const standbysOf = (standbys: Standbys): Standbys => ({
    position: () => standbys.position(),
    reads: (position) => waiting > 0 ? notOpen() : standbys.reads(position),
    watch: (listener) => standbys.watch(listener)
  })

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
    standbys: server?.standbys === undefined ? null : standbysOf(server.standbys),
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
