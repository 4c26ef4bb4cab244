import type { FaultReason } from '../core/fault.ts'
import { isObject } from '../core/json.ts'
import { IMPORT_LINE_MAX, MAP_COLUMNS_MAX } from '../core/limits.ts'
import { nearest } from '../core/nearest.ts'
import type { Column } from './columns.ts'
import { mappedTooLong } from './source-row.ts'

/** Where a member of users comes from: columns of a table, or members of a line of JSON. An empty list omits it. */
export interface MapEntry {
  column: Column
  from: readonly string[]
}

/** How the names of a file are understood. */
export interface FileNames {
  entries: readonly MapEntry[]
  /** Whether names that users do not have are ignored instead of refused. */
  ignoreUnknown: boolean
}

/** UTF-16 units of a name that may differ from that of a member: composing many marks takes quadratic time. */
const LOOSE_MAX = 256

/** The form in which names of headers are compared: case, spaces, hyphens and underscores do not matter. */
const loose = (name: string): string => name.length > LOOSE_MAX
  ? name
  : name.normalize('NFC').toLowerCase().replaceAll(/[\s_-]/g, '')

/** Returns a function that finds the index of a name: an exact match, or the only loose match; else -1. */
export function nameFinder (names: readonly string[]): (name: string) => number {
  const comparable = names.map(loose)
  const similar = new Map<string, number>()
  // -1: several names have this form.
  for (const [i, each] of comparable.entries()) similar.set(each, similar.has(each) ? -1 : i)
  const exact = new Map(names.map((name, i) => [name, i] as const).toReversed())
  return (name) => exact.get(name) ?? exact.get(name.trim()) ?? similar.get(loose(name)) ?? -1
}

/** Returns a function that finds the column of users that a name means; `fields.plan` also means `plan`. */
export function columnFinder (table: readonly Column[]): (name: string) => Column | undefined {
  const names = table.map(({ name }) => name)
  const own = nameFinder(names)
  const prefixed = nameFinder(names.map((name) => `fields.${name}`))
  return (name) => table[own(name)] ?? table[prefixed(name)]
}

/** The names that users have, for messages. */
export const allowedNames = (table: readonly Column[]): string => table.map(({ name }) => name).join(', ')

/** The known name that is most similar to an unknown one. */
export const nearestName = (name: string, table: readonly Column[]): string =>
  nearest(loose(name), table, (each) => loose(each.name)).name

const MAP = /^[^:=,]+[:=][^,]*(?:,[^:=,]+[:=][^,]*)*$/

/** The pairs in `name:Full Name,email:E-Mail`, with `:` or `=`; `null` if the text is not such a list. */
export function mapPairs (text: string): Array<[member: string, from: string]> | null {
  if (!MAP.test(text)) return null
  return text.split(',').map((pair) => {
    const at = pair.search(/[:=]/)
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}

/** Reads a map, or returns what is wrong with it. A member that it names twice is joined from both columns. */
export function readMap (text: unknown, table: readonly Column[]): MapEntry[] | FaultReason {
  const pairs = typeof text === 'string' ? mapPairs(text) : null
  if (pairs === null) {
    return { code: 'format', detail: 'must be pairs <member>:<column>, separated by commas, as in name:Full Name' }
  }
  const find = columnFinder(table)
  const sources = new Map<Column, string[]>()
  for (const [i, [member, from]] of pairs.entries()) {
    const column = find(member)
    if (column === undefined) {
      const detail = `must name a member of users in pair ${i + 1}; the nearest is ${nearestName(member, table)}; ` +
        `the allowed names are ${allowedNames(table)}`
      return { code: 'choice', detail }
    }
    const names = sources.get(column) ?? []
    if (names.length === MAP_COLUMNS_MAX) {
      const detail = `must name a member at most ${MAP_COLUMNS_MAX} times; ${column.name} is named more often`
      return { code: 'too_many', detail }
    }
    sources.set(column, from === '' ? names : [...names, from])
  }
  return table.flatMap((column) => {
    const from = sources.get(column)
    return from === undefined ? [] : [{ column, from }]
  })
}

/**
 * Makes the function that every text of one line's members passes. A map may take the same text for many members, so
 * all of them together must not be longer than a line.
 * @throws UsersError `body_too_large`
 */
export function createLineBound (): (text: string) => string {
  let length = 0
  return (text) => {
    length += text.length
    if (length > IMPORT_LINE_MAX) throw mappedTooLong()
    return text
  }
}

/** Joins the texts of several columns or members. */
export function joined (values: readonly unknown[]): unknown {
  const texts = values.filter((value) => value !== undefined && value !== null && value !== '')
  return texts.length > 1 ? texts.map(String).join(' ') : texts[0]
}

/** Returns a function that renames the members of a value to those of users. Names in JSON must match exactly. */
export function renaming (table: readonly Column[], names: FileNames): (value: unknown) => unknown {
  const { entries, ignoreUnknown } = names
  const moved = new Set(entries.flatMap(({ column: { path }, from }) => path.length === 1 ? [...path, ...from] : from))
  const known = new Set(table.map(({ path }) => path[0]))
  return (value) => {
    if (!isObject(value)) return value
    const user = Object.fromEntries(Object.entries(value).filter(([name]) =>
      !moved.has(name) && (!ignoreUnknown || known.has(name))))
    const bounded = createLineBound()
    for (const { column, from } of entries) {
      const found = from.flatMap((name) => Object.hasOwn(value, name) ? [value[name]] : [])
      const each = from.length === 1 ? found[0] : joined(found)
      if (each !== undefined) setAt(user, column.path, typeof each === 'string' ? bounded(each) : each)
    }
    return user
  }
}

/** Sets a member of an object, or of an object nested in it, which is created if it is missing. */
export function setAt (user: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = '', ...rest] = path
  if (rest.length === 0) {
    user[first] = value
    return
  }
  const inner: Record<string, unknown> = Object.hasOwn(user, first) ? Object(user[first]) : {}
  user[first] = inner
  setAt(inner, rest, value)
}
