import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { FAULTS_MAX } from '../core/limits.ts'
import { pointerToken } from '../fields/checked-json.ts'
import type { Column } from './columns.ts'
import { allowedNames, columnFinder, type FileNames, nameFinder, nearestName } from './file-names.ts'

/** Which cells of a row a member comes from. */
export interface CellSource {
  column: Column
  /** The JSON Pointer of the member. */
  pointer: string
  places: readonly number[]
}

/** The JSON Pointer of a path. */
export const pointerTo = (path: readonly string[]): string => path.map(pointerToken).join('')

/** The fault of a name that users do not have. A header may have thousands: what is not answered takes no time. */
function unknownName (name: string, place: number, table: readonly Column[], count: number): Fault {
  const allowed = count === 0 ? `; the allowed names are ${allowedNames(table)}` : ''
  const similar = count < FAULTS_MAX ? `; the nearest is ${nearestName(name, table)}` : ''
  const detail = `is not a known member: it is the name of column ${place + 1} of the header${similar}${allowed}`
  return { pointer: '', code: 'unknown', detail }
}

/** Where the members of users come from, as a header says. @throws UsersError `validation_failed` */
export function readHeader (names: readonly string[], table: readonly Column[], file: FileNames): CellSource[] {
  const faults: Fault[] = []
  const sources: CellSource[] = []
  const used = new Set<number>()
  const placeOf = nameFinder(names)
  const columnNamed = columnFinder(table)
  for (const { column, from } of file.entries) {
    const places = from.map(placeOf)
    const pointer = pointerTo(column.path)
    if (places.includes(-1)) {
      const detail = 'must be in the header under the name that map gives it'
      faults.push({ pointer, code: 'required', detail })
    }
    for (const place of places) used.add(place)
    if (places.length > 0) sources.push({ column, pointer, places })
  }
  let unknown = 0
  for (const [place, name] of names.entries()) {
    const column = used.has(place) ? undefined : columnNamed(name)
    const isMapped = used.has(place) || file.entries.some((entry) => entry.column === column)
    if (column === undefined && !isMapped && !file.ignoreUnknown) {
      faults.push(unknownName(name, place, table, unknown++))
    }
    if (column === undefined || isMapped) continue
    const pointer = pointerTo(column.path)
    if (sources.some((source) => source.column === column)) {
      faults.push({ pointer, code: 'duplicate', detail: 'must be named only once in the header' })
    } else sources.push({ column, pointer, places: [place] })
  }
  for (const name of ['name', 'email']) {
    const isThere = sources.some(({ column }) => column.name === name)
    const isFaulty = faults.some(({ pointer, code }) => pointer === `/${name}` && code === 'required')
    if (!isThere && !isFaulty) faults.push({ pointer: `/${name}`, code: 'required', detail: 'must be in the header' })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return sources
}
