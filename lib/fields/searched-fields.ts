import { digitWords, wordsOf, wordsOfAll } from '../core/words.ts'
import type { Json, JsonObject, Searchable } from '../storage/storage.ts'

/** A field that users are found by. `digits`: it is a number that people write with blanks and signs. */
export interface SearchedField { field: string, match: 'words' | 'digits' }

/** True if a search may be such a number. */
export function searchesNumbers (searched: readonly SearchedField[]): boolean {
  return searched.some(({ match }) => match === 'digits')
}

/** The fields that a key of {@link searchableOf} is of. */
export function searchedIn (key: string): SearchedField[] {
  const listed: Array<[string, SearchedField['match']]> = JSON.parse(`[${key}]`)
  return listed.map(([field, match]) => ({ field, match }))
}

/** The texts and numbers in a value. */
function textsIn (value: Json | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** What a storage needs to find users by these fields. */
export function searchableOf (searched: readonly SearchedField[]): Searchable {
  return {
    key: searched.map(({ field, match }) => JSON.stringify([field, match])).sort().join(),
    wordsOf: (fields: JsonObject) => wordsOfAll(searched.flatMap(({ field, match }) => {
      const texts = Object.hasOwn(fields, field) ? textsIn(fields[field]) : []
      return texts.map(match === 'digits' ? digitWords : wordsOf)
    }))
  }
}
