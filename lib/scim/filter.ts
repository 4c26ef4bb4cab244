// Filters and paths (RFC 7644 sections 3.4.2.2 and 3.5.2), parsed whole, with bounds.

import { scimError, type ScimType } from './errors.ts'
import { ENTERPRISE_KEY } from './schemas.ts'

export const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = typeof COMPARISONS[number]
export type FilterValue = string | number | boolean | null

/**
 * The name of an attribute, in lower case, since case means nothing. `schema`: its URI; empty: none was given. An empty
 * name: all of the schema.
 */
export interface AttributeName { schema: string, name: string, sub: string }

export type Filter =
  | { op: 'and' | 'or', of: Filter[] }
  | { op: 'not', of: [Filter] }
  | { op: Comparison, attribute: AttributeName, value: FilterValue }
  | { op: 'pr', attribute: AttributeName }
  /** A value of a multi-valued attribute for which all of it holds. */
  | { op: 'has', attribute: AttributeName, of: [Filter] }

/** The target of a change. `filter`: of the values of an attribute those that are meant; null: all. */
export interface Path extends AttributeName { filter: Filter | null }

const LENGTH_MAX = 2000
const DEPTH_MAX = 10
const PARTS_MAX = 100

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+))/y
// The last colon ends the URI: a name has none.
const NAME = /^(?:(urn:[\w:.-]+):)?([a-z$][\w$-]*)(?:\.([a-z$][\w$-]*))?$/i

interface Reader { next (): string, peek (): string }

function readerOf (text: string, kind: ScimType): Reader {
  if (text.length > LENGTH_MAX) throw scimError(kind, `It has more than ${LENGTH_MAX} characters.`)
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  for (let at = 0; text.slice(at).trim() !== ''; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    if (found === null) throw scimError(kind, 'A text is not closed.')
    tokens.push(found[0].trim())
    if (tokens.length > 4 * PARTS_MAX) throw scimError(kind, `It has more than ${PARTS_MAX} conditions.`)
  }
  let at = 0
  return { next: () => tokens[at++] ?? '', peek: () => tokens[at] ?? '' }
}

function nameIn (text: string, kind: ScimType): AttributeName {
  if (text.toLowerCase() === ENTERPRISE_KEY) return { schema: ENTERPRISE_KEY, name: '', sub: '' }
  const found = NAME.exec(text)
  if (found === null) throw scimError(kind, `${JSON.stringify(text.slice(0, 100))} is not the name of an attribute.`)
  const [, schema = '', name = '', sub = ''] = found
  return { schema: schema.toLowerCase(), name: name.toLowerCase(), sub: sub.toLowerCase() }
}

export const isValue = (value: unknown): value is FilterValue =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

function valueIn (text: string): FilterValue {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {}
  if (isValue(value)) return value
  throw scimError('invalidFilter', 'A value must be a JSON string in quotes, a number, true, false or null.')
}

function parse (reader: Reader, kind: ScimType) {
  const isWord = (word: string): boolean => reader.peek().toLowerCase() === word
  const expect = (token: string): void => {
    if (reader.next() !== token) throw scimError(kind, `A ${token} is missing.`)
  }

  function joined (op: 'and' | 'or', part: (depth: number) => Filter, depth: number): Filter {
    const first = part(depth)
    const of = [first]
    while (isWord(op)) {
      reader.next()
      of.push(part(depth))
    }
    return of.length === 1 ? first : { op, of }
  }
  const either = (depth: number): Filter => joined('or', (at) => joined('and', one, at), depth)

  function enclosed (open: '(' | '[', close: ')' | ']', depth: number): Filter {
    if (depth >= DEPTH_MAX) throw scimError(kind, `It is nested more than ${DEPTH_MAX} levels deep.`)
    expect(open)
    const inner = either(depth + 1)
    expect(close)
    return inner
  }
  const grouped = (depth: number): Filter => enclosed('(', ')', depth)
  const within = (depth: number): Filter => enclosed('[', ']', depth)

  function one (depth: number): Filter {
    if (reader.peek() === '(') return grouped(depth)
    if (isWord('not')) {
      reader.next()
      return { op: 'not', of: [grouped(depth)] }
    }
    const attribute = nameIn(reader.next(), kind)
    if (reader.peek() === '[') return has(attribute, within(depth))
    return compared(attribute)
  }

  /** Entra ID writes `emails[type eq "work"].value eq "x"` too. */
  function has (attribute: AttributeName, inner: Filter): Filter {
    if (!reader.peek().startsWith('.')) return { op: 'has', attribute, of: [inner] }
    return { op: 'has', attribute, of: [{ op: 'and', of: [inner, compared(nameIn(reader.next().slice(1), kind))] }] }
  }

  function compared (attribute: AttributeName): Filter {
    const word = reader.next().toLowerCase()
    if (word === 'pr') return { op: 'pr', attribute }
    const op = COMPARISONS.find((each) => each === word)
    if (op === undefined) throw scimError(kind, `After an attribute comes pr or one of ${COMPARISONS.join(', ')}.`)
    return { op, attribute, value: valueIn(reader.next()) }
  }

  return { either, within }
}

