// How writes of users are made on rows: read, decide, commit, and decide again where others were faster.

import { setTimeout as delay } from 'node:timers/promises'
import { cloneFields } from '../core/json.ts'
import { createKeyedQueue } from '../core/keyed-queue.ts'
import { decideUser, type UserRows } from './decide-users.ts'
import { keptWrites, repetitionOf } from './kept-outcomes.ts'
import type { EventRecord } from './records.ts'
import type { Outcome, Rewrite, Row, RowStore, RowWrite, Unit } from './rows.ts'
import { StorageError } from './storage-error.ts'
import { creationAlone } from './storage-rules.ts'
import type { UserWrite, WriteOutcome, WritesOptions, WritesResult } from './user-writes.ts'

// How long, and how often at least, a write is repeated that others come before.
const PATIENCE_MS = 10_000
const ATTEMPTS_MIN = 20
const PAUSE_MAX_MS = 50

export const idOf = (write: UserWrite): string => write.type === 'create' ? write.user.id : write.id

/** Waits before an attempt, longer each time, so that writers of other processes do not meet again. */
export async function pauseBefore (attempt: number, since: number): Promise<void> {
  if (attempt > ATTEMPTS_MIN && performance.now() - since > PATIENCE_MS) {
    throw new StorageError('unavailable', 'other writers keep changing the rows')
  }
  if (attempt > 1) await delay(Math.random() * Math.min(2 ** attempt, PAUSE_MAX_MS))
}

/** The rows that writes meet: as they were read or are guessed, and as the writes before have left them. */
class MetRows {
  readonly #store: RowStore
  readonly #users = new Map<string, Row<'users'> | null>()
  readonly #away = new Map<string, Row<'trash'> | null>()

  constructor (store: RowStore) {
    this.#store = store
  }

  /** Reads the rows that these writes need. `guesses`: new users, and who is put away, are taken for absent. */
  async read (writes: readonly UserWrite[], guesses: boolean): Promise<void> {
    const isNeeded = ({ type }: UserWrite): boolean => !guesses || (type !== 'create' && type !== 'restore')
    const isAwayNeeded = (write: UserWrite): boolean => write.type === 'restore' || write.type === 'purge' ||
      (write.type === 'delete' && write.putAway !== undefined && !guesses)
    const users = [...new Set(writes.filter(isNeeded).map(idOf))]
    const away = [...new Set(writes.filter(isAwayNeeded).map(idOf))]
    const [userRows, awayRows] = await Promise.all([
      users.length === 0 ? [] : this.#store.find('users', users.map((id) => ({ id }))),
      away.length === 0 ? [] : this.#store.find('trash', away.map((id) => ({ id })))
    ])
    for (const [i, id] of users.entries()) this.#users.set(id, userRows[i] ?? null)
    for (const [i, id] of away.entries()) this.#away.set(id, awayRows[i] ?? null)
  }

