import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import type { Searchable } from '../../../lib/storage/storage.ts'
import type { Query } from '../connection/executor.ts'
import type { Dialect, TypedColumn } from '../dialects/dialect.ts'
import type { Names } from '../tables/names.ts'
import { toJson, wordsText } from '../tables/rows.ts'

const COLUMNS: readonly TypedColumn[] = [['id', 'text'], ['field_words', 'text']]

/** Makes the words of the fields of all users anew, in the transaction that records what they are of. */
export async function makeFieldWords (
  query: Query,
  { p, limit, usersBy, batch, jsonText }: Dialect,
  names: Names,
  { key, wordsOf }: Searchable
): Promise<void> {
  const read = `SELECT id, ${jsonText('fields')} AS fields FROM ${names.users} WHERE id > ${p(1)} ` +
    `ORDER BY id LIMIT ${limit(2)}`
  const write = `UPDATE ${usersBy('id', names)} SET field_words = q_field_words FROM ${batch.rows(COLUMNS)} ` +
    `WHERE id = q_id${batch.idCondition} AND field_words <> q_field_words`
  let after = ''
  while (true) {
    const rows = await query(read, [after, READ_PART_MAX])
    const last = rows.at(-1)
    if (last === undefined) break
    const values = rows.map((row) => [String(row['id']), wordsText(wordsOf(Object(toJson(row['fields']))))])
    await query(write, batch.values(values))
    after = String(last['id'])
  }
  await query(`UPDATE ${names.migrations} SET searchable = ${p(1)}`, [key])
}
