import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { API_KEY_ID } from '../core/ids.ts'
import {
  type Page, type PageRequest, type PageSize, pagingParameters, type PagingQuery, readPaging
} from '../core/paging.ts'
import { type Parameter, parameterFaults, searchParameter } from '../core/parameters.ts'
import { isStorable } from '../core/text.ts'
import { searchedWords, wordsOf } from '../core/words.ts'
import type { Repository } from '../storage/repository.ts'
import type { ApiKeyRecord } from '../storage/storage.ts'
import { KEY_START } from './key-text.ts'

/** Parameters of a list of keys, in process. What is given must all hold. */
export interface KeyListQuery extends PagingQuery {
  /** Only the key with this `start`. */
  start?: string
  /** Only keys with exactly this owner. */
  owner?: string
  /** Only keys for which each word given here begins a word of the name, the owner, the `start` or the id. */
  q?: string
}

const start: Parameter = {
  schema: {
    type: 'string',
    pattern: KEY_START.source,
    description: 'Only the key with this `start`. Never send a complete key.'
  },
  problem: (value) => typeof value === 'string' && KEY_START.test(value)
    ? null
    : { code: 'format', detail: 'must be the start of a key, as its record has it' }
}

const owner: Parameter = {
  schema: { type: 'string', minLength: 1, description: 'Only keys with exactly this `owner`.' },
  problem: (value) => typeof value === 'string' && value !== '' && isStorable(value)
    ? null
    : { code: 'format', detail: 'must be the owner of keys' }
}

const q = searchParameter('Only keys for which each word given here begins a word of name, owner, `start` ' +
  'or id. Order, case and accents do not matter.')

/** Declares the parameters of a list of keys. */
export const keyListParameters = (size: PageSize) => ({ ...pagingParameters(size, API_KEY_ID), start, owner, q })

type KeyFilter = Pick<KeyListQuery, 'start' | 'owner' | 'q'>

/** Returns the check of a key list's parameters. */
export function keyListQueryCheck (size: PageSize) {
  const declared = keyListParameters(size)
  /** @throws UsersError `validation_failed` that names the prior faults, then every faulty parameter */
  return (query: Readonly<Record<string, unknown>>, priorFaults: readonly Fault[]) => {
    const faults = [...priorFaults, ...parameterFaults(declared, query)]
    const paging = readPaging(query, size, faults)
    if (faults.length > 0) throw validationFailed(faults)
    const { start, owner, q } = query
    const filter: KeyFilter = {
      ...(typeof start === 'string' && { start }),
      ...(typeof owner === 'string' && { owner }),
      ...(typeof q === 'string' && { q })
    }
    return { paging, filter }
  }
}

/** Records that are read from the storage in one step. */
const STEP = 1000

/** All keys, oldest first, or the one with a start. */
async function * read (
  keys: Repository['apiKeys'], { start }: KeyFilter, of: { tenant?: string }
): AsyncGenerator<ApiKeyRecord[], void, undefined> {
  if (start !== undefined) {
    const key = await keys.find({ start }, of.tenant)
    if (key !== null) yield [key]
    return
  }
  let from: PageRequest['from'] = { offset: 0 }
  for (;;) {
    const { items } = await keys.list({ order: 'asc', limit: STEP, from, ...of })
    yield items
    const last = items.at(-1)
    if (last === undefined || items.length < STEP) return
    from = { after: last.id }
  }
}

/** Makes the function that says whether a key is meant. */
function matcher ({ owner, q }: KeyFilter): (key: ApiKeyRecord) => boolean {
  const [searched = []] = q === undefined ? [] : searchedWords(q, false)
  return (key) => {
    if (owner !== undefined && key.owner !== owner) return false
    if (searched.length === 0) return true
    const words = wordsOf([key.name, key.owner ?? '', key.start, key.id].join(' '))
    return searched.every((each) => words.some((word) => word.startsWith(each)))
  }
}

/**
 * Returns a page of the keys that a filter means, with their exact number. A storage lists all keys alone, so that a
 * filter reads each of them, but for a `start`, which is looked up.
 */
export async function filteredKeys (
  apiKeys: Repository['apiKeys'],
  filter: KeyFilter,
  { order, limit, from }: PageRequest,
  tenant: string | undefined
): Promise<Page<ApiKeyRecord>> {
  const of = tenant === undefined ? {} : { tenant }
  if (Object.keys(filter).length === 0) return apiKeys.list({ order, limit, from, ...of })
  const isMeant = matcher(filter)
  const found: ApiKeyRecord[] = []
  for await (const keys of read(apiKeys, filter, of)) found.push(...keys.filter(isMeant))
  if (order === 'desc') found.reverse()
  const rest = 'offset' in from
    ? found.slice(from.offset)
    : found.filter(({ id }) => order === 'asc' ? id > from.after : id < from.after)
  return { items: rest.slice(0, limit), total: found.length }
}
