// The part of the conformance kit that sends each kind of statement once, for tests of what surrounds a store.
import { DUTIES } from './kit.ts'

// Each kind of statement once: units of every collection, alone and together, with events and rewritings, look-ups,
// pages of every list in both directions, searches, filters, orders, walks, the log, and a transaction of the host's.
// Others send what is composed of the same parts, or race, draw, and walk through many.
const LATER = new RegExp('random|drawn|while (?:others|its users)|more users than|behind places|in every order|' +
  'every two values|is refused ends|all writers|loses no write')
const KINDS: readonly RegExp[] = [
  /^commit: (?!many units)(?!of concurrent)(?!.*meet crosswise)/, /^find: (?!as many)/, /^list: pages/,
  /^log\.(?!read: (?:drawn|whoever|an event|a walk))/, /^users\.list: (?!.*(?:long|large|many|beside|meanwhile))/,
  /^users\.(?:list, users\.)?walk: (?!.*(?:large|many|beside|meanwhile|close))/, /^listTenants/,
  /^join: (?:gives|writes of every|versions|a refusal|what a savepoint)/, /^close, open/
]
export const EACH_KIND: readonly string[] = DUTIES.filter((duty) =>
  !LATER.test(duty) && KINDS.some((kind) => kind.test(duty)))

// What may differ where only the way to a database does, such as a driver, a pooler or a setting: how values are sent
// and come back, how units are made and refused, and how transactions and long reads begin and end.
const WAYS: readonly RegExp[] = [
  /^commit: a (?:row of every|row that is there|unit without|value of a unique|text that can not)/,
  /^commit: (?:nothing of a refused|several units|at is the place)/, /^find/, /^list: pages of (?:trash|deliveries)/,
  /^users\.list: pages by offset have every user once, and end/, /^users\.walk: (?:everybody|writers)/,
  /^users\.list, users\.walk: (?:each word|one of several|a field orders)/, /^listTenants: pages/,
  /^log\.(?:read: pages|rewrite: what is meant|prune: takes)/, /^join/, /^close, open/
]
export const EACH_WAY: readonly string[] = EACH_KIND.filter((duty) => WAYS.some((way) => way.test(duty)))

/** The tables of ours that have records. */
export const TABLES = [
  'memberships', 'user_groups', 'users', 'deleted_users', 'api_keys', 'idempotency_keys', 'events', 'webhooks',
  'webhook_deliveries', 'api_key_uses', 'marks', 'pruned_events'
]
