import { pointerToken } from '../lib/fields/checked-json.ts'
import type { FieldsSchema } from '../lib/fields/fields-schema.ts'
import { type Types, typesAt } from '../lib/fields/schema-types.ts'
import { type Column, tableColumns } from '../lib/transfer/columns.ts'
import { setAt } from '../lib/transfer/set-at.ts'
import { UsageError } from './failure.ts'
import { fieldValueOf, momentOf } from './source-values.ts'

/** Which column of a table a member comes from. */
export interface Mapped extends Pick<Column, 'name' | 'path'> {
  from: string
  /** What the member may be. */
  types: Types
  /** The JSON Pointer of the member. */
  pointer: string
}

/** The members that are moments. */
export const MOMENTS: readonly string[] = ['createdAt', 'updatedAt']

/** Reads `name=full_name,email=email,fields.plan=plan`. `fields`: the host's. @throws UsageError */
export function readMapping (text: string, fields: Pick<FieldsSchema, 'properties'>): Mapped[] {
  const table = tableColumns(fields)
  const mapped = text.split(',').map((pair) => {
    const [member = '', from = '', ...more] = pair.split('=').map((part) => part.trim())
    if (member === '' || from === '' || more.length > 0) {
      throw new UsageError('--map takes <member>=<column>, several separated by commas')
    }
    const name = member.replace(/^fields\./, '')
    const column = table.find((each) => each.name === name)
    if (column === undefined) {
      const known = table.map((each) => each.name).join(', ')
      throw new UsageError(`--map names ${name}, which users do not have; they have ${known}`)
    }
    const { path } = column
    return { name, path, from, types: typesAt(fields.properties, path), pointer: path.map(pointerToken).join('') }
  })
  const names = mapped.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new UsageError('--map must not name a member twice')
  for (const needed of ['name', 'email']) {
    if (!names.includes(needed)) throw new UsageError(`--map must say which column has ${needed}`)
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
