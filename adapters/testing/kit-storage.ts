import { StorageError } from '../../lib/storage/storage-error.ts'
import type { UserUpdate } from '../../lib/storage/make-write.ts'
import type {
  ApiKeyOutcome, ApiKeyRecord, ApiKeyWrite, ApiKeyWritten, DeletedUser, Idempotency, NewEvent, Page, PutAway, Storage,
  StorageInTransaction, Trash, TrashRequest, UserChanges, UserKeys, UserRecord, UserWrite, VersionGuard, WriteOutcome
} from '../../lib/storage/storage.ts'
import { keysOf, withWords } from './user-keys.ts'

/** A new user, or the user of the first creation with the idempotency key, as it was then. */
export interface Creation { user: UserRecord, replayed: boolean }

/** The event of a deletion, and whether it erases all events of the user. */
export interface DeletionEvent extends NewEvent { erase: boolean }

export interface RevokeOptions { keepOneWith: readonly string[], successors?: boolean }

export type Revocation = Pick<ApiKeyWritten, 'changed' | 'successors'> & { key: ApiKeyRecord }

/**
 * The writes of a store with one method for each, which makes a duty about one write easier to read. They reject if the
 * outcome is not `done`; `null` means that there is no such user or key. A user has the words of its name and address,
 * unless others are given.
 */
export interface WriteCalls {
  createUser (
    user: UserRecord, keys: UserKeys, idempotency: Idempotency | null, event?: NewEvent | null
  ): Promise<Creation>
  updateUser (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard, event?: NewEvent | null
  ): Promise<UserUpdate | null>
  deleteUser (id: string, guard: VersionGuard, event?: DeletionEvent | null): Promise<UserRecord | null>
  putAwayUser (
    id: string, guard: VersionGuard, putAway: PutAway, event?: NewEvent | null
  ): Promise<UserRecord | null>
  restoreUser (
    id: string, updatedAt: string, guard: VersionGuard, event?: NewEvent | null
  ): Promise<UserRecord | null>
  /** `putAwayBefore`: as in the write. */
  purgeUser (
    id: string, guard: VersionGuard, putAwayBefore: string | null, event?: DeletionEvent | null
  ): Promise<UserRecord | null>
  findDeletedUser (id: string): Promise<DeletedUser | null>
  listDeletedUsers (request: TrashRequest): Promise<Page<DeletedUser>>
  createApiKey (key: ApiKeyRecord, options: { onlyFirst: boolean }, event?: NewEvent | null): Promise<boolean>
  rotateApiKey (
    id: string, successor: ApiKeyRecord, times: { now: string, expiresAt: string }, event?: NewEvent | null
  ): Promise<ApiKeyRecord | null>
  revokeApiKey (
    id: string, revokedAt: string, options: RevokeOptions, event?: NewEvent | null
  ): Promise<Revocation | null>
  touchApiKey (id: string, usedAt: string, ifBefore: string): Promise<void>
}

/** Which of the optional parts a store has. */
interface Supports { transactions: boolean, eventLog: boolean, batches: boolean }

/** A store in the form that duties use. */
export interface KitStorage extends Omit<Storage, 'joinTransaction'>, WriteCalls {
  readonly supports: Supports
  joinTransaction (transaction: unknown): KitStorage & Pick<StorageInTransaction, 'afterCommit'>
}

function erasing (given: DeletionEvent | null): { event: NewEvent | null, erase: boolean } {
  if (given === null) return { event: null, erase: false }
  const { erase, ...event } = given
  return { event, erase }
}

/** Translates calls of the kit into writes of users. */
const userWrites = {
  createUser: (
    user: UserRecord, keys: UserKeys, _idempotency: Idempotency | null, event: NewEvent | null = null
  ): UserWrite => ({ type: 'create', user, keys: { ...keysOf(user), ...keys }, event }),
  updateUser: (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard, event: NewEvent | null = null
  ): UserWrite => ({ type: 'update', id, changes: withWords(changes), updatedAt, guard, event }),
  deleteUser (id: string, guard: VersionGuard, given: DeletionEvent | null = null): UserWrite {
    return { type: 'delete', id, guard, ...erasing(given) }
  },
  putAwayUser: (id: string, guard: VersionGuard, putAway: PutAway, event: NewEvent | null = null): UserWrite =>
    ({ type: 'delete', id, guard, event, erase: false, putAway }),
  restoreUser: (id: string, updatedAt: string, guard: VersionGuard, event: NewEvent | null = null): UserWrite =>
    ({ type: 'restore', id, updatedAt, guard, event }),
  purgeUser (
    id: string, guard: VersionGuard, putAwayBefore: string | null, given: DeletionEvent | null = null
  ): UserWrite {
    return { type: 'purge', id, guard, putAwayBefore, ...erasing(given) }
  }
}

/** Translates calls of the kit into writes of API keys. */
const keyWrites = {
  createApiKey: (
    key: ApiKeyRecord, { onlyFirst }: { onlyFirst: boolean }, event: NewEvent | null = null
  ): ApiKeyWrite => ({ type: 'create', key, onlyFirst, event }),
  rotateApiKey: (
    id: string,
    successor: ApiKeyRecord,
    { now, expiresAt }: { now: string, expiresAt: string },
    event: NewEvent | null = null
  ): ApiKeyWrite => ({ type: 'rotate', id, successor, now, expiresAt, event }),
  revokeApiKey: (
    id: string,
    revokedAt: string,
    { keepOneWith, successors = false }: RevokeOptions,
    event: NewEvent | null = null
  ): ApiKeyWrite => ({ type: 'revoke', id, revokedAt, keepOneWith, successors, event }),
  touchApiKey: (id: string, usedAt: string, ifBefore: string): ApiKeyWrite => ({ type: 'touch', id, usedAt, ifBefore })
}

