import { type Fault, isObject, type Json, type JsonObject, type Schema } from '../api/types.ts'
import { type Kind, kindOf } from './kinds.ts'

// A draft is what a person has typed: texts, also where a number or JSON is wanted, so that nothing typed is lost
// because it is not right yet.

export type Draft = string | DraftObject
export interface DraftObject { [name: string]: Draft }

export function isDraftObject (draft: Draft | undefined): draft is DraftObject {
  return typeof draft === 'object'
}

function textOf (value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}

/** The draft of a value. */
export function draftOf (schema: Schema, value: Json | undefined): Draft {
  const kind = kindOf(schema)
  switch (kind.is) {
    case 'object': {
      const given = isObject(value) ? value : {}
      const entries = Object.entries(kind.properties)
      return Object.fromEntries(entries.map(([name, inner]) => [name, draftOf(inner, given[name])]))
    }
    case 'choice': return value === undefined ? '' : JSON.stringify(value)
    case 'lines': return Array.isArray(value) ? value.map(textOf).join('\n') : textOf(value)
    case 'json': return value === undefined ? '' : JSON.stringify(value, null, 2)
    default: return textOf(value)
  }
}

/** The draft of a new value: with the defaults of the schema. */
export function newDraft (schema: Schema, isRequired: boolean): Draft {
  const kind = kindOf(schema)
  const usual = schema['default']
  if (usual !== undefined) return draftOf(schema, JSON.parse(JSON.stringify(usual)))
  if (kind.is === 'flag') return isRequired ? 'false' : ''
  if (kind.is !== 'object') return ''
  return Object.fromEntries(Object.entries(kind.properties).map(([name, inner]) =>
    [name, newDraft(inner, isRequired && kind.required.includes(name))]))
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** Infinity is none: as JSON it would be null, which removes a field. */
function isNumber (text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text))
}

function parsed (text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function scalarOf (kind: Kind, text: string, isRequired: boolean): Json | undefined {
  const trimmed = text.trim()
  switch (kind.is) {
    case 'choice': return text === '' ? undefined : parsed(text)
    case 'flag': return text === '' ? undefined : text === 'true'
    // What is no number is sent as it is: the server says what is wrong with it.
    case 'number': return trimmed === '' ? undefined : isNumber(trimmed) ? Number(trimmed) : text
    case 'lines': {
      const lines = text.split('\n').filter((line) => line.trim() !== '')
      return lines.length === 0 && !isRequired ? undefined : lines
    }
    case 'json': return trimmed === '' ? undefined : parsed(text)
    case 'text': return text === '' && !isRequired ? undefined : text
    default: return text === '' ? undefined : text
  }
}

/** The value of a draft; undefined: not set. */
export function valueOf (schema: Schema, draft: Draft | undefined, isRequired: boolean): Json | undefined {
  const kind = kindOf(schema)
  if (kind.is !== 'object') return scalarOf(kind, typeof draft === 'string' ? draft : '', isRequired)
  const given = isDraftObject(draft) ? draft : {}
  const value: JsonObject = {}
  for (const [name, inner] of Object.entries(kind.properties)) {
    const own = valueOf(inner, given[name], isRequired && kind.required.includes(name))
    if (own !== undefined) value[name] = own
  }
  return Object.keys(value).length === 0 && !isRequired ? undefined : value
}

const isSame = (a: Draft | undefined, b: Draft | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * The merge patch (RFC 7396) from one draft to another: only what was changed by hand, so that values which a form
 * can't show exactly stay as they are. Undefined: nothing was changed.
 */
export function patchOf (
  schema: Schema,
  before: Draft | undefined,
  after: Draft | undefined,
  isRequired: boolean
): Json | undefined {
  if (isSame(before, after)) return undefined
  const kind = kindOf(schema)
  const value = valueOf(schema, after, isRequired)
  if (value === undefined) return null
  if (kind.is !== 'object' || !isDraftObject(before) || !isDraftObject(after)) return value
  const patch: JsonObject = {}
  for (const [name, inner] of Object.entries(kind.properties)) {
    const own = patchOf(inner, before[name], after[name], isRequired && kind.required.includes(name))
    if (own !== undefined) patch[name] = own
  }
  return patch
}

/** JSON Pointer (RFC 6901) of a member. */
export function pointerOf (path: string, name: string): string {
  return `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** What can't be sent: JSON that is none. `detail` is the sentence for it. */
export function draftFaults (schema: Schema, draft: Draft | undefined, detail: string, path = ''): Fault[] {
  const kind = kindOf(schema)
  if (kind.is === 'object') {
    const given = isDraftObject(draft) ? draft : {}
    return Object.entries(kind.properties)
      .flatMap(([name, inner]) => draftFaults(inner, given[name], detail, pointerOf(path, name)))
  }
  const isWrong = kind.is === 'json' && typeof draft === 'string' && draft.trim() !== '' && parsed(draft) === undefined
  return isWrong ? [{ pointer: path, code: 'not_json', detail }] : []
}
