import type { TSchema } from '@sinclair/typebox'
import { Check } from './typebox.ts'

/**
 * The one declaration of an option. Its type, check and default follow from it; the comment above it is its description
 * in editors and in the docs.
 */
export interface Option<Value, Checked = Value, Required extends boolean = boolean> {
  required: Required
  /** What is wrong with a value; null: nothing. It never repeats the value, which may be a secret. */
  problem (value: unknown): string | null
  /** Of a group of options: their rows. */
  members?: Table
  /** The value to use: a copy of what was given, or the default. */
  read (given: Value | undefined): Checked
}

type Table = Readonly<Record<string, Option<unknown, unknown>>>
type ValueOf<Row> = Row extends Option<infer Value, unknown> ? Value : never
type NamesOf<Rows, Required extends boolean> = {
  [Name in keyof Rows]: Rows[Name] extends Option<unknown, unknown, Required> ? Name : never
}[keyof Rows]

/** What a caller gives, by the rows of a table. */
export type OptionsOf<Rows> =
  & { [Name in keyof Pick<Rows, NamesOf<Rows, true>>]: ValueOf<Rows[Name]> }
  & { [Name in keyof Pick<Rows, NamesOf<Rows, false>>]?: ValueOf<Rows[Name]> }

/** The same after the check, with defaults. */
export type CheckedOptionsOf<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends Option<unknown, infer Checked> ? Checked : never
}

interface Declaration {
  schema: TSchema
  /** The error message after the option's name, such as `must be true or false`. */
  message: string | ((value: unknown) => string)
}

/**
 * True if the value matches, and so does a copy of it. An instance with getters matches by what it inherits, and a copy
 * would lose that.
 */
function matches (schema: TSchema, value: unknown): boolean {
  if (!Check(schema, value)) return false
  if (schema['additionalProperties'] !== false) return true
  const isOwn = (name: string) => Object.prototype.propertyIsEnumerable.call(value, name)
  return Object.keys(Object(schema['properties'])).every((name) => !(name in Object(value)) || isOwn(name))
}

// The schema is checked without compiling it: for one check, compiling takes longer than checking.
const checkOf = ({ schema, message }: Declaration) => (value: unknown): string | null => {
  if (matches(schema, value)) return null
  return typeof message === 'string' ? message : message(value)
}

/** An option that must be given. */
export function required<Value> (declaration: Declaration): Option<Value, Value, true> {
  return { required: true, problem: checkOf(declaration), read: (given: Value) => given }
}

/** An option without a default. */
export function optional<Value> (declaration: Declaration): Option<Value, Value | undefined, false> {
  return { required: false, problem: checkOf(declaration), read: (given) => given }
}

/** An option with a default. */
export function defaulted<Value> (usual: Value, declaration: Declaration): Option<Value, Value, false> {
  return { required: false, problem: checkOf(declaration), read: (given) => given ?? usual }
}

/** An option that is used in another form than it is given in. `read` makes that, from undefined too. */
export function converted<Value, Checked> (
  read: (given: Value | undefined) => Checked,
  declaration: Declaration
): Option<Value, Checked, false> {
  return { required: false, problem: checkOf(declaration), read }
}

const valuesOf = (given: unknown): Record<string, unknown> => Object.fromEntries(Object.entries(Object(given)))

/** What is wrong with options. `path`: the group that they are in, with a point. */
function problemsOf (table: Table, values: Readonly<Record<string, unknown>>, path = ''): string[] {
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(table, name))
  const wrong = Object.entries(table).flatMap(([name, { required, problem, members }]) => {
    const value = values[name]
    const reason = value === undefined && !required ? null : problem(value)
    if (reason !== null) return [`${path}${name} ${reason}`]
    return members === undefined || value === undefined ? [] : problemsOf(members, valuesOf(value), `${path}${name}.`)
  })
  return [...unknown.map((name) => `${path}${name} is not a known option`), ...wrong]
}

function readAll (table: Table, values: Readonly<Record<string, unknown>>): object {
  return Object.freeze(Object.fromEntries(Object.entries(table).map(([name, { read }]) => [name, read(values[name])])))
}

const groupProblem = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'must be an object of options'

/** Options that belong together, as one object: its rows are checked and filled in as those of a table are. */
export function group<Rows extends Table> (members: Rows): Option<OptionsOf<Rows>, CheckedOptionsOf<Rows>, false> {
  return { required: false, problem: groupProblem, members, read: (given) => Object(readAll(members, valuesOf(given))) }
}

/** The same without defaults: the group is there or it is not. */
export function optionalGroup<Rows extends Table> (
  members: Rows
): Option<OptionsOf<Rows>, CheckedOptionsOf<Rows> | undefined, false> {
  return { ...group(members), read: (given) => given && Object(readAll(members, valuesOf(given))) }
}

/**
 * Checks options by their table and fills in the defaults. `between` finds problems between options; it is called only
 * if each option is right by itself.
 * @throws TypeError that names every unknown, missing and wrong option
 */
export function readOptions<Rows extends Table> (
  subject: string,
  table: Rows,
  given: OptionsOf<Rows>,
  between?: () => string[]
): CheckedOptionsOf<Rows>
export function readOptions (subject: string, table: Table, given: object, between = (): string[] => []): unknown {
  if (given !== undefined && groupProblem(given) !== null) {
    const names = Object.keys(table).filter((name) => table[name]?.required)
    const example = names.length === 0 ? '' : `, such as { ${names.join(', ')} }`
    throw new TypeError(`${subject} takes an object of options${example}`)
  }
  const values = valuesOf(given)
  const problems = problemsOf(table, values)
  if (problems.length === 0) problems.push(...between())
  if (problems.length > 0) {
    const count = `${problems.length} wrong ${problems.length === 1 ? 'option' : 'options'}`
    throw new TypeError(`${subject}: ${count}:\n- ${problems.join('\n- ')}`)
  }
  return readAll(table, values)
}
