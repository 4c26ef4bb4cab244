import { setImmediate } from 'node:timers/promises'
import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import { searchableOfKey } from '../../../lib/storage/searched-words.ts'
import type { Searchable } from '../../../lib/storage/storage.ts'
import type { Executor, Query } from '../connection/executor.ts'
import type { TypedColumn } from '../dialects/batch-sql.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { WORD_LIST } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { toJson, wordsText } from '../tables/rows.ts'
import { markInForce, markOf } from './word-list.ts'
import { readRecord } from './recorded-schema.ts'

const COLUMNS: readonly TypedColumn[] = ['id', 'field_words', WORD_LIST, 'fields'].map((name) => [name, 'text'])

/** Records what users are found by. Every write after the commit has the words of it, in any process. */
export async function recordList (
  query: Query,
  { p, transaction: { lockWriters } }: Dialect,
  names: Names,
  key: string
): Promise<void> {
  // The writes before have the words of the list before: they end first, so that their users are read below.
  if (lockWriters !== null) await query(lockWriters(names))
  await query(`UPDATE ${names.migrations} SET searchable = ${p(1)}, ${WORD_LIST} = ${p(2)}`, [key, markOf(key)])
}

/**
 * Makes the words of users anew, a part at a time, so that no write waits for long and a run that ends early goes on
 * later. `which`: of all users, or of those alone whose words are of another list.
 */
export async function makeFieldWords (
  { query, transaction, dialect: { p, limit, usersBy, batch, jsonText } }: Executor,
  names: Names,
  { key, wordsOf }: Searchable,
  which: 'all' | 'others'
): Promise<void> {
  const mark = markOf(key)
  const others = which === 'others' ? ` AND ${WORD_LIST} <> ${p(3)}` : ''
  const read = `SELECT id, ${jsonText('fields')} AS fields FROM ${names.users} WHERE id > ${p(1)}${others} ` +
    `ORDER BY id LIMIT ${limit(2)}`
  // Fields that a write has changed meanwhile have their words from it.
  const write = `UPDATE ${usersBy('id', names)} SET field_words = q_field_words, ` +
    `${WORD_LIST} = ${markInForce(names, `q_${WORD_LIST}`)} FROM ${batch.rows(COLUMNS)} WHERE id = q_id` +
    `${batch.idCondition} AND ${jsonText('fields')} = q_fields ` +
    `AND (field_words <> q_field_words OR ${WORD_LIST} <> q_${WORD_LIST})`
  let after = ''
  while (true) {
    const rows = await query(read, [after, READ_PART_MAX, ...others === '' ? [] : [mark]])
    const last = rows.at(-1)
    if (last === undefined) break
    const values = rows.map(({ id, fields }) =>
      [String(id), wordsText(wordsOf(Object(toJson(fields)))), mark, String(fields)])
    await transaction((on) => on(write, batch.values(values)), { noTimeout: true })
    after = String(last['id'])
    // SQLite's drivers block the event loop.
    await setImmediate()
  }
  await query(`UPDATE ${names.migrations} SET words_made = ${p(1)} WHERE ${WORD_LIST} = ${p(1)}`, [mark])
}

/** What `check` finds, and mends, of the words of fields. */
export function fieldWords (executor: Executor, names: Names) {
  const { query, dialect } = executor
  return {
    async verifyWords () {
      const [row] = await query(`SELECT count(*) AS users FROM ${names.users} ` +
        `WHERE ${WORD_LIST} <> (SELECT max(${WORD_LIST}) FROM ${names.migrations})`)
      return Number(row?.['users'])
    },
    async rebuildWords () {
      const { searchable = '' } = await readRecord(query, dialect, names) ?? {}
      const list = searchableOfKey(searchable)
      if (list !== null) await makeFieldWords(executor, names, list, 'all')
    }
  }
}
