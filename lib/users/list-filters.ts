import type { Fault, FaultReason } from '../core/fault.ts'
import { isUserId } from '../core/ids.ts'
import { firstMillisecond, isOnCalendar, readMoment } from '../core/moments.ts'
import { momentParameter, type Parameter, type Parameters, parseParameter } from '../core/parameters.ts'
import { emailKeyOf } from '../core/text.ts'
import type { UserConditions, UserRange, UserValue } from '../storage/storage.ts'

/** The most values, or ids, in a list. */
export const LISTED_MAX = 100

const BOUNDS = {
  gte: 'this or later', gt: 'later than this', lte: 'this or earlier', lt: 'earlier than this'
} as const
const COMPARED = { gte: 'at least', gt: 'more than', lte: 'at most', lt: 'less than' } as const
type Operator = keyof typeof BOUNDS
const OPERATORS: readonly Operator[] = ['gte', 'gt', 'lte', 'lt']
const MOMENTS = ['createdAt', 'updatedAt'] as const

type Filters = ReadonlyMap<string, Parameter>

const DATE = /^\d{4}-\d{2}-\d{2}$/
/** Texts that are compared by their place in time, each in one form. */
const FORMATS: ReadonlyMap<unknown, (text: string) => boolean> = new Map([
  ['date', (text: string) => DATE.test(text) && isOnCalendar(text)],
  ['date-time', (text: string) => readMoment(text) !== null]
])

/** A list of values, in a URL separated by commas. */
function listParameter (
  one: Pick<Parameter, 'problem'>,
  parse: (text: string) => unknown,
  description: string
): Parameter {
  const fault = { code: 'type', detail: `must be 1 to ${LISTED_MAX} values, separated by commas in a URL` }
  return {
    schema: { type: 'string', description },
    parse: (text) => text.split(',').map(parse),
    problem (value): FaultReason | null {
      if (!Array.isArray(value) || value.length < 1 || value.length > LISTED_MAX) return fault
      return value.map((each: unknown) => one.problem(each)).find((problem) => problem !== null) ?? null
    }
  }
}

/** Only users with these ids. */
export const idsParameter: Parameter = listParameter(
  {
    problem: (value) => typeof value === 'string' && isUserId(value)
      ? null
      : { code: 'format', detail: 'must be ids of users' }
  },
  (text) => text,
  `Only the users with these ids, at most ${LISTED_MAX}, separated by commas: in this order, unless \`sort\` is given.`
)

/** Only users with these addresses. `one`: the check of an address. */
export function emailsParameter (one: Parameter['problem']): Parameter {
  return listParameter({ problem: one }, (text) => text,
    `Only the users with these addresses, at most ${LISTED_MAX}, separated by commas. Case is ignored.`)
}

/** The bounds of a field; none, if its values are no numbers and no dates. */
function boundsOf (name: string, { readAs, schema }: Parameter): Array<[string, Parameter]> {
  const isDate = readAs === 'string' ? FORMATS.get(schema['format']) : undefined
  if (readAs !== 'number' && isDate === undefined) return []
  const problem = isDate === undefined
    ? (value: unknown) => Number.isFinite(value) ? null : { code: 'type', detail: 'must be a number' }
    : (value: unknown) => typeof value === 'string' && isDate(value)
        ? null
        : { code: 'format', detail: `must have the format ${String(schema['format'])}` }
  return OPERATORS.map((operator) => [`${name}[${operator}]`, {
    schema: {
      type: isDate === undefined ? 'number' : 'string',
      ...(isDate !== undefined && { format: schema['format'] }),
      description: `Only users whose \`${name}\` is ${COMPARED[operator]} this.`
    },
    problem
  }])
}

function conditionsOf (name: string, filter: Parameter): Array<[string, Parameter]> {
  const exists: Parameter = {
    schema: {
      type: 'boolean', description: `Only users who have a \`${name}\`, or with \`false\` those who have none.`
    },
    problem: (value) => typeof value === 'boolean' ? null : { code: 'choice', detail: 'must be true or false' }
  }
  const among = listParameter(filter, (text) => parseParameter(text, filter),
    `Only users whose \`${name}\` is one of these, separated by commas. A value that contains a comma can’t be used.`)
  return [[`${name}[in]`, among], [`${name}[exists]`, exists], ...boundsOf(name, filter)]
}

