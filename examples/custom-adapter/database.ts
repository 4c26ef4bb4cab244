import { createHash } from 'node:crypto'
import { type Database, type Key, open } from 'lmdb'
import {
  type ApiKeyRecord, type DeletedUser, type EventRecord, type Json, type Page, type PageRequest, type PrunedEvents,
  StorageError, type UserKeys, type UserRecord, type WriteOutcome
} from 'fastify-users/storage'

/** A user, the keys it is found by, and the idempotency keys that keep something of it. */
export interface UserEntry {
  user: UserRecord
  keys: UserKeys
  requests: string[]
}

/** A user that is put away, and the keys that it had. */
export interface DeletedEntry extends DeletedUser {
  keys: UserKeys
}

/** What is kept under an idempotency key. `goesWithUser`: until the user of the creation is deleted. */
export interface RequestEntry {
  fingerprint: string
  expiresAt: string
  goesWithUser: boolean
  kept: { outcomes: WriteOutcome[], note: Json }
}

/**
 * An LMDB environment with one database for each way in. JSON keeps any text as it is, lone surrogates and NUL too;
 * records come back as copies.
 */
export function openDatabase (path: string) {
  // Without overlapping, a write is answered when it is on the disk. By default there may be twelve databases.
  const root = open({ path, encoding: 'json', overlappingSync: false, maxDbs: 24 })
  const table = <Value, K extends Key = string>(name: string): Database<Value, K> =>
    root.openDB<Value, K>({ name, encoding: 'json' })
  let closed: Promise<void> | undefined

  return {
    users: table<UserEntry>('users'),
    /** The id of the user by its e-mail's key and its tenant, which is '' for none. */
    emails: table<string, [string, string]>('emails'),
    /** The words of users, each with the user's id behind it. */
    words: table<null, [string, string]>('words'),
    /** What users are found by of their fields. */
    searched: table<string>('searched'),
    /** Names of fields that users are found by, and whether each value is one user's alone. */
    found: table<{ isUnique: boolean }>('found'),
    /** Such a field's name and value, with the user's id behind them. */
    fields: table<null, [string, string, string]>('fields'),
    /** Suspended users. */
    suspended: table<null>('suspended'),
    /** Users that are put away, and their ids behind the moments of their deletions. */
    deleted: table<DeletedEntry>('deleted'),
    deletedAt: table<null, [string, string]>('deleted_at'),
    requests: table<RequestEntry>('requests'),
    apiKeys: table<ApiKeyRecord>('api_keys'),
    starts: table<string>('starts'),
    /** How often a key was used, by its id and the day. */
    keyUses: table<number, [string, string]>('key_uses'),
    /** Recorded events by number, and what they are found by. */
    events: table<EventRecord, number>('events'),
    eventNumbers: table<number>('event_numbers'),
    /** What is left of pruned events, by place. */
    prunedEvents: table<PrunedEvents, number>('pruned_events'),
    subjects: table<null, [string, number]>('event_subjects'),
    types: table<null, [string, number]>('event_types'),
    actors: table<null, [string, number]>('event_actors'),
    /** Tenants, each with the ids of its users and keys, and the numbers of its events, behind it. */
    tenantUsers: table<null, [string, string]>('tenant_users'),
    tenantKeys: table<null, [string, string]>('tenant_keys'),
    tenantEvents: table<null, [string, number]>('tenant_events'),

    /**
     * Reads one state of the database, the newest: without a reset a look soon after another process's write could
     * miss it.
     */
    async read<Result>(look: () => Result): Promise<Result> {
      if (closed !== undefined) throw new StorageError('unavailable', 'the database is closed')
      root.resetReadTxn()
      return look()
    },

    /** Runs a piece of work that nothing comes between, in this process and in others; a throw takes back all of it. */
    async write<Result>(work: () => Result): Promise<Result> {
      if (closed !== undefined) throw new StorageError('unavailable', 'the database is closed')
      return root.childTransaction(work)
    },

    close: () => (closed ??= root.close())
  }
}

export type LmdbDatabase = ReturnType<typeof openDatabase>

/** LMDB's keys have at most 1978 bytes, and are UTF-8: nothing can be found under another text. */
export function isKey (text: string): boolean {
  return Buffer.byteLength(text) < 1800 && text.isWellFormed()
}

/** The value of a field as a key: its JSON text, which tells `1` from `"1"`, or a digest of a long one. */
export function valueKey (value: string | number | boolean): string {
  const text = JSON.stringify(value)
  return isKey(text) ? text : `#${createHash('sha256').update(text).digest('base64url')}`
}

/** Refuses what could not be found again. */
export function requireKeys (...texts: string[]): void {
  if (!texts.every(isKey)) throw new StorageError('fault', 'a text can not be a key')
}

/**
 * The records of a page, in the order of their ids. Reads of one turn of the event loop see one state of the database.
 */
export function pageOf<Value> (table: Database<Value, string>, { order, limit, from }: PageRequest): Value[] {
  const bounds = 'offset' in from ? { offset: from.offset } : { start: from.after, exclusiveStart: true }
  if ('offset' in from && from.offset >= table.getKeysCount()) return []
  return [...table.getRange({ ...bounds, limit, reverse: order === 'desc' })].map(({ value }) => value)
}

/** A page of records whose ids are known, in ascending order. */
export function pageOfIds<Value> (
  ids: readonly string[],
  { order, limit, from }: PageRequest,
  find: (id: string) => Value | null
): Page<Value> {
  const ordered = order === 'asc' ? ids : ids.toReversed()
  const rest = 'offset' in from
    ? ordered.slice(from.offset)
    : ordered.filter((id) => order === 'asc' ? id > from.after : id < from.after)
  return { items: rest.slice(0, limit).flatMap((id) => find(id) ?? []), total: ids.length }
}

/** The ids behind a name in an index, in ascending order. */
export function * idsBehind (index: Database<null, [string, string]>, name: string): Generator<string> {
  for (const [found, id] of index.getKeys({ start: [name] })) {
    if (found !== name) return
    yield id
  }
}
