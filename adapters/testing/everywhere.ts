import type { Json, PageRequest, UserFilter, UserStatus } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { type Call, type CallOf, outcomeOf, type Reader, requireOutcome, type Writer } from './calls.ts'
import type { Model } from './model.ts'
import { having } from './list-values.ts'
import { everyone, wordsOf } from './values.ts'

/** The fields that the kit filters by. */
export const FILTERABLE = ['plan', 'seats', 'active'] as const

const ORDERS = ['asc', 'desc'] as const
const page = (order: PageRequest['order'], limit = 50): PageRequest => ({ order, limit, from: { offset: 0 } })

function isFilterValue (value: Json | undefined): value is string | number | boolean {
  return value !== undefined && value !== null && typeof value !== 'object'
}

/** The filters that find users with these fields. */
function fieldFilters (fields: Readonly<Record<string, Json>>, filterable: readonly string[]): UserFilter[] {
  return filterable.flatMap((name) => {
    const value = fields[name]
    return isFilterValue(value) ? [{ ...everyone, fields: { [name]: value } }] : []
  })
}

/** The search for the first words of a key, if it has any. Those of a domain would find everybody. */
function searchesFor (key: string, count = 1): UserFilter[] {
  const words = wordsOf(key).slice(0, count)
  return words.length === 0 ? [] : [having(...words)]
}

/** The values that calls mention. Records are looked up by them before and after each call. */
interface Named {
  ids: Set<string>
  emailKeys: Set<string>
  nameKeys: Set<string>
  fields: Array<Readonly<Record<string, Json>>>
  statuses: Set<UserStatus>
  /** Those that may be put away. */
  deleted: Set<string>
  keyIds: Set<string>
  starts: Set<string>
}

function addNames (named: Named, call: Call): void {
  switch (call[0]) {
    case 'createUser': {
      const [, { id, fields }, { emailKey, nameKey }] = call
      named.ids.add(id)
      named.emailKeys.add(emailKey)
      named.nameKeys.add(nameKey)
      named.fields.push(fields)
      return
    }
    case 'updateUser': {
      const [, id, { name, email, fields, status }] = call
      named.ids.add(id)
      if (email !== undefined) named.emailKeys.add(email.key)
      if (name !== undefined) named.nameKeys.add(name.key)
      if (fields !== undefined) named.fields.push(fields)
      if (status !== undefined) named.statuses.add('active').add('suspended')
      return
    }
    case 'putAwayUser':
    case 'restoreUser':
    case 'purgeUser':
      named.deleted.add(call[1])
      named.ids.add(call[1])
      return
    case 'deleteUser':
      named.ids.add(call[1])
      return
    case 'rotateApiKey':
      named.keyIds.add(call[1]).add(call[2].id)
      named.starts.add(call[2].start)
      return
    case 'createApiKey':
      named.keyIds.add(call[1].id)
      named.starts.add(call[1].start)
      return
    case 'revokeApiKey':
    case 'touchApiKey':
      named.keyIds.add(call[1])
  }
}

function namedBy (calls: readonly Call[]): Named {
  const named: Named = {
    ids: new Set(),
    emailKeys: new Set(),
    nameKeys: new Set(),
    fields: [],
    statuses: new Set(),
    deleted: new Set(),
    keyIds: new Set(),
    starts: new Set()
  }
  for (const call of calls) addNames(named, call)
  return named
}

const USER_WRITERS: readonly string[] = [
  'createUser', 'updateUser', 'deleteUser', 'prune', 'putAwayUser', 'restoreUser', 'purgeUser'
]

/**
 * Every way to read what some calls have named: by id, address, words, fields, and in lists with their
 * totals. `whole`: lists of all records too, for stores that have no others.
 */
export function readersOf (
  calls: readonly Call[],
  { filterable = [], whole = true }: { filterable?: readonly string[], whole?: boolean } = {}
): Array<CallOf<Reader>> {
  const { ids, emailKeys, nameKeys, fields, statuses, deleted, keyIds, starts } = namedBy(calls)
  const filters: UserFilter[] = [
    ...[...emailKeys].map((emailKey) => ({ ...everyone, emailKey })),
    ...[...emailKeys].flatMap((key) => searchesFor(key)),
    ...[...nameKeys].flatMap((key) => searchesFor(key, Infinity)),
    ...fields.flatMap((each) => fieldFilters(each, filterable)),
    ...[...statuses].flatMap((status) => [
      ...whole ? [{ ...everyone, status }] : [],
      ...[...emailKeys].flatMap((key) => searchesFor(key).map((filter) => ({ ...filter, status })))
    ])
  ]
  const hasUsers = calls.some(([method]) => USER_WRITERS.includes(method))
  const hasKeys = calls.some(([method]) => method.includes('ApiKey'))
  return [
    ...[...ids].map((id) => ['findUser', id] as const),
    ...filters.map((filter) => ['listUsers', filter, page('asc')] as const),
    ...whole && hasUsers ? ORDERS.map((order) => ['listUsers', everyone, page(order)] as const) : [],
    ...[...deleted].map((id) => ['findDeletedUser', id] as const),
    ...whole && deleted.size > 0 ? [['listDeletedUsers', { offset: 0, limit: 50 }] as const] : [],
    ...[...keyIds].map((id) => ['findApiKey', { id }] as const),
    ...[...starts].map((start) => ['findApiKey', { start }] as const),
    ...whole && hasKeys ? ORDERS.map((order) => ['listApiKeys', page(order)] as const) : []
  ]
}

/**
 * Makes calls one after the other, on the store and on the model. Each must have the same outcome, and after each all
 * that the calls so far have named must be the same everywhere: so a change is seen everywhere, and a refusal changes
 * nothing. `recent`: only what the last so many calls have named.
 */
export async function play (
  storage: KitStorage,
  model: Model,
  calls: ReadonlyArray<CallOf<Writer | Reader>>,
  { filterable = [], recent = 8 }: { filterable?: readonly string[], recent?: number } = {}
): Promise<void> {
  for (const [i, call] of calls.entries()) {
    const before = calls.slice(0, i)
    requireOutcome(await outcomeOf(storage, call), await outcomeOf(model, call), call, before)
    const readers = readersOf(calls.slice(Math.max(0, i + 1 - recent), i + 1), { filterable })
    const results = await Promise.all(readers.map((reader) => outcomeOf(storage, reader)))
    for (const [n, reader] of readers.entries()) {
      const expected = await outcomeOf(model, reader)
      requireOutcome(results[n] ?? { refused: 'nothing' }, expected, reader, [...before, call])
    }
  }
}