const TRASH_CALLS: Partial<Record<string, string>> = {
  findDeletedUser: 'trash.find', listDeletedUsers: 'trash.list'
}

/** Translates a call of the kit into one of the storage interface: the method and its arguments. */
export function interfaceCall (method: string, args: readonly unknown[]): [method: string, args: readonly unknown[]] {
  if (Object.hasOwn(userWrites, method)) {
    const write: unknown = Reflect.apply(Object(userWrites)[method], undefined, args)
    return ['writeUsers', [[write], { atomic: false, idempotency: method === 'createUser' ? args[2] ?? null : null }]]
  }
  const ofTrash = TRASH_CALLS[method]
  if (ofTrash !== undefined) return [ofTrash, args]
  if (!Object.hasOwn(keyWrites, method)) return [method, args]
  return ['writeApiKey', [Reflect.apply(Object(keyWrites)[method], undefined, args)]]
}

type Refused = Exclude<WriteOutcome | ApiKeyOutcome, { code: 'done' }>

/** Returns null for `not_found`. @throws StorageError for any other refusal */
function refusal (outcome: Refused): null {
  if (outcome.code === 'not_found') return null
  if (outcome.code === 'refused') throw new TypeError('the store returned `refused`, but no function refused the write')
  const field = 'field' in outcome ? outcome.field : undefined
  throw new StorageError(outcome.code, 'the write was refused', { field })
}

const userDone = (outcome: WriteOutcome) => outcome.code === 'done' ? outcome : refusal(outcome)
const keyDone = (outcome: ApiKeyOutcome) => outcome.code === 'done' ? outcome : refusal(outcome)

/** The trash of a store that has one. */
export function trashOf ({ trash }: Pick<Storage, 'trash'>): Trash {
  if (trash === undefined) throw new TypeError('the store has no trash')
  return trash
}

function writeCalls (storage: Pick<Storage, 'writeUsers' | 'writeApiKey' | 'trash'>): WriteCalls {
  async function madeOf (write: UserWrite): Promise<UserRecord | null> {
    return userDone((await writeUser(write)).outcome)?.user ?? null
  }

  async function writeUser (write: UserWrite, idempotency: Idempotency | null = null) {
    const { outcomes: [outcome], replayed } = await storage.writeUsers([write], { atomic: false, idempotency })
    if (outcome === undefined) throw new TypeError('writeUsers returned no outcome for a write')
    return { outcome, replayed }
  }
  return {
    async createUser (user, keys, idempotency, event) {
      const { outcome, replayed } = await writeUser(userWrites.createUser(user, keys, idempotency, event), idempotency)
      const made = userDone(outcome)
      if (made === null || made.user === null) throw new TypeError('writeUsers returned a creation without its user')
      return { user: made.user, replayed }
    },
    async updateUser (...args) {
      const made = userDone((await writeUser(userWrites.updateUser(...args))).outcome)
      return made === null || made.user === null ? null : { user: made.user, changed: made.changed }
    },
    deleteUser: (...args) => madeOf(userWrites.deleteUser(...args)),
    putAwayUser: (...args) => madeOf(userWrites.putAwayUser(...args)),
    restoreUser: (...args) => madeOf(userWrites.restoreUser(...args)),
    purgeUser: (...args) => madeOf(userWrites.purgeUser(...args)),
    findDeletedUser: async (id) => trashOf(storage).find(id),
    listDeletedUsers: async (request) => trashOf(storage).list(request),
    async createApiKey (...args) {
      return keyDone(await storage.writeApiKey(keyWrites.createApiKey(...args)))?.changed ?? false
    },
    async rotateApiKey (...args) {
      return keyDone(await storage.writeApiKey(keyWrites.rotateApiKey(...args)))?.key ?? null
    },
    async revokeApiKey (...args) {
      const made = keyDone(await storage.writeApiKey(keyWrites.revokeApiKey(...args)))
      if (made === null || made.key === null) return null
      const { key, changed, successors } = made
      return { key, changed, ...(successors !== undefined && { successors }) }
    },
    async touchApiKey (...args) {
      await storage.writeApiKey(keyWrites.touchApiKey(...args))
    }
  }
}

/** A store in the form that duties use. */
export function kitStorage (storage: Storage): KitStorage {
  const { joinTransaction, eventLog, singleWrites } = storage
  const own: Record<string | symbol, unknown> = {
    ...writeCalls(storage),
    supports: {
      transactions: joinTransaction !== undefined, eventLog: eventLog !== undefined, batches: singleWrites !== true
    },
    ...joinTransaction !== undefined && {
      joinTransaction: (transaction: unknown) => kitStorage(joinTransaction.call(storage, transaction))
    }
  }
  return Object(new Proxy(storage, {
    get: (target, name) => Object.hasOwn(own, name) ? own[name] : Reflect.get(target, name, target),
    has: (target, name) => Object.hasOwn(own, name) || Reflect.has(target, name)
  }))
}
