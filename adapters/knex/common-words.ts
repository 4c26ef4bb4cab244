import { firstIdAt, timeOfId } from '../../lib/core/ids.ts'
import type { Words } from '../../lib/storage/storage.ts'
import type { Reading } from './connection/executor.ts'
import { USER_WORDS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'

// So many of the oldest and of the newest users, and of those from some times between.
const AT_ENDS = 100
const TIMES = 10
const AT_A_TIME = 20
// Own fields can have many words.
const LENGTH_MAX = 400
const KEPT_MS = 10 * 60 * 1000
// For a sample of few users, who may soon be more.
const KEPT_SHORT_MS = 10 * 1000
/**
 * The part of the sample that has a common word at least, and a rare one at most. The index of PostgreSQL reads all
 * entries of a beginning: 20 ms for a word that a twentieth of a million users has.
 */
const COMMON = 1 / 100
const RARE = 1 / 200

/** The words of a search that the index finds, and those that are looked for in the rows that it has found. */
export interface SplitWords { indexed: Words, compared: Words }

/**
 * Splits the words of a search. Beside a rare word, the index would read all entries of one that every user has, such
 * as the domain of an address: 20 to 100 ms among a million users, where looking at the few rows takes one. The words
 * of several lists are left to the index: each would be a condition of its own.
 */
export type WordSplitter = (reading: Reading, lists: readonly Words[]) => Promise<SplitWords[]>

/** Makes the splitter of a storage. It judges by a sample of the users, which decides only how they are found. */
export function wordSplitter ({ users }: Names): WordSplitter {
  let sample: readonly string[] = []
  let keptUntil = -Infinity

  async function read ({ read: ask, dialect }: Reading): Promise<void> {
    // Searches that come meanwhile use the last sample, and so do all for ten seconds if this fails.
    keptUntil = performance.now() + KEPT_SHORT_MS
    const some = (rest: string, limit: number, i: number): string =>
      `SELECT * FROM (SELECT id, ${USER_WORDS} AS words FROM ${users} ${rest} LIMIT ${limit}) AS part_${i}`
    const ends = ['ORDER BY id ASC', 'ORDER BY id DESC'].map((rest, i) => some(rest, AT_ENDS, i))
    let rows = await ask(ends.join(' UNION ALL '))
    if (rows.length === 2 * AT_ENDS) {
      const ids = rows.map(({ id }) => String(id)).sort()
      const [first, last] = [timeOfId(String(ids[0])), timeOfId(String(ids.at(-1)))]
      const times = Array.from({ length: TIMES }, (_, i) => first + Math.floor((last - first) * (i + 1) / (TIMES + 1)))
      const parts = times.map((_, i) => some(`WHERE id >= ${dialect.p(i + 1)} ORDER BY id`, AT_A_TIME, i))
      rows = [...rows, ...await ask(parts.join(' UNION ALL '), times.map((time) => firstIdAt('usr', time)))]
    }
    const byId = new Map(rows.map(({ id, words }) => [id, ` ${String(words).slice(0, LENGTH_MAX)}`]))
    sample = [...byId.values()]
    if (sample.length > 2 * AT_ENDS) keptUntil = performance.now() + KEPT_MS
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
    const [words = []] = lists
    if (lists.length !== 1 || words.length < 2) return lists.map((indexed) => ({ indexed, compared: [] }))
    if (performance.now() > keptUntil) await read(reading)
    return [split(words)]
  }
}
