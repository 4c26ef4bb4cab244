// How writes of users are made together, or with an idempotency key.

import { decideUser, type UserRows } from './decide-users.ts'
import { keptWrites, repetitionOf } from './kept-outcomes.ts'
import { pauseBefore } from './attempts.ts'
import { changedGroups, type Groups, type MemberChange, membershipsOf, rowsWith } from './group-members.ts'
import type { EventRecord } from './records.ts'
import type { Outcome, Rewrite, Row, RowWrite, Storage, Unit } from './storage.ts'
import { StorageError } from './storage-error.ts'
import { creationAlone } from './storage-rules.ts'
import type { UserWrite, WriteOutcome, WritesOptions, WritesResult } from './user-writes.ts'

export const idOf = (write: UserWrite): string => write.type === 'create' ? write.user.id : write.id

/** The groups that a write asks for. */
export const joinsOf = (write: UserWrite): readonly string[] =>
  (write.type === 'create' || write.type === 'update' ? write.joins : undefined) ?? []

/** True also of who was moved from one place to the other between the two readings: they are read again for a purge. */
export const isNowhere = ({ user, away }: UserRows): boolean => user === null && away === null

/** The rows that writes meet: as they were read or are guessed, and as the writes before have left them. */
class MetRows {
  readonly #store: Storage
  readonly #users = new Map<string, Row<'users'> | null>()
  readonly #away = new Map<string, Row<'trash'> | null>()
  readonly #memberships = new Map<string, Array<Row<'memberships'>>>()
  #groups: Groups = new Map()

  constructor (store: Storage) {
    this.#store = store
  }

  /**
   * Reads the rows that these writes need; null: none. `guesses`: new users, and who is put away, are taken for absent.
   */
  read (writes: readonly UserWrite[], guesses: boolean): Promise<void> | null {
    const users = new Set<string>()
    const away = new Set<string>()
    for (const write of writes) {
      const { type } = write
      if (!guesses || (type !== 'create' && type !== 'restore')) users.add(idOf(write))
      const putsAway = type === 'delete' && write.putAway !== undefined && !guesses
      if (type === 'restore' || type === 'purge' || putsAway) away.add(idOf(write))
    }
    return users.size + away.size === 0 ? null : this.#readAll(users, away)
  }

  /** Reads the groups that these writes meet, of users that are read. */
  async readGroups (writes: readonly UserWrite[]): Promise<void> {
    const met = writes.filter((write) => write.type === 'delete' || write.type === 'purge' ||
      (write.type === 'update' && joinsOf(write).length > 0)).map(idOf)
    const found = met.length === 0 ? [] : await membershipsOf(this.#store, met)
    for (const row of found) {
      const { member } = row.record
      this.#memberships.set(member, [...this.#memberships.get(member) ?? [], row])
    }
    const joined = writes.flatMap((write) => this.joinedBy(write))
    this.#groups = await rowsWith(this.#store, 'userGroups', [...found.map(({ of }) => of ?? ''), ...joined])
  }

  /** The groups that a write asks for, or that who is restored was in. */
  joinedBy (write: UserWrite): readonly string[] {
    return write.type === 'restore' ? this.#away.get(write.id)?.record.groups ?? [] : joinsOf(write)
  }

  get groups (): Groups {
    return this.#groups
  }

  async #readAll (users: ReadonlySet<string>, away: ReadonlySet<string>): Promise<void> {
    await this.#readOnce([...users], [...away])
    const nowhere = [...away].filter((id) => users.has(id) && isNowhere(this.of(id)))
    if (nowhere.length > 0) await this.#readOnce(nowhere, nowhere)
  }