/** Declares the filters of users whose names have an operator in brackets. `filters`: those by one value of a field. */
export function conditionParameters (filters: Filters): Parameters {
  const ofMoment = (name: string, operator: Operator) =>
    momentParameter(`Only users whose \`${name}\` is ${BOUNDS[operator]}.`)
  return Object.fromEntries([
    ...MOMENTS.flatMap((name) => OPERATORS.map((operator) =>
      [`${name}[${operator}]`, ofMoment(name, operator)] as const)),
    ...[...filters].flatMap(([name, filter]) => conditionsOf(name, filter))
  ])
}

/** A moment that is compared with stored ones, which have milliseconds and nothing finer. */
function storedMoment (text: string, operator: Operator): string {
  // Between two of them, the later one is the first that is not before, and the first that a bound leaves out.
  if (operator === 'gte' || operator === 'lt') return firstMillisecond(text) ?? text
  return new Date(readMoment(text) ?? 0).toISOString()
}

type Query = Readonly<Record<string, unknown>>
const given = (query: Query, name: string): unknown => Object.hasOwn(query, name) ? query[name] : undefined
const isBound = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

function rangeOf (query: Query, name: string, of: UserRange['of']): UserRange[] {
  const range: UserRange = { of }
  for (const operator of OPERATORS) {
    const bound = given(query, `${name}[${operator}]`)
    if (!isBound(bound)) continue
    range[operator] = typeof of === 'string' ? storedMoment(String(bound), operator) : bound
  }
  return OPERATORS.some((operator) => range[operator] !== undefined) ? [range] : []
}

const valuesIn = (list: unknown): UserValue[] => [list].flat().filter((value) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')

/** True if there is one of these parameters: most lists have none. */
export const hasConditions = (query: Query): boolean =>
  Object.keys(query).some((name) => name === 'ids' || name.endsWith(']'))

/** Reads the conditions of parameters that were checked. */
export function readConditions (query: Query, filters: Filters): UserConditions {
  const names = [...filters.keys()]
  const ranges = [
    ...MOMENTS.flatMap((name) => rangeOf(query, name, name)),
    ...names.flatMap((field) => rangeOf(query, field, { field }))
  ]
  const lists = names.filter((name) => given(query, `${name}[in]`) !== undefined)
    .map((name) => [name, valuesIn(query[`${name}[in]`])] as const)
  const existing = names.flatMap((name) => {
    const is = given(query, `${name}[exists]`)
    return typeof is === 'boolean' ? [[name, is] as const] : []
  })
  const ids = given(query, 'ids')
  const emails = given(query, 'email[in]')
  return {
    ...(ids !== undefined && { ids: [...new Set(valuesIn(ids).map(String))] }),
    ...(emails !== undefined && { emailKeys: valuesIn(emails).map((each) => emailKeyOf(String(each).trim())) }),
    ...(lists.length > 0 && { anyOf: Object.fromEntries(lists) }),
    ...(existing.length > 0 && { exists: Object.fromEntries(existing) }),
    ...(ranges.length > 0 && { ranges })
  }
}

/** The operators of each member that has some. */
function operatorsOf (declared: Parameters): ReadonlyMap<string, readonly string[]> {
  const operators = new Map<string, string[]>()
  for (const name of Object.keys(declared)) {
    const [, member = '', operator] = /^(.+)\[(.+)\]$/.exec(name) ?? []
    if (operator !== undefined) operators.set(member, [...operators.get(member) ?? [], operator])
  }
  return operators
}

/** Says of unknown filters with an operator which their member has, or which members have some. */
export function withKnownFilters (
  faults: readonly Fault[], declared: Parameters, properties: Readonly<Record<string, unknown>>
): Fault[] {
  if (faults.length === 0) return []
  return faults.map((fault) => {
    const { parameter = '' } = fault
    const [, member] = /^(.*)\[.*\]$/s.exec(parameter) ?? []
    if (fault.code !== 'unknown') return fault
    const because = (reason: string): Fault => ({ ...fault, detail: `${fault.detail}: ${reason}` })
    if (parameter === 'name') return because('q finds users by their names')
    if (Object.hasOwn(properties, parameter)) return because('the field is not in fields.filterable')
    if (member === undefined) return fault
    const all = operatorsOf(declared)
    const own = all.get(member)
    const others = [...all].map(([name, each]) => `${name}[${each.join('|')}]`).join(', ')
    const there = own === undefined ? `there are ${others}` : `${member} has [${own.join('], [')}]`
    return { ...fault, detail: `is not a known filter: ${there}` }
  })
}
