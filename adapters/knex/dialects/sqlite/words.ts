import { WORD_COLUMNS } from '../../tables/columns.ts'
import type { WordsSql } from '../words-sql.ts'

/** The words of a row in a trigger. */
const wordsOf = (row: 'NEW' | 'OLD'): string => WORD_COLUMNS.map((column) => `${row}.${column}`).join(" || ' ' || ")

/**
 * An index of SQLite's own text search, FTS5, that triggers keep: so it also has what plain SQL writes. It keeps no
 * text and no places in it. The tokenizer `ascii` takes every character beyond ASCII as part of a word. Beginnings of 2
 * to 4 letters have entries of their own: a common one is read 10 times as fast, and creations cost the same.
 */
export const sqliteWords: WordsSql = {
  // VACUUM keeps the numbers of rows only if a column has them.
  userNumber: 'number integer PRIMARY KEY,\n        ',
  create ({ users, userWords, quoted }) {
    const table = userWords
    const add = `INSERT INTO ${table} (rowid, words) VALUES (NEW.number, ${wordsOf('NEW')});`
    const remove = `INSERT INTO ${table} (${table}, rowid, words) VALUES ('delete', OLD.number, ${wordsOf('OLD')});`
    return [
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
  drop: ({ userWords }) => [`DROP TABLE ${userWords}`],
  has: ({ userWords }) => `number IN (SELECT rowid FROM ${userWords} WHERE ${userWords} MATCH ?)`,
  numbers: ({ userWords }) => `SELECT rowid AS number FROM ${userWords} WHERE ${userWords} MATCH ?`,
  query: (lists) => lists.map((words) => `(${words.map((word) => `"${word}" *`).join(' AND ')})`).join(' OR ')
}
