// The groups that the rows of an import name, and that their users join.

import { UsersError } from '../core/errors.ts'
import { type Fault, reasonFor } from '../core/fault.ts'
import { checkName } from '../core/text.ts'
import { jsonOf } from './values.ts'

/** The member of a row that names groups. */
export const GROUPS = 'groups'

/** Whether rows may name groups. `unknown`: users have no such member. `forbidden`: the caller must not change them. */
export type RowGroups = 'unknown' | 'forbidden' | 'allowed'

// Each name of a row that no row of its batch had before is a look-up.
const NAMES_MAX = 100

/**
 * The keys of the names in a row's member `groups`: of a list, or of a text, which is one name or the JSON text of a
 * list.
 */
export function groupKeys (value: unknown, faults: Fault[]): string[] {
  if (value === undefined || value === null) return []
  const pointer = `/${GROUPS}`
  const read = typeof value === 'string' && value.startsWith('[') ? jsonOf(value, pointer) : value
  const names: unknown[] = Array.isArray(read) ? read : [read]
  if (names.length > NAMES_MAX) {
    faults.push({ pointer, ...reasonFor('maxItems', { limit: NAMES_MAX }) })
    return []
  }
  return names.flatMap((name, i) => {
    const checked = typeof name === 'string' ? checkName(name) : reasonFor('type', { type: 'string' })
    if ('key' in checked) return [checked.key]
    faults.push({ pointer: Array.isArray(read) ? `${pointer}/${i}` : pointer, ...checked })
    return []
  })
}

/** The error of a row with groups, for a caller who must not change any. */
export const groupsForbidden = (): UsersError =>
  new UsersError('insufficient_scope', { detail: 'The member groups needs the scope groups:write too.' })
