// How writes of users are made on rows: read, decide, commit, and decide again where others were faster.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { lazy } from '../core/lazy.ts'
import { createKeyedQueue } from '../core/keyed-queue.ts'
import { pauseBefore } from './attempts.ts'
import { decideUser, type UserRows } from './decide-users.ts'
import { changedGroups, membershipsOf, rowsWith } from './group-members.ts'
import type { Idempotency, UserRecord } from './records.ts'
import type { Row, RowWrite, Storage } from './storage.ts'
import { StorageError } from './storage-error.ts'
import { copyOfUser } from './user-members.ts'
import type { UserWrite, WriteOutcome, WriteScope, WritesOptions, WritesResult } from './user-writes.ts'
import { idOf, isNowhere, joinsOf, onlyOf, refusalOf, withGroups, writeTogether } from './users-together.ts'

// A write that waits longer for those before it fails: its answer would come too late.
const TURN_MS = 3000
const LATE = 'writes of the user that came before took too long: its row may be locked'

/** An outcome that the caller may change. */
function copyOf (outcome: WriteOutcome): WriteOutcome {
  if (outcome.code === 'refused') return structuredClone(outcome)
  if (outcome.code !== 'done' || outcome.user === null) return { ...outcome }
  return { ...outcome, user: copyOfUser(outcome.user) }
}

const NO_ROWS: UserRows = { user: null, away: null }

/** The row of a user whose keys are not known. What does not change needs none. */
const rowOf = (record: UserRecord): Row<'users'> => ({ record, keys: {}, of: null })

/** Idempotency keys of two tenants never meet. */
function idempotencyIn (idempotency: Idempotency | null, tenant: string | undefined): Idempotency | null {
  if (idempotency === null || tenant === undefined) return idempotency
  const key = createHash('sha256').update(`${tenant}/${idempotency.key}`).digest('base64url')
  return { ...idempotency, key }
}

/** The write of a caller that is bound to a tenant: what belongs to others is not there. */
function writeIn (write: UserWrite, tenant: string | undefined): UserWrite {
  if (tenant === undefined) return write
  if (write.type !== 'create') return { ...write, tenant }
  // By a spread this takes ten times as long on Node.js 20.
  return { ...write, user: Object.assign({}, write.user, { tenant }) }
}

/**
 * Makes what writes users on a store. `remembers`: of how many users the last row that was written is kept, where
 * reading it costs a round trip.
 */
