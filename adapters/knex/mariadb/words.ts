// The condition of a search by words.

import type { Words } from '../../../lib/storage/storage.ts'
import { allOf, type Sql, sqlOf } from './sql.ts'

// All words have at most 64 code points, so no word with this beginning is greater.
const LAST = '\u{10ffff}'.repeat(64)

/** The condition of a search: in one of these lists, each word begins a word of the user. `table`: has all words. */
export function anyWords (table: string, lists: readonly Words[]): Sql {
  const hasOneOf = (words: Words): Sql => sqlOf(
    `u.id IN (SELECT w.id FROM ${table} AS w WHERE ${words.map(() => '(w.word >= ? AND w.word <= ?)').join(' OR ')})`,
    ...words.flatMap((word) => [word, `${word}${LAST}`]))
  // Lists that differ in the last word, as of a filter with many values, are one: hundreds are planned for seconds.
  const groups = new Map<string, { first: Words, last: string[] }>()
  for (const list of lists) {
    const first = list.slice(0, -1)
    const group = groups.get(JSON.stringify(first)) ?? { first, last: [] }
    group.last.push(...list.slice(-1))
    groups.set(JSON.stringify(first), group)
  }
  const each = Array.from(groups.values(), ({ first, last }) =>
    allOf([...first.map((word) => hasOneOf([word])), hasOneOf(last)]))
  return { sql: `(${each.map(({ sql }) => sql).join(' OR ')})`, values: each.flatMap(({ values }) => values) }
}
