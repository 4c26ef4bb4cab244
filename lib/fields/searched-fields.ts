import { type FilteredField, type SearchedField, wordsOfFields } from '../storage/searched-words.ts'
import type { Searchable } from '../storage/storage.ts'

/** The options that name fields which users are found by. */
export interface FoundBy {
  filterable: readonly FilteredField[]
  unique: readonly string[]
  searchable?: readonly SearchedField[]
}

/** True if a search may be such a number. */
export function searchesNumbers (searched: readonly SearchedField[]): boolean {
  return searched.some(({ match }) => match === 'digits')
}

/** What a storage needs to find users by the fields that these options name; null: nothing. */
export function searchableOf ({ filterable = [], searchable = [] }: Partial<FoundBy>): Searchable | null {
  const folded = filterable.flatMap(({ field, match }) => match === 'folded' ? [{ field, match }] : [])
  return folded.length + searchable.length === 0 ? null : wordsOfFields([...folded, ...searchable])
}
