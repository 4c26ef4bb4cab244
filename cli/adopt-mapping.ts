import type { Column } from '../lib/transfer/columns.ts'
import { setAt } from '../lib/transfer/set-at.ts'
import { UsageError } from './failure.ts'
import { fieldValueOf, momentOf } from './source-values.ts'

/** Which column of a table a member comes from. */
export interface Mapped extends Column {
  from: string
}

/** The members that are moments. */
export const MOMENTS: readonly string[] = ['createdAt', 'updatedAt']

/** Reads `name=full_name,email=email,fields.plan=plan`. `table`: the members that users have. @throws UsageError */
export function readMapping (text: string, table: readonly Column[]): Mapped[] {
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
    return { ...column, from }
  })
  const names = mapped.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new UsageError('--map must not name a member twice')
  for (const needed of ['name', 'email']) {
    if (!names.includes(needed)) throw new UsageError(`--map must say which column has ${needed}`)
  }
  return mapped
}

/** The user of a row whose columns are in the order of the mapping. NULL is a member that is not there. */
export function userOfColumns (values: readonly unknown[], mapping: readonly Mapped[]): Record<string, unknown> {
  const user: Record<string, unknown> = {}
  for (const [i, { name, path, kind }] of mapping.entries()) {
    const value = values[i]
    if (value === null || value === undefined) continue
    setAt(user, path, MOMENTS.includes(name) ? momentOf(value) : fieldValueOf(value, kind))
  }
  return user
}
