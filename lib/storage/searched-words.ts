import { hash } from 'node:crypto'
import { fold } from '../core/search-key.ts'
import { digitWords, wordsOf, wordsOfAll } from '../core/words.ts'
import type { Json, JsonObject, Searchable } from './storage.ts'

/** A field that users are found by. `digits`: it is a number that people write with blanks and signs. */
export interface SearchedField { field: string, match: 'words' | 'digits' }

/** A field that lists are filtered by. `folded`: its texts are compared without their case and accents. */
export interface FilteredField { field: string, match: 'exact' | 'folded' }

/** A field that users have words of. */
type FieldOfWords = SearchedField | FilteredField & { match: 'folded' }

/** The fields that a key of {@link wordsOfFields} is of. */
function fieldsIn (key: string): FieldOfWords[] {
  const listed: Array<[string, FieldOfWords['match']]> = JSON.parse(`[${key}]`)
  return listed.map(([field, match]) => ({ field, match }))
}

/** The texts and numbers in a value. */
function textsIn (value: Json | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/**
 * The word of a user whose field has this text, whatever its case and accents. No word of a search begins with an `ß`:
 * folding makes `ss` of it. All such words have one length, so that none begins another.
 */
export function foldedWord (field: string, text: string): string {
  return `ß${hash('sha256', JSON.stringify([field, fold(text)])).slice(0, 40)}`
}

function wordsOfField ({ field, match }: FieldOfWords, value: Json | undefined): string[][] {
  if (match === 'folded') return typeof value === 'string' ? [[foldedWord(field, value)]] : []
  return textsIn(value).map(match === 'digits' ? digitWords : wordsOf)
}

/** What a storage needs to find users by these fields. */
export function wordsOfFields (searched: readonly FieldOfWords[]): Searchable {
  const inOrder = [...searched].sort((a, b) => Number(b.match === 'folded') - Number(a.match === 'folded'))
  return {
    key: searched.map(({ field, match }) => JSON.stringify([field, match])).sort().join(),
    // First those of filters: a user has at most so many words.
    wordsOf: (fields: JsonObject) => wordsOfAll(inOrder.flatMap((each) =>
      wordsOfField(each, Object.hasOwn(fields, each.field) ? fields[each.field] : undefined)))
  }
}

/** What finds users by the fields of a key of {@link wordsOfFields}; null: a caller has made another kind of key. */
export function searchableOfKey (key: string): Searchable | null {
  try {
    return wordsOfFields(fieldsIn(key))
  } catch {
    return null
  }
}
