import type { FieldsSchema } from '../lib/fields/fields-schema.ts'
import { type Column, tableColumns } from '../lib/transfer/columns.ts'
import { pointerTo } from '../lib/transfer/csv-header.ts'
import { allowedNames, columnFinder, mapPairs, nearestName, setAt } from '../lib/transfer/file-names.ts'
import { momentOf } from '../lib/transfer/moments.ts'
import { UsageError } from './failure.ts'
import { fieldValueOf } from './source-values.ts'

/** Which column of a table a member comes from. */
export interface Mapped extends Pick<Column, 'name' | 'path' | 'types'> {
  from: string
  /** The JSON Pointer of the member. */
  pointer: string
}

/** The members that are moments. */
export const MOMENTS: readonly string[] = ['createdAt', 'updatedAt']

/** Reads `name=full_name,email=email,fields.plan=plan`. `fields`: the host's. @throws UsageError */
export function readMapping (text: string, fields: Pick<FieldsSchema, 'properties'>): Mapped[] {
  const table = tableColumns(fields, !Object.hasOwn(fields.properties, 'tenant'))
  const columnNamed = columnFinder(table)
  const pairs = mapPairs(text)
  if (pairs === null || pairs.some(([, from]) => from === '' || from.includes('='))) {
    throw new UsageError('--map takes <member>=<column>, several separated by commas')
  }
  const mapped = pairs.map(([member, from]) => {
    const column = columnNamed(member)
    if (column === undefined) {
      const problem = `--map names ${member}, which users do not have; they have ${allowedNames(table)}`
      throw new UsageError(`${problem}; the nearest is ${nearestName(member, table)}`)
    }
    const { name, path, types } = column
    return { name, path, from, types, pointer: pointerTo(path) }
  })
  const names = mapped.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new UsageError('--map must not name a member twice')
  for (const needed of ['name', 'email']) {
    if (!names.includes(needed)) throw new UsageError(`--map must name the column for ${needed}`)
  }
  return mapped
}

/**
 * The user of a row whose columns are in the order of the mapping. NULL is a member that is not there.
 * @throws UsersError `validation_failed` for JSON that no body may have
 */
export function userOfColumns (values: readonly unknown[], mapping: readonly Mapped[]): Record<string, unknown> {
  const user: Record<string, unknown> = {}
  for (const [i, { name, path, types, pointer }] of mapping.entries()) {
    const value = values[i]
    if (value === null || value === undefined) continue
    setAt(user, path, MOMENTS.includes(name) ? momentOf(value) : fieldValueOf(value, types, pointer))
  }
  return user
}
