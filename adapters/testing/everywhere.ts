import type { Json, PageRequest, Storage, UserFilter } from '../../lib/core/storage.ts'
import { type Call, type CallOf, outcomeOf, type Reader, requireOutcome, type Writer } from './calls.ts'
import type { Model } from './model.ts'
import { everyone } from './values.ts'

/** The fields that the kit filters by. */
export const FILTERABLE = ['plan', 'seats', 'active'] as const

const ORDERS = ['asc', 'desc'] as const
const page = (order: PageRequest['order'], limit = 50): PageRequest => ({ order, limit, from: { offset: 0 } })

function isFilterValue (value: Json | undefined): value is string | number | boolean {
  return value !== undefined && (value === null || typeof value !== 'object') && value !== null
}

/** The filters that find users with these fields. */
function fieldFilters (fields: Readonly<Record<string, Json>>, filterable: readonly string[]): UserFilter[] {
  return filterable.flatMap((name) => {
    const value = fields[name]
    return isFilterValue(value) ? [{ ...everyone, fields: { [name]: value } }] : []
  })
}

/** What a call names: by these a record is found before and after it. */
interface Named {
  ids: string[]
  emailKeys: string[]
  nameKeys: string[]
  fields: Array<Readonly<Record<string, Json>>>
  keyIds: string[]
  starts: string[]
}

function namedBy (call: Call): Named {
  const named: Named = { ids: [], emailKeys: [], nameKeys: [], fields: [], keyIds: [], starts: [] }
  switch (call[0]) {
    case 'createUser': {
      const [, { id, fields }, { emailKey, nameKey }] = call
      return { ...named, ids: [id], emailKeys: [emailKey], nameKeys: [nameKey], fields: [fields] }
    }
    case 'updateUser': {
      const [, id, { name, email, fields }] = call
      return {
        ...named,
        ids: [id],
        emailKeys: email === undefined ? [] : [email.key],
        nameKeys: name === undefined ? [] : [name.key],
        fields: fields === undefined ? [] : [fields]
      }
    }
    case 'deleteUser': return { ...named, ids: [call[1]] }
    case 'createApiKey': return { ...named, keyIds: [call[1].id], starts: [call[1].start] }
    case 'rotateApiKey': return { ...named, keyIds: [call[1], call[2].id], starts: [call[2].start] }
    case 'revokeApiKey':
    case 'touchApiKey': return { ...named, keyIds: [call[1]] }
    default: return named
  }
}

const USER_WRITERS: readonly string[] = ['createUser', 'updateUser', 'deleteUser', 'pruneIdempotency']

/**
 * Every way to read what some calls have named: by id, address, start of the name, fields, and in lists with their
 * totals. `whole`: lists of all records too, for stores that have no others.
 */
export function readersOf (
  calls: readonly Call[],
  { filterable = [], whole = true }: { filterable?: readonly string[], whole?: boolean } = {}
): Array<CallOf<Reader>> {
  const every = calls.map(namedBy)
  const of = <Name extends keyof Named>(name: Name) => every.flatMap((named): unknown[] => named[name])
  const texts = (name: 'ids' | 'emailKeys' | 'nameKeys' | 'keyIds' | 'starts') => new Set(of(name).map(String))
  const filters: UserFilter[] = [
    ...[...texts('emailKeys')].map((emailKey) => ({ ...everyone, emailKey })),
    ...[...texts('emailKeys'), ...texts('nameKeys')].map((prefix) => ({ ...everyone, prefix })),
    ...every.flatMap(({ fields }) => fields).flatMap((fields) => fieldFilters(fields, filterable))
  ]
  const hasUsers = calls.some(([method]) => USER_WRITERS.includes(method))
  const hasKeys = calls.some(([method]) => method.includes('ApiKey'))
  return [
    ...[...texts('ids')].map((id) => ['findUser', id] as const),
    ...filters.map((filter) => ['listUsers', filter, page('asc')] as const),
    ...whole && hasUsers ? ORDERS.map((order) => ['listUsers', everyone, page(order)] as const) : [],
    ...[...texts('keyIds')].map((id) => ['findApiKey', id] as const),
    ...[...texts('starts')].map((start) => ['findApiKeyByStart', start] as const),
    ...whole && hasKeys ? ORDERS.map((order) => ['listApiKeys', page(order)] as const) : []
  ]
}

/**
 * Makes calls one after the other, on the store and on the model. Each must have the same outcome, and after each all
 * that the calls so far have named must be the same everywhere: so a change is seen everywhere, and a refusal changes
 * nothing. `recent`: only what the last so many calls have named.
 */
export async function play (
  storage: Storage,
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