  async #readOnce (users: readonly string[], away: readonly string[]): Promise<void> {
    const [userRows, awayRows] = await Promise.all([
      users.length === 0 ? [] : this.#store.find('users', users.map((id) => ({ id }))),
      away.length === 0 ? [] : this.#store.find('trash', away.map((id) => ({ id })))
    ])
    for (const [i, id] of users.entries()) this.#users.set(id, userRows[i] ?? null)
    for (const [i, id] of away.entries()) this.#away.set(id, awayRows[i] ?? null)
  }

  of (id: string): UserRows {
    const memberships = this.#memberships.get(id) ?? []
    return { user: this.#users.get(id) ?? null, away: this.#away.get(id) ?? null, memberships, groups: this.#groups }
  }

  /** Takes over what a decision has made. */
  apply (writes: readonly RowWrite[]): void {
    for (const write of writes) {
      if (write.in === 'users') this.#users.set(write.put?.record.id ?? write.was?.record.id ?? '', write.put)
      else if (write.in === 'trash') this.#away.set(write.put?.record.id ?? write.was?.record.id ?? '', write.put)
      else if (write.in === 'memberships') this.#applyMembership(write.put, write.was)
    }
  }

  #applyMembership (put: Row<'memberships'> | null, was: Row<'memberships'> | null): void {
    const { id, member } = (put ?? was)?.record ?? { id: '', member: '' }
    const others = (this.#memberships.get(member) ?? []).filter(({ record }) => record.id !== id)
    this.#memberships.set(member, put === null ? others : [...others, put])
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
  members: MemberChange[]
}

type Refusals = ReadonlyMap<number, WriteOutcome>

/** Decides writes one after the other. `taken`: those that the store has refused. */
function planOf (
  writes: readonly UserWrite[], rows: MetRows, taken: Refusals, { atomic, wordsOf }: WritesOptions
): Plan {
  const plan: Plan = { outcomes: [], unit: { writes: [], events: [], rewrites: [] }, owners: [], rows, members: [] }
  for (const [i, write] of writes.entries()) {
    const refusal = taken.get(i)
    const made = refusal === undefined
      ? decideUser(write, rows.of(idOf(write)), wordsOf)
      : { outcome: refusal, writes: [], events: [], rewrites: [], members: [] }
    plan.outcomes.push(made.outcome)
    if (atomic && made.outcome.code !== 'done') return plan
    rows.apply(made.writes)
    plan.unit.writes.push(...made.writes)
    plan.unit.events.push(...made.events)
    plan.members.push(...made.members ?? [])
    plan.unit.rewrites.push(...made.rewrites)
    plan.owners.push(...made.writes.map(() => i))
  }
  return plan
}

/** A unit with what it makes of groups: their rows come first, so that concurrent writers end there. */
export function withGroups (
  { writes, events, rewrites }: Unit, groups: Pick<ReturnType<typeof changedGroups>, 'writes' | 'events'>
): Unit {
  return { writes: [...groups.writes, ...writes], events: [...events, ...groups.events], rewrites }
}

/** The outcome of the one unit of a commit. */
export function onlyOf ([outcome]: readonly Outcome[]): Outcome {
  if (outcome === undefined) throw new StorageError('fault', 'a unit has no outcome')
  return outcome
}

export function refusalOf ({ member }: Outcome & { code: 'taken' }): WriteOutcome {
  return typeof member === 'object' ? { code: 'field_taken', field: member.field } : { code: 'email_taken' }
}

const isDone = ({ code }: WriteOutcome): boolean => code === 'done'

/** Makes writes one after the other, in one step. {@link WritesOptions} says how. */
export async function writeTogether (
  store: Storage, writes: readonly UserWrite[], options: WritesOptions
): Promise<WritesResult> {
  const { atomic, idempotency, onGroups } = options
  const since = performance.now()
  const run = idempotency === null ? '' : crypto.randomUUID()
  const note = idempotency?.note ?? null
  const taken = new Map<number, WriteOutcome>()
  const isAlone = creationAlone(writes, { idempotency }) !== null
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) await pauseBefore(attempt, since)
    // Of a creation it is taken for new, like its user.
    const before = idempotency === null || (isAlone && attempt === 0)
      ? null
      : await repetitionOf(store, idempotency, run)
    if (before?.result != null) return before.result
    const rows = new MetRows(store)
    const reading = rows.read(writes, attempt === 0)
    if (reading !== null) await reading
    const mayHaveGroups = onGroups !== undefined || attempt > 0
    if (mayHaveGroups || writes.some((write) => rows.joinedBy(write).length > 0)) await rows.readGroups(writes)
    const { outcomes, unit, owners, members } = planOf(writes, rows, taken, options)
    const result = { outcomes, note, replayed: false }
    const isUndone = atomic && !outcomes.every(isDone)
    // A creation that was refused may succeed later.
    const isKept = idempotency !== null && !isUndone && !(isAlone && !outcomes.every(isDone))
    if (isUndone || (unit.writes.length === 0 && !isKept)) return result
    const kept = isKept
      ? keptWrites(idempotency, {
        outcomes, run, isAlone, was: before?.was ?? null, isThere: (id) => rows.isThere(id)
      })
      : []
    const event = writes.find((write) => write.event !== null)?.event ?? null
    const groups = changedGroups(members, rows.groups, event)
    const own = { ...unit, writes: [...unit.writes, ...kept] }
    const outcome = onlyOf(await store.commit([withGroups(own, groups)]))
    if (outcome.code === 'ok') {
      if (groups.changes.length > 0) onGroups?.(groups.changes)
      return result
    }
    const owner = owners[outcome.at - groups.writes.length]
    if (outcome.code === 'taken' && owner !== undefined) taken.set(owner, refusalOf(outcome))
    else taken.clear()
  }
}
