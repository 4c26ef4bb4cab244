import { createHash } from 'node:crypto'
import { searchableOfKey } from '../../../lib/storage/searched-words.ts'
import type { JsonObject, Searchable, Words } from '../../../lib/storage/storage.ts'
import type { Query } from '../connection/executor.ts'
import { WORD_LIST } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { wordsText } from '../tables/rows.ts'

// Several processes share the list of fields that users are found by, and the tables have it. A user is written only
// with words of that list: a process that was started with another one takes it up.

/** The words of the fields of a user, and the mark of the list that they are of, as columns have them. */
/** `words`: null if only the caller knows them, and has not given them. */
export interface ListedWords { words: string | null, list: string }

export interface WordList {
  /** Notes the key that the tables have. */
  note (key: string): void
  isKnown (): boolean
  /** Reads it, unless it is known. */
  know (query: Query): Promise<void>
  /** Reads it again, since another process has changed it. */
  read (query: Query): Promise<void>
  /** Of a user with these fields. `given`: the words that the caller has made, for a key that only callers know. */
  wordsOf (fields: JsonObject, given: Words | undefined): ListedWords
}

/** What processes must agree on of the fields of users. */
export interface FieldLists {
  /** Those that are unique. */
  unique: Set<string>
  words: WordList
}

export const fieldLists = (names: Names): FieldLists => ({ unique: new Set(), words: createWordList(names) })

/** The mark of a list, which is shorter than its key. */
export function markOf (key: string): string {
  return key === '' ? '' : createHash('sha256').update(key).digest('hex').slice(0, 12)
}

/** A given mark; NULL, which the column refuses, if the tables have another list. */
export const markInForce = ({ migrations }: Names, given: string): string =>
  `CASE WHEN EXISTS (SELECT 1 FROM ${migrations} WHERE ${WORD_LIST} = ${given}) THEN ${given} END`

function createWordList ({ migrations }: Names): WordList {
  let known: { mark: string, searchable: Searchable | null } | null = null

  function note (key: string): void {
    known = { mark: markOf(key), searchable: key === '' ? null : searchableOfKey(key) }
  }

  async function read (query: Query): Promise<void> {
    const [row] = await query(`SELECT searchable FROM ${migrations} ORDER BY version DESC LIMIT 1`)
    note(String(row?.['searchable'] ?? ''))
  }

  return {
    note,
    read,
    isKnown: () => known !== null,
    async know (query) {
      if (known === null) await read(query)
    },
    wordsOf (fields, given) {
      const { mark = '', searchable = null } = known ?? {}
      const all = searchable?.wordsOf(fields) ?? given
      return { words: all === undefined ? null : wordsText(all), list: mark }
    }
  }
}
