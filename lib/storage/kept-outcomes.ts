// What an idempotency key keeps of a call: each outcome's user in a row of its own, which goes with the user.

import type { Idempotency, Json, UserRecord } from './records.ts'
import type { KeptOutcomes, Row, Storage, RowWrite } from './storage.ts'
import { requireSameRequest, withoutUsers } from './storage-rules.ts'
import type { WriteOutcome, WritesResult } from './user-writes.ts'

/** What the row of a key has. `run`: which call has written it, for one whose answer was lost. */
interface Kept { outcomes: WriteOutcome[], note: Json, run: string }

/** What is known of a key. */
export interface Known {
  /** What the first call has answered; null: the key is free. */
  result: WritesResult | null
  /** The row that the key has, which is expired if it is free. */
  was: Row<'idempotency'> | null
}

const partId = (key: string, run: string, i: number): string => `${key}/${run}/${i}`

// What is kept is JSON of our own.
const keptIn = ({ record }: Row<'idempotency'>): Kept => Object(record.kept)
const userOf = (row: Row<'idempotency'> | null | undefined): UserRecord | null =>
  row == null ? null : Object(row.record.kept)

/** What is known of the key of a call. @throws StorageError `idempotency_key_reused` */
export async function repetitionOf (store: Storage, idempotency: Idempotency, run: string): Promise<Known> {
  const { key, now } = idempotency
  const [was = null] = await store.find('idempotency', [{ id: key }])
  if (was === null || was.record.expiresAt <= now) return { result: null, was }
  requireSameRequest(was.record.fingerprint, idempotency)
  const kept = keptIn(was)
  const outcomes = structuredClone(kept.outcomes)
  if (was.of === null) {
    const parts = outcomes.flatMap(({ code }, i) => code === 'done' ? [i] : [])
    const found = parts.length === 0
      ? []
      : await store.find('idempotency', parts.map((i) => ({ id: partId(key, kept.run, i) })))
    for (const [n, i] of parts.entries()) {
      const outcome = outcomes[i]
      if (outcome?.code === 'done') outcome.user = userOf(found[n])
    }
  }
  return { result: { outcomes, note: kept.note, replayed: kept.run !== run }, was }
}

interface ToKeep {
  outcomes: readonly WriteOutcome[]
  run: string
  /** One creation was all of the call: the key goes with its user. */
  isAlone: boolean
  was: Row<'idempotency'> | null
  /** Whether a user is there after the call. */
  isThere: (id: string) => boolean
}

/** The writes that keep the outcomes of a call. */
export function keptWrites (
  { key, fingerprint, expiresAt, note }: Idempotency, { outcomes, run, isAlone, was, isThere }: ToKeep
): Array<RowWrite<'idempotency'>> {
  const row = (id: string, kept: unknown, of: string | null, version: number): Row<'idempotency'> => {
    const record: KeptOutcomes = { id, version, fingerprint, expiresAt, kept: Object(kept) }
    return { record, keys: null, of }
  }
  const users = outcomes.map((outcome) => outcome.code === 'done' && outcome.user !== null ? outcome.user : null)
  const version = (was?.record.version ?? 0) + 1
  if (isAlone) {
    const kept: Kept = { outcomes: structuredClone([...outcomes]), note, run }
    return [{ in: 'idempotency', put: row(key, kept, users[0]?.id ?? null, version), was }]
  }
  const kept: Kept = { outcomes: withoutUsers(outcomes), note, run }
  const parts = users.flatMap((user, i) => user === null || !isThere(user.id)
    ? []
    : [{ in: 'idempotency', put: row(partId(key, run, i), structuredClone(user), user.id, 1), was: null } as const])
  return [{ in: 'idempotency', put: row(key, kept, null, version), was }, ...parts]
}
