import type { Words } from '../../lib/storage/storage.ts'
import type { Reading } from './connection/executor.ts'
import { USER_WORDS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'

// So many of the oldest and of the newest users.
const SAMPLE = 200
const KEPT_MS = 10 * 60 * 1000
/** The part of the sample that has a common word at least, and a rare one at most. */
const COMMON = 1 / 20
const RARE = 1 / 200

/** The words of a search that the index finds, and those that are looked for in the rows that it has found. */
export interface SplitWords { indexed: Words, compared: Words }

/**
 * Splits the words of a search. Beside a rare word, the index would read all entries of one that every user has, such
 * as the domain of an address: 20 to 100 ms among a million users, where looking at the few rows takes one.
 */
export type WordSplitter = (reading: Reading, lists: readonly Words[]) => Promise<SplitWords[]>

/** Makes the splitter of a storage. It judges by a sample of the users, which decides only how they are found. */
export function wordSplitter ({ users }: Names): WordSplitter {
  let sample: readonly string[] = []
  let readAt = -Infinity

  async function read ({ read: ask }: Reading): Promise<void> {
    readAt = performance.now()
    const some = (order: string, name: string): string =>
      `SELECT words FROM (SELECT ${USER_WORDS} AS words FROM ${users} ORDER BY id ${order} LIMIT ${SAMPLE}) AS ${name}`
    const rows = await ask(`${some('ASC', 'oldest')} UNION ALL ${some('DESC', 'newest')}`)
    sample = rows.map(({ words }) => ` ${String(words)}`)
  }

  function split (words: Words): SplitWords {
    const shareOf = (word: string): number =>
      sample.filter((each) => each.includes(` ${word}`)).length / Math.max(1, sample.length)
    const shares = words.map((word) => ({ word, share: shareOf(word) }))
    if (!shares.some(({ share }) => share <= RARE)) return { indexed: words, compared: [] }
    const those = (isCommon: boolean): string[] =>
      shares.filter(({ share }) => (share >= COMMON) === isCommon).map(({ word }) => word)
    return { indexed: those(false), compared: those(true) }
  }

  return async (reading, lists) => {
    if (lists.every(({ length }) => length < 2)) return lists.map((indexed) => ({ indexed, compared: [] }))
    if (performance.now() - readAt > KEPT_MS) await read(reading)
    return lists.map(split)
  }
}