export function createUserWrites (store: Storage, remembers: number) {
  const inTurn = createKeyedQueue()
  const known = remembers === 0 ? null : lazy(() => new LRUCache<string, UserRecord>({ max: remembers }))

  /** The rows that a write alone may meet, without reading: of a new user none; null: they are read. */
  function guessOf (write: UserWrite, attempt: number, seen: UserRecord | undefined): UserRows | null {
    if (attempt > 0) return null
    if (write.type === 'create') return NO_ROWS
    return seen === undefined ? null : { user: rowOf(seen), away: null }
  }

  /** The rows that a write alone meets. */
  async function rowsFor (write: UserWrite, attempt: number, hasGroups: boolean): Promise<UserRows> {
    const id = idOf(write)
    const rows = await ownRowsFor(write, attempt, id)
    const leaves = rows.user !== null && (write.type === 'delete' || write.type === 'purge')
    // Without groups a user has none, but for those of another mount: they keep the user, and are met then.
    const memberships = leaves && (hasGroups || attempt > 0) ? await membershipsOf(store, [id]) : []
    const asked = [
      ...memberships.map(({ of }) => of ?? ''), ...write.type === 'restore' ? rows.away?.record.groups ?? [] : []
    ]
    return asked.length === 0 ? rows : { ...rows, memberships, groups: await rowsWith(store, 'userGroups', asked) }
  }

  /** The same without groups. */
  async function ownRowsFor (write: UserWrite, attempt: number, id: string): Promise<UserRows> {
    const needsAway = write.type === 'restore' || write.type === 'purge'
    const needsKeys = write.type === 'delete' && write.putAway !== undefined
    const readAway = needsAway || (needsKeys && attempt > 0)
    const isNew = write.type === 'restore' && attempt === 0
    if (!needsAway && !needsKeys) return { user: await recordOf(id), away: null }
    const read = async (): Promise<UserRows> => {
      const [user, away] = await Promise.all([
        needsKeys ? store.find('users', [{ id }]).then(([row]) => row ?? null) : isNew ? null : recordOf(id),
        readAway ? store.find('trash', [{ id }]).then(([row]) => row ?? null) : null
      ])
      return { user, away }
    }
    const rows = await read()
    return write.type === 'purge' && isNowhere(rows) ? read() : rows
  }

  async function recordOf (id: string): Promise<Row<'users'> | null> {
    const record = await store.users.find(id)
    return record && rowOf(record)
  }

  async function writeNow (write: UserWrite, { wordsOf, onGroups }: WriteScope): Promise<WriteOutcome> {
    const since = performance.now()
    const id = idOf(write)
    // The row that was seen last is a guess that saves the reading: the version proves it.
    const takesSeen = write.type === 'update' ||
      (write.type === 'delete' && write.putAway === undefined && onGroups === undefined)
    const seen = takesSeen ? known?.().get(id) : undefined
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) await pauseBefore(attempt, since)
      const isGuess = attempt === 0 && seen !== undefined
      const rows = guessOf(write, attempt, seen) ?? await rowsFor(write, attempt, onGroups !== undefined)
      const made = decideUser(write, rows, wordsOf)
      // What a guess refuses may be right by now.
      if (isGuess && made.writes.length === 0) continue
      if (made.writes.length === 0) return copyOf(made.outcome)
      const groups = made.members === undefined || made.members.length === 0
        ? null
        : changedGroups(made.members, rows.groups ?? new Map(), write.event)
      const outcome = onlyOf(await store.commit([groups === null ? made : withGroups(made, groups)]))
      if (outcome.code === 'ok') {
        note(id, made.writes)
        if (groups !== null) onGroups?.(groups.changes)
        return copyOf(made.outcome)
      }
      known?.().delete(id)
      if (outcome.code === 'taken') return refusalOf(outcome)
    }
  }

  function note (id: string, writes: readonly RowWrite[]): void {
    if (known === null) return
    for (const write of writes) {
      if (write.in !== 'users') continue
      if (write.put === null) known().delete(id)
      else known().set(id, copyOfUser(write.put.record))
    }
  }

  async function writeAll (writes: readonly UserWrite[], options: WritesOptions): Promise<WritesResult> {
    const { tenant } = options
    const { outcomes, ...result } = await writeTogether(store, writes.map((write) => writeIn(write, tenant)), {
      ...options, idempotency: idempotencyIn(options.idempotency, tenant)
    })
    // An id may be given again, with a version that was seen before.
    for (const write of writes) known?.().delete(idOf(write))
    return { ...result, outcomes: outcomes.map(copyOf), note: structuredClone(result.note) }
  }

  return {
    /** Makes a write of one user. */
    async writeOne (write: UserWrite, scope: WriteScope = {}): Promise<WriteOutcome> {
      if (joinsOf(write).length > 0) {
        const { outcomes: [outcome] } = await writeAll([write], { ...scope, atomic: false, idempotency: null })
        if (outcome === undefined) throw new StorageError('fault', 'a write has no outcome')
        return outcome
      }
      const own = writeIn(write, scope.tenant)
      if (own.type === 'create') return writeNow(own, scope)
      const since = performance.now()
      // Writers of one user wait for each other here, and need not meet in the store.
      return inTurn(own.id, () => performance.now() - since > TURN_MS
        ? Promise.reject(new StorageError('unavailable', LATE))
        : writeNow(own, scope))
    },

    /**
     * Makes writes of users one after the other, {@link UserWrite} says what each does, and all in one step: no other
     * writer comes between them, nobody sees only some of them, and if the call throws, none is made. A write that is
     * refused or finds no user changes nothing, and the next one follows; but if the call is `atomic`, that ends it and
     * undoes it.
     *
     * With `idempotency`, the outcomes and the note are kept in the same step, unless the call is undone, or one
     * creation was all of it and was refused. The key is judged first: if it is known and not expired, nothing is
     * written, and the result is that of the first call. Of a call with one creation alone and no note, deleting the
     * user deletes the key; of any other, the users that are deleted since are absent from the result.
     * @throws StorageError `fault` if a new user has the id of another one; `idempotency_key_reused` if the key is
     * known with another fingerprint
     */
    write: writeAll,

    /** Forgets the rows that were written. */
    forget: (): void => known?.().clear()
  }
}
