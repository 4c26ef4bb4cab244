// Writes of users and keys in tests that are about something else. They reject what is not done.
import type { ApiKeyOutcome, ApiKeyWritten } from '../../lib/storage/api-key-writes.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type {
  ApiKeyRecord, EventRecord, Idempotency, NewEvent, Storage, UserChanges, UserKeys, UserRecord, VersionGuard
} from '../../lib/storage/storage.ts'
import type { UserWrite, WriteOutcome } from '../../lib/storage/user-writes.ts'
import { anyVersion, everyone, firstPage, keysOf } from './records.ts'

type Done<Outcome extends { code: string }> = Outcome & { code: 'done' }

function done<Outcome extends WriteOutcome | ApiKeyOutcome> (outcome: Outcome): Done<Outcome> {
  if (isDone(outcome)) return outcome
  throw Object.assign(new Error(`the write was refused: ${outcome.code}`), outcome)
}

function isDone<Outcome extends { code: string }> (outcome: Outcome): outcome is Done<Outcome> {
  return outcome.code === 'done'
}

async function written (storage: Storage, write: UserWrite): Promise<{ user: UserRecord, changed: boolean }> {
  const { user, changed } = done(await repositoryOf(storage).users.writeOne(write))
  if (user === null) throw new StorageError('fault', 'a write has no user')
  return { user, changed }
}

interface AddOptions { keys?: UserKeys, event?: NewEvent }

export async function addUser (
  storage: Storage, user: UserRecord, { keys = keysOf(user), event }: AddOptions = {}
): Promise<UserRecord> {
  return (await written(storage, { type: 'create', user, keys, event: event ?? null })).user
}

// More in one call would take longer than a write may on a busy machine.
const TOGETHER = 100

/** Adds many users, one call after another. */
export async function addUsers (storage: Storage, users: readonly UserRecord[]): Promise<void> {
  for (let at = 0; at < users.length; at += TOGETHER) {
    const writes = users.slice(at, at + TOGETHER)
      .map((user) => ({ type: 'create', user, keys: keysOf(user), event: null }) as const)
    const { outcomes } = await repositoryOf(storage).users.write(writes, { atomic: true, idempotency: null })
    outcomes.forEach(done)
  }
}

/** Adds a user once, however often it is called with the same key. */
export async function addUserOnce (
  storage: Storage, user: UserRecord, idempotency: Idempotency
): Promise<{ user: UserRecord | null, replayed: boolean }> {
  const write: UserWrite = { type: 'create', user, keys: keysOf(user), event: null }
  const result = await repositoryOf(storage).users.write([write], { atomic: false, idempotency })
  const [outcome] = result.outcomes
  if (outcome === undefined) throw new StorageError('fault', 'a write has no outcome')
  return { user: done(outcome).user, replayed: result.replayed }
}

export function changeUser (
  storage: Storage,
  id: string,
  changes: UserChanges,
  { updatedAt, guard = anyVersion, event }: { updatedAt: string, guard?: VersionGuard, event?: NewEvent }
): Promise<{ user: UserRecord, changed: boolean }> {
  return written(storage, { type: 'update', id, changes, updatedAt, guard, event: event ?? null })
}

export async function removeUser (
  storage: Storage, id: string, { event, erase = false }: { event?: NewEvent, erase?: boolean } = {}
): Promise<UserRecord> {
  return (await written(storage, { type: 'delete', id, guard: anyVersion, event: event ?? null, erase })).user
}

export async function addKey (storage: Storage, key: ApiKeyRecord, event?: NewEvent): Promise<void> {
  done(await repositoryOf(storage).apiKeys.write({ type: 'create', key, onlyFirst: false, event: event ?? null }))
}

/** Whether it was added: the store had no key. */
export async function addFirstKey (storage: Storage, key: ApiKeyRecord): Promise<boolean> {
  return done(await repositoryOf(storage).apiKeys.write({ type: 'create', key, onlyFirst: true, event: null })).changed
}

export async function revokeKey (
  storage: Storage,
  id: string,
  revokedAt: string,
  { keepOneWith = [], successors = false }: { keepOneWith?: readonly string[], successors?: boolean } = {}
): Promise<ApiKeyWritten> {
  const write = { type: 'revoke', id, revokedAt, keepOneWith, successors, event: null } as const
  return done(await repositoryOf(storage).apiKeys.write(write))
}

export async function rotateKey (
  storage: Storage, id: string, successor: ApiKeyRecord, times: { now: string, expiresAt: string }
): Promise<void> {
  done(await repositoryOf(storage).apiKeys.write({ type: 'rotate', id, successor, ...times, event: null }))
}

/** How many users there are. */
export async function count ({ users }: Pick<Storage, 'users'>): Promise<number> {
  return (await users.list(everyone, firstPage(1))).total
}

/** The whole log, read on after the last event of each page. */
export async function wholeLog ({ log }: Pick<Storage, 'log'>): Promise<EventRecord[]> {
  const all: EventRecord[] = []
  for (let more = true; more;) {
    const page = await log.read({ after: all.at(-1)?.id ?? null, limit: 100, types: null })
    if (page === null) throw new StorageError('fault', 'the event to read after is gone')
    all.push(...page.events)
    more = page.more
  }
  return all
}
