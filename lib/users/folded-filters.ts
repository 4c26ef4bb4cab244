import { validationFailed } from '../core/errors.ts'
import { foldedWord } from '../storage/searched-words.ts'
import type { UserFilter, Words } from '../storage/storage.ts'
import { LISTED_MAX } from './list-filters.ts'

// Words of all searches together: each search has those of `q` too.
const WORDS_MAX = 5 * LISTED_MAX

/** The members of a record without some. */
function without<Value> (record: Readonly<Record<string, Value>>, names: ReadonlySet<string>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)))
}

/**
 * The same filter, with the values of folded fields as words: users with the same text have the same word, whatever its
 * case and accents.
 * @throws UsersError `validation_failed` if lists of values make too many searches
 */
export function withFolded (filter: UserFilter, folded: ReadonlySet<string>): UserFilter {
  const { fields, anyOf = {} } = filter
  const wanted = [...Object.entries(fields).map(([name, value]) => [name, [value]] as const), ...Object.entries(anyOf)]
  const asWords = wanted.filter(([name]) => folded.has(name))
  if (asWords.length === 0) return filter
  let lists: readonly Words[] = filter.words ?? [[]]
  for (const [name, values] of asWords) {
    const words = [...new Set(values.map((value) => foldedWord(name, String(value))))]
    const combinations = words.length * lists.length
    const longest = Math.max(...lists.map((list) => list.length + 1))
    if (words.length > 1 && (combinations > 2 * LISTED_MAX || combinations * longest > WORDS_MAX)) {
      const detail = 'has too many values together with q and the other lists: at most ' +
        `${LISTED_MAX} combinations with ${WORDS_MAX} words in all are searched`
      throw validationFailed([{ parameter: `${name}[in]`, code: 'too_long', detail }])
    }
    lists = words.flatMap((word) => lists.map((list) => [...list, word]))
  }
  const { anyOf: _, ...others } = filter
  const compared = without(anyOf, folded)
  return {
    ...others, ...Object.keys(compared).length > 0 && { anyOf: compared }, fields: without(fields, folded), words: lists
  }
}
