import type { Storage } from '../lib/storage/storage.ts'
import { NO_FIELDS } from '../lib/fields/fields-schema.ts'
import { readMapping } from './adopt-mapping.ts'
import { missesChanges } from './adopt-since.ts'
import { readTable } from './adopt-source.ts'
import { fieldsOfOptions, type ImportingOptions, importUsers } from './importing.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'
import { createRefusals } from './refusals.ts'
import { openSource } from './source-database.ts'

/** Options of an adoption. */
export interface AdoptOptions extends ImportingOptions {
  /** The database of the table; by default that of the users. */
  from?: string
  table: string
  map: string
  key: string
  where?: string
  after?: string
  since?: string
}

/** Takes the rows of a table in as users. @throws UsageError, Refusal, UsersError */
export async function adoptTable (
  storage: Storage,
  output: Output,
  url: string,
  { from = url, table, map, key, where, after, since, ...options }: AdoptOptions
): Promise<void> {
  const fields = await fieldsOfOptions(storage, options)
  const mapping = readMapping(map, fields?.schema ?? NO_FIELDS)
  const source = openSource(from)
  try {
    const chosen = {
      table,
      key,
      mapping,
      ...(where !== undefined && { where }),
      ...(after !== undefined && { after }),
      ...(since !== undefined && { since })
    }
    const { rows, part, keyOf, done } = await readTable(source, chosen)
    if (since !== undefined && missesChanges(mapping)) {
      output.note('--map has no column for updatedAt, so --since finds new rows but not updated ones')
    }
    const refusals = createRefusals()
    let last = ''
    try {
      await importUsers(storage, output, { report: 'groups', ...options }, {
        fields,
        rows: () => rows,
        namesTenants: mapping.some(({ name }) => name === 'tenant'),
        called: (line) => `${key} ${keyOf(line)}`,
        more: (line) => ({ key: keyOf(line) }),
        part,
        goesOn: 'To go on, run it again with --after and the last key.',
        onResults (results) {
          for (const result of results) refusals.add(result, keyOf(result.line))
          const line = results.at(-1)?.line ?? 0
          last = keyOf(line)
          done(line)
        }
      })
    } finally {
      for (const line of refusals.lines()) output.note(line)
      if (last !== '') output.note(printable(`the last ${key}: ${last}`))
    }
  } finally {
    await source.knex.destroy()
  }
}
