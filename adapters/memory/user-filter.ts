import { isAskedUser } from '../../lib/storage/selection.ts'
import { wordsOfUser } from '../../lib/storage/storage-rules.ts'
import type { UserFilter, UserStatus, Words } from '../../lib/storage/storage.ts'
import type { FieldIndex } from './field-index.ts'
import { type Positions, positionsOf } from './positions.ts'
import type { PrefixIndex } from './prefix-index.ts'
import type { UserEntry } from './user-entry.ts'

/** Who is in which group. */
export interface Memberships {
  isThere (id: string): boolean
  /** The ids of the users of a group. */
  of (group: string): Positions<string>
}

/** The indexes that filters use. */
export interface UserIndexes {
  /** Those with this e-mail key: at most one of each tenant. */
  byEmailKey (emailKey: string, tenant: string | undefined): Positions<UserEntry>
  byTenant (tenant: string): Positions<UserEntry>
  byStatus (status: UserStatus): Positions<UserEntry>
  /** Those of these ids who are there. */
  byIds (ids: readonly string[]): Positions<UserEntry>
  all (): UserEntry[]
  memberships: Memberships
  byWord: PrefixIndex<UserEntry>
  byField: FieldIndex<UserEntry>
}

function hasWords (entry: UserEntry, searched: Words): boolean {
  const words = wordsOfUser(entry)
  return searched.every((each) => words.some((word) => word.startsWith(each)))
}

/** The matches of the words of a search. */
function foundByWords (lists: ReadonlyArray<Words>, { byWord }: UserIndexes): Array<Positions<UserEntry>> {
  const found = lists.map((words) => words.map((word) => byWord.matching(word)))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const all = lists.flatMap((words, i) => {
    const [rarest] = (found[i] ?? []).sort((a, b) => a.size - b.size)
    return rarest === undefined ? [] : rarest.range(0, rarest.size).filter((entry) => hasWords(entry, words))
  })
  return [positionsOf([...new Set(all)].sort((a, b) => a.id < b.id ? -1 : 1))]
}

function byEmailKeys (
  keys: readonly string[], tenant: string | undefined, { byEmailKey }: UserIndexes
): Positions<UserEntry> {
  const found = [...new Set(keys)].map((key) => byEmailKey(key, tenant))
  return positionsOf(found.flatMap((each) => each.range(0, each.size)).sort((a, b) => a.id < b.id ? -1 : 1))
}

/** The users of a group, read as they are asked for. */
function ofGroup (group: string, { memberships, byIds }: UserIndexes): Positions<UserEntry> {
  const members = memberships.of(group)
  const entries = (ids: readonly string[]): UserEntry[] => {
    const found = byIds(ids)
    return found.range(0, found.size)
  }
  return {
    size: members.size,
    rank: (key) => members.rank(key),
    range: (start, count) => entries(members.range(start, count))
  }
}

/** The matches of each condition of a filter. */
function partsOf (
  { emailKey, words, fields, status, tenant, group, ids, emailKeys, anyOf = {} }: UserFilter,
  indexes: UserIndexes
): Array<Positions<UserEntry>> {
  const parts = Object.entries(fields).map(([name, value]) => indexes.byField.matching(name, value))
  for (const [name, values] of Object.entries(anyOf)) parts.push(indexes.byField.matchingAny(name, values))
  if (ids !== undefined) parts.push(indexes.byIds(ids))
  if (emailKeys !== undefined) parts.push(byEmailKeys(emailKeys, tenant, indexes))
  if (words !== null) parts.push(...foundByWords(words, indexes))
  if (emailKey !== null) parts.push(indexes.byEmailKey(emailKey, tenant))
  if (status !== undefined) parts.push(indexes.byStatus(status))
  if (tenant !== undefined) parts.push(indexes.byTenant(tenant))
  if (group !== undefined) parts.push(ofGroup(group, indexes))
  return parts
}

/**
 * The users that a filter matches; null if it has no condition. Of several conditions, the rarest is searched through.
 */
export function matching (filter: UserFilter, indexes: UserIndexes): Positions<UserEntry> | null {
  const { ranges = [], exists = {} } = filter
  // No index has these.
  const isBounded = ranges.length > 0 || Object.keys(exists).length > 0
  const parts = partsOf(filter, indexes).sort((a, b) => a.size - b.size)
  const [first = isBounded ? positionsOf(indexes.all()) : undefined, ...others] = parts
  if (first === undefined) return null
  if (others.length === 0 && !isBounded) return first
  const { memberships: { isThere } } = indexes
  return positionsOf(first.range(0, first.size).filter((entry) => isAskedUser(entry.record, entry, filter, isThere)))
}
