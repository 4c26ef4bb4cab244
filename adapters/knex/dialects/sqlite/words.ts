import { WORD_COLUMNS } from '../../tables/columns.ts'
import type { Names } from '../../tables/names.ts'
import type { WordsSql } from '../words-sql.ts'

/** The words of a row in a trigger. */
const wordsOf = (row: 'NEW' | 'OLD'): string => WORD_COLUMNS.map((column) => `${row}.${column}`).join(" || ' ' || ")

// Pages that a step writes: some 5 ms, and 30 ms at most, with 500,000 users.
const PAGES_PER_STEP = 8

/** One row while the index has words that were removed. `merging`: no word was removed since a merge began. */
const removalsOf = ({ quoted }: Names): string => quoted('word_removals')

/**
 * An index of SQLite's own text search, FTS5, that triggers keep: so it also has what plain SQL writes. It keeps no
 * text and no places in it. The tokenizer `ascii` takes every character beyond ASCII as part of a word. Beginnings of 2
 * to 4 letters have entries of their own: a common one is read 10 times as fast, and creations cost the same.
 *
 * A removal writes only a mark beside the words, and they stay in the file, VACUUM or not, until all parts of the index
 * are merged into one. FTS5 could take them out immediately (`secure-delete`): then 100 deletions a second instead of
 * 4,000, with 100,000 users.
 */
export const sqliteWords: WordsSql = {
  // VACUUM keeps the numbers of rows only if a column has them.
  userNumber: 'number integer PRIMARY KEY,\n        ',
  create (names) {
    const { users, userWords, quoted } = names
    const table = userWords
    const removals = removalsOf(names)
    const add = `INSERT INTO ${table} (rowid, words) VALUES (NEW.number, ${wordsOf('NEW')});`
    const remove = `INSERT INTO ${table} (${table}, rowid, words) VALUES ('delete', OLD.number, ${wordsOf('OLD')});
        INSERT INTO ${removals} (singleton, merging) VALUES (1, 0)
          ON CONFLICT (singleton) DO UPDATE SET merging = 0 WHERE merging = 1;`
    return [
      `CREATE TABLE ${removals} (
        singleton integer NOT NULL CONSTRAINT ${quoted('word_removals_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('word_removals_singleton')} CHECK (singleton = 1),
        merging integer NOT NULL
      )`,
      `CREATE VIRTUAL TABLE ${table} USING fts5 (words, content = '', columnsize = 0, detail = none, ` +
        "prefix = '2 3 4', tokenize = 'ascii')",
      `CREATE TRIGGER ${quoted('user_words_insert')} AFTER INSERT ON ${users} BEGIN
        ${add}
      END`,
      `CREATE TRIGGER ${quoted('user_words_delete')} AFTER DELETE ON ${users} BEGIN
        ${remove}
      END`,
      `CREATE TRIGGER ${quoted('user_words_update')} AFTER UPDATE OF ${WORD_COLUMNS.join(', ')} ON ${users}
        WHEN ${wordsOf('OLD')} <> ${wordsOf('NEW')} BEGIN
        ${remove}
        ${add}
      END`
    ]
  },
  drop: (names) => [`DROP TABLE ${names.userWords}`, `DROP TABLE ${removalsOf(names)}`],
  removals (names) {
    const { userWords } = names
    // A negative number of pages: all parts into one.
    const merge = (pages: number) => `INSERT INTO ${userWords} (${userWords}, rank) VALUES ('merge', ${pages})`
    return {
      note: `UPDATE ${removalsOf(names)} SET merging = 1 RETURNING singleton`,
      steps: [merge(-PAGES_PER_STEP), merge(PAGES_PER_STEP)],
      written: 'SELECT total_changes() AS written',
      done: `DELETE FROM ${removalsOf(names)} WHERE merging = 1`
    }
  },
  has: ({ userWords }) => `number IN (SELECT rowid FROM ${userWords} WHERE ${userWords} MATCH ?)`,
  numbers: ({ userWords }) => `SELECT rowid AS number FROM ${userWords} WHERE ${userWords} MATCH ?`,
  query: (lists) => lists.map((words) => `(${words.map((word) => `"${word}" *`).join(' AND ')})`).join(' OR ')
}
