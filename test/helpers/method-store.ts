import { apiKeyRefusalOf, creationAlone, refusalOf } from '../../lib/storage/storage-rules.ts'
import type {
  ApiKeyOutcome, ApiKeyRecord, ApiKeyWrite, Storage, StorageInTransaction, UserRecord, UserWrite, WriteOutcome,
  WritesOptions, WritesResult
} from '../../lib/storage/storage.ts'
import { type KitStorage, kitStorage } from '../../adapters/testing/kit-storage.ts'

/** Makes the changes of the write at this index of a batch. */
export type ChangesOf = (index: number, user: UserRecord) => ReturnType<
  Extract<(UserWrite & { type: 'update' })['changes'], (...args: never[]) => unknown>
>

/** A write of a batch; `changes: null`: they are asked for. */
export type BatchWrite = UserWrite | Omit<UserWrite & { type: 'update' }, 'changes'> & { changes: null }

/** A store with a method for each write, so that a mistake can be planted in one. */
export interface MethodStore extends Omit<KitStorage, 'writeUsers' | 'writeApiKey' | 'findApiKey' | 'joinTransaction' |
'prune' | 'singleWrites' | 'putAwayUser' | 'restoreUser' | 'purgeUser' | 'findDeletedUser' | 'listDeletedUsers'> {
  findApiKey (id: string): Promise<ApiKeyRecord | null>
  findApiKeyByStart (start: string): Promise<ApiKeyRecord | null>
  pruneIdempotency (now: string): Promise<void>
  writeBatch? (
    writes: readonly BatchWrite[], options: WritesOptions, changesOf: ChangesOf
  ): Promise<WritesResult>
  joinTransaction (transaction: unknown): MethodStore & Pick<StorageInTransaction, 'afterCommit'>
}

async function writeUser (store: MethodStore, write: UserWrite): Promise<WriteOutcome> {
  if (write.type === 'create') {
    const { user } = await store.createUser(write.user, write.keys, null, write.event)
    return { code: 'done', changed: true, user }
  }
  const { id, guard, event } = write
  if (write.type === 'delete') {
    const user = await store.deleteUser(id, guard, event && { ...event, erase: write.erase })
    return user === null ? { code: 'not_found' } : { code: 'done', changed: true, user }
  }
  if (write.type !== 'update') throw new TypeError('the store keeps no deleted users')
  if (typeof write.changes === 'function') throw new TypeError('changes that are asked for are those of a batch')
  const updated = await store.updateUser(id, write.changes, write.updatedAt, guard, event)
  return updated === null ? { code: 'not_found' } : { code: 'done', ...updated }
}

function writeUsers (store: MethodStore): Storage['writeUsers'] {
  return async (writes, options) => {
    const { idempotency } = options
    const creation = creationAlone(writes, options)
    const [only] = writes
    if (creation !== null) {
      try {
        const { user, replayed } = await store.createUser(creation.user, creation.keys, idempotency, creation.event)
        return { outcomes: [{ code: 'done', changed: true, user }], note: null, replayed }
      } catch (error) {
        return { outcomes: [refusalOf(error)], note: null, replayed: false }
      }
    }
    const isAsked = only?.type === 'update' && typeof only.changes === 'function'
    if (only !== undefined && writes.length === 1 && idempotency === null && !isAsked) {
      return { outcomes: [await writeUser(store, only).catch(refusalOf)], note: null, replayed: false }
    }
    if (store.writeBatch === undefined) throw new TypeError('the store has no batches')
    const functions = writes.map((write) =>
      write.type === 'update' && typeof write.changes === 'function' ? write.changes : null)
    const given = writes.map((write, i): BatchWrite =>
      write.type === 'update' && functions[i] !== null ? { ...write, changes: null } : write)
    return await store.writeBatch(given, options, (i, user) => functions[i]?.(user) ?? {})
  }
}