  of (id: string): UserRows {
    return { user: this.#users.get(id) ?? null, away: this.#away.get(id) ?? null }
  }

  /** Takes over what a decision has made. */
  apply (writes: readonly RowWrite[]): void {
    for (const write of writes) {
      if (write.in === 'users') this.#users.set(write.put?.record.id ?? write.was?.record.id ?? '', write.put)
      else if (write.in === 'trash') this.#away.set(write.put?.record.id ?? write.was?.record.id ?? '', write.put)
    }
  }

  isThere (id: string): boolean {
    return (this.#users.get(id) ?? null) !== null
  }
}

/** What is to be committed of a call. */
interface Plan {
  outcomes: WriteOutcome[]
  unit: { writes: RowWrite[], events: EventRecord[], rewrites: Rewrite[] }
  /** Of each write of the unit: which write of the call it is of. */
  owners: number[]
  rows: MetRows
}

type Refusals = ReadonlyMap<number, WriteOutcome>

/** Decides writes one after the other. `taken`: those that the store has refused. */
function planOf (writes: readonly UserWrite[], rows: MetRows, taken: Refusals, atomic: boolean): Plan {
  const plan: Plan = { outcomes: [], unit: { writes: [], events: [], rewrites: [] }, owners: [], rows }
  for (const [i, write] of writes.entries()) {
    const refusal = taken.get(i)
    const made = refusal === undefined
      ? decideUser(write, rows.of(idOf(write)))
      : { outcome: refusal, writes: [], events: [], rewrites: [] }
    plan.outcomes.push(made.outcome)
    if (atomic && made.outcome.code !== 'done') return plan
    rows.apply(made.writes)
    plan.unit.writes.push(...made.writes)
    plan.unit.events.push(...made.events)
    plan.unit.rewrites.push(...made.rewrites)
    plan.owners.push(...made.writes.map(() => i))
  }
  return plan
}

function refusalOf ({ member }: Outcome & { code: 'taken' }): WriteOutcome {
  return typeof member === 'object' ? { code: 'field_taken', field: member.field } : { code: 'email_taken' }
}

/** An outcome that the caller may change. */
function copyOf (outcome: WriteOutcome): WriteOutcome {
  if (outcome.code === 'refused') return structuredClone(outcome)
  if (outcome.code !== 'done' || outcome.user === null) return { ...outcome }
  return { ...outcome, user: { ...outcome.user, fields: cloneFields(outcome.user.fields) } }
}

const isDone = ({ code }: WriteOutcome): boolean => code === 'done'

/** Makes the function that writes users on a store of rows, as `Storage.writeUsers` says. */
export function createUserWrites (store: RowStore) {
  const inTurn = createKeyedQueue()

  async function commit (unit: Unit): Promise<Outcome> {
    const [outcome] = await store.commit([unit])
    if (outcome === undefined) throw new StorageError('fault', 'a unit has no outcome')
    return outcome
  }

  async function writeAll (
    writes: readonly UserWrite[], { atomic, idempotency }: WritesOptions
  ): Promise<WritesResult> {
    const since = performance.now()
    const run = idempotency === null ? '' : crypto.randomUUID()
    const note = idempotency?.note ?? null
    const taken = new Map<number, WriteOutcome>()
    const isAlone = creationAlone(writes, { idempotency }) !== null
    for (let attempt = 0; ; attempt++) {
      await pauseBefore(attempt, since)
      // Of a creation it is taken for new, like its user.
      const known = idempotency === null || (isAlone && attempt === 0)
        ? null
        : await repetitionOf(store, idempotency, run)
      if (known?.result != null) return known.result
      const rows = new MetRows(store)
      await rows.read(writes, attempt === 0)
      const { outcomes, unit, owners } = planOf(writes, rows, taken, atomic)
      const result = { outcomes, note, replayed: false }
      const isUndone = atomic && !outcomes.every(isDone)
      // A creation that was refused may succeed later.
      const isKept = idempotency !== null && !isUndone && !(isAlone && !outcomes.every(isDone))
      if (isUndone || (unit.writes.length === 0 && !isKept)) return result
      const kept = isKept
        ? keptWrites(idempotency, {
          outcomes, run, isAlone, was: known?.was ?? null, isThere: (id) => rows.isThere(id)
        })
        : []
      const outcome = await commit({ ...unit, writes: [...unit.writes, ...kept] })
      if (outcome.code === 'ok') return result
      const owner = owners[outcome.at]
      if (outcome.code === 'taken' && owner !== undefined) taken.set(owner, refusalOf(outcome))
      else taken.clear()
    }
  }

  return async (writes: readonly UserWrite[], options: WritesOptions): Promise<WritesResult> => {
    const [only] = writes
    // Writers of one user wait for each other here, and need not meet in the store.
    const { outcomes, ...result } = only !== undefined && writes.length === 1 && only.type !== 'create'
      ? await inTurn(idOf(only), () => writeAll(writes, options))
      : await writeAll(writes, options)
    return { ...result, outcomes: outcomes.map(copyOf), note: structuredClone(result.note) }
  }
}
