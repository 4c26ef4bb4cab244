// The part of the conformance kit that sends each kind of statement once, for tests of what surrounds a store.
import type { Test } from 'tap'
import type { Subject } from '../../adapters/testing/index.ts'
import { registered } from './kit.ts'

// Each kind of statement once: single and grouped writes, with and without events, look-ups, pages of every list in
// both directions, searches, filters, bounds, orders, walks, trash, tenants, keys, indexes, batches, deliveries, and a
// transaction of the host's. The other duties send what is composed of the same parts, or race. The last three leave an
// index behind.
export const EACH_KIND: readonly string[] = [
  'create, findUser: a user is returned as it was given',
  'create: of many concurrent calls with one address, exactly one succeeds',
  'listUsers: users are ordered by id, ascending or descending',
  'listUsers: a page after an id starts behind it, even if that user was deleted',
  'listUsers: a search lists each user once, on every page',
  'listUsers: a status filters with an exact total, alone and with every other part of a filter',
  'listUsers: a place need not be that of a user',
  'listUsers, readUsers: moments are bounded on either side, with or without the bound itself',
  'readUsers: users come as they are found, ordered by id, ascending or descending',
  'update: updatedAt is the given time, and never goes back',
  'update: of many concurrent calls without a guard, none is lost',
  'delete: returns the last state, and no method finds the user afterwards',
  'put away, restore, purge: writes of one call see what those before them have made',
  'tenants: users that are put away are those of their tenant, and go with it',
  'create with idempotency: an expired key is free',
  'listApiKeys: keys are ordered by id, in pages, with the exact total',
  'rotate key: adds the successor and lets the old key expire',
  'revoke key: with several scopes in keepOneWith, another key must have all of them',
  'eventLog: an update is recorded with what it changed, and one that changes nothing is not',
  'eventLog: a change of the status has an event of its own type, with other members behind theirs',
  'eventLog.read: a filter finds exactly its types, in the same order',
  'eventLog.history: the events of one user or key, newest first, with their number',
  'eventLog.erase: takes every value of one user out of its events, and nothing else',
  'eventLog.prune: takes the oldest events that are older than a time, and never the newest',
  'writeUsers with idempotency: a repetition returns the first outcomes and note and writes nothing',
  'webhooks.list: pages in both orders of ids, with the exact number',
  'webhooks.listDeliveries: newest first, those of the endpoint, with their exact number',
  'webhooks.claim: takes what is due of the endpoint, the longest due first, and at most as many as asked',
  'webhooks.eventBefore: goes by the order of the log, and from the first id that is not less',
  'keyUses.prune: deletes the days before one, at most as many as asked, and says how many',
  'joinTransaction: a refusal leaves the transaction usable',
  'listUsers, readUsers with fields: texts are bounded by code point, and nothing but texts',
  'listUsers with fields: the same value of the same type matches, with the exact total',
  'create with unique fields: a value of another user is refused as field_taken'
]
/** The tables of ours that have records. */
export const TABLES = [
  'users', 'deleted_users', 'api_keys', 'idempotency_keys', 'events', 'webhooks', 'webhook_deliveries', 'api_key_uses',
  'marks'
]

/** Runs these duties as `t`, one after the other, on stores of one database, which `empty` empties in between. */
export async function runEachKind (
  t: Test,
  subjectFor: (turn: number, duty: string) => Subject,
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
