// The part of the conformance kit that sends each kind of statement once, for tests of what surrounds a store.
import type { Test } from 'tap'
import type { Created } from '../../adapters/testing/index.ts'
import { DUTIES, registered } from './kit.ts'

// Each kind of statement once: units of every collection, alone and together, with events and rewritings, look-ups,
// pages of every list in both directions, searches, filters, orders, walks, the log, and a transaction of the host's.
// Others send what is composed of the same parts, or race.
const KINDS: readonly RegExp[] = [
  /^commit: (?!many units)(?!of concurrent)(?!.*meet crosswise)/, /^find: (?!as many)/, /^list: pages/,
  /^log\.(?!read: (?:drawn|whoever|an event|a walk))/, /^users\.list: (?!.*(?:long|large|many|beside|meanwhile))/,
  /^users\.(?:list, users\.)?walk: (?!.*(?:large|many|beside|meanwhile|close))/, /^listTenants/,
  /^join: (?:gives|writes of every|versions|a refusal|what a savepoint)/
]
export const EACH_KIND: readonly string[] = DUTIES.filter((duty) => KINDS.some((kind) => kind.test(duty)))

/** The tables of ours that have records. */
export const TABLES = [
  'users', 'deleted_users', 'api_keys', 'idempotency_keys', 'events', 'webhooks', 'webhook_deliveries', 'api_key_uses',
  'marks', 'pruned_events'
]

/** Runs these duties as `t`, one after the other, on stores of one database, which `empty` empties in between. */
export async function runEachKind (
  t: Test,
  subjectFor: (turn: number, duty: string) => Created,
  empty: () => Promise<unknown>
): Promise<void> {
  let turn = 0
  let duty = ''
  const { tests } = registered(() => subjectFor(turn, duty))
  const duties = EACH_KIND.flatMap((name) => tests.filter((each) => each.name === name))
  t.equal(duties.length, EACH_KIND.length)
  for (const { name, run } of duties) {
    duty = name
    await t.resolves(run(), name)
    await empty()
    turn++
  }
}