async function writeKey (store: MethodStore, write: ApiKeyWrite): Promise<ApiKeyOutcome> {
  switch (write.type) {
    case 'create': {
      const { key, onlyFirst, event } = write
      const changed = await store.createApiKey(key, { onlyFirst }, event)
      return { code: 'done', changed, key: changed ? key : null }
    }
    case 'rotate': {
      const { id, successor, now, expiresAt, event } = write
      const key = await store.rotateApiKey(id, successor, { now, expiresAt }, event)
      return key === null ? { code: 'not_found' } : { code: 'done', changed: true, key }
    }
    case 'revoke': {
      const { id, revokedAt, keepOneWith, successors, event } = write
      const revoked = await store.revokeApiKey(id, revokedAt, { keepOneWith, successors }, event)
      return revoked === null ? { code: 'not_found' } : { code: 'done', ...revoked }
    }
    case 'touch':
      await store.touchApiKey(write.id, write.usedAt, write.ifBefore)
      return { code: 'done', changed: true, key: null }
  }
}

/** The interface of a storage on a store that has a method for each write. */
export function storageOf (store: MethodStore): Storage {
  const { supports, webhooks, watchApiKeys } = store
  const door: Storage = {
    name: store.name,
    check: (requirements) => store.check(requirements),
    migrate: (requirements) => store.migrate(requirements),
    close: () => store.close(),
    writeUsers: writeUsers(store),
    findUser: (id) => store.findUser(id),
    listUsers: (filter, page) => store.listUsers(filter, page),
    readUsers: (filter, order, onPart, sort) => store.readUsers(filter, order, onPart, sort),
    writeApiKey: (write) => writeKey(store, write).catch(apiKeyRefusalOf),
    findApiKey: (by) => 'id' in by ? store.findApiKey(by.id) : store.findApiKeyByStart(by.start),
    listApiKeys: (page) => store.listApiKeys(page),
    prune: (now) => store.pruneIdempotency(now),
    ...webhooks !== undefined && { webhooks },
    ...watchApiKeys !== undefined && { watchApiKeys: (listener) => watchApiKeys.call(store, listener) },
    ...!supports.batches && { singleWrites: true },
    ...supports.transactions && {
      joinTransaction (transaction: unknown): StorageInTransaction {
        const joined = store.joinTransaction(transaction)
        // A mistake may have given something else.
        if (typeof Object(joined).findUser !== 'function') return Object(joined)
        return { ...storageOf(joined), afterCommit: (callback) => joined.afterCommit(callback) }
      }
    }
  }
  if (!supports.eventLog) return door
  return Object.defineProperty(door, 'eventLog', { get: () => store.eventLog, enumerable: true })
}

/** The methods of a storage as it is now. */
function methodsOf (storage: Storage): MethodStore {
  const now = { ...storage }
  const kit = kitStorage(now)
  const { createUser, updateUser, deleteUser, createApiKey, rotateApiKey, revokeApiKey, touchApiKey, supports } = kit
  return {
    ...now,
    supports,
    createUser,
    updateUser,
    deleteUser,
    createApiKey,
    rotateApiKey,
    revokeApiKey,
    touchApiKey,
    findApiKey: (id) => now.findApiKey({ id }),
    findApiKeyByStart: (start) => now.findApiKey({ start }),
    pruneIdempotency: (time) => now.prune(time),
    writeBatch: (writes, options, changesOf) => now.writeUsers(writes.map((write, index): UserWrite =>
      write.type === 'update'
        ? { ...write, changes: write.changes ?? ((user) => changesOf(index, user)) }
        : write), options),
    joinTransaction () { throw new TypeError('a changed storage joins no transactions') }
  }
}

const isOfTrash = (write: UserWrite): boolean => write.type === 'restore' || write.type === 'purge' ||
  (write.type === 'delete' && write.putAway !== undefined)

/**
 * Changes methods of a storage, which may call those that it has had. Those that put users away, and take them out
 * again, stay. Returns the storage.
 */
export function override<Changed extends Storage> (
  storage: Changed,
  change: (methods: MethodStore) => Partial<MethodStore>
): Changed {
  const methods = methodsOf(storage)
  const right = storage.writeUsers
  const { writeUsers, writeApiKey, findApiKey, prune, findUser } = storageOf({ ...methods, ...change(methods) })
  return Object.assign(storage, {
    writeUsers: (...[writes, options]: Parameters<Storage['writeUsers']>) =>
      writes.some(isOfTrash) ? right(writes, options) : writeUsers(writes, options),
    writeApiKey,
    findApiKey,
    prune,
    findUser
  })
}