/** @throws UsersError with `invalidFilter` */
export function parseFilter (text: string): Filter {
  const reader = readerOf(text, 'invalidFilter')
  const filter = parse(reader, 'invalidFilter').either(0)
  if (reader.peek() !== '') throw scimError('invalidFilter', 'Something follows the end of the filter.')
  return filter
}

/** @throws UsersError with `invalidPath` or `invalidFilter` */
export function parsePath (text: string): Path {
  const reader = readerOf(text, 'invalidPath')
  const attribute = nameIn(reader.next(), 'invalidPath')
  const filter = reader.peek() === '[' ? parse(reader, 'invalidPath').within(0) : null
  const rest = reader.next()
  const inner = rest.startsWith('.') ? nameIn(rest.slice(1), 'invalidPath') : { name: '', sub: '' }
  const sub = inner.sub === '' ? inner.name : ''
  if ((rest !== '' && sub === '') || reader.peek() !== '') {
    throw scimError('invalidPath', 'Something follows the end of the path.')
  }
  return { ...attribute, ...(sub !== '' && { sub }), filter }
}

/** The conditions that must all hold; a filter that is none of `and` is one of its own. */
export function conjuncts (filter: Filter): Filter[] {
  return filter.op === 'and' ? filter.of.flatMap(conjuncts) : [filter]
}

/** The values of an attribute that a filter names: by one `eq`, or by several with `or`; null: it is something else. */
export function namedValues (filter: Filter, isMeant: (attribute: AttributeName) => boolean): FilterValue[] | null {
  if (filter.op === 'eq') return isMeant(filter.attribute) ? [filter.value] : null
  if (filter.op !== 'or') return null
  const all = filter.of.map((each) => namedValues(each, isMeant))
  return all.some((each) => each === null) ? null : all.flatMap((each) => each ?? [])
}

const COMPARED: Readonly<Record<Comparison, (value: FilterValue, wanted: FilterValue) => boolean>> = {
  eq: (value, wanted) => value === wanted,
  ne: (value, wanted) => value !== wanted,
  co: (value, wanted) => String(value).includes(String(wanted)),
  sw: (value, wanted) => String(value).startsWith(String(wanted)),
  ew: (value, wanted) => String(value).endsWith(String(wanted)),
  gt: (value, wanted) => value !== null && wanted !== null && value > wanted,
  ge: (value, wanted) => value !== null && wanted !== null && value >= wanted,
  lt: (value, wanted) => value !== null && wanted !== null && value < wanted,
  le: (value, wanted) => value !== null && wanted !== null && value <= wanted
}

const folded = (value: FilterValue): FilterValue => typeof value === 'string' ? value.toLowerCase() : value

/** True if a filter holds for one value of an attribute. `of`: its sub-attributes by their names in lower case. */
export function holds (filter: Filter, of: ReadonlyMap<string, FilterValue>): boolean {
  switch (filter.op) {
    case 'and': return filter.of.every((each) => holds(each, of))
    case 'or': return filter.of.some((each) => holds(each, of))
    case 'not': return !holds(filter.of[0], of)
    case 'has': return false
    case 'pr': return (of.get(filter.attribute.name) ?? null) !== null
    default: return COMPARED[filter.op](folded(of.get(filter.attribute.name) ?? null), folded(filter.value))
  }
}
