import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import type { Fault } from '../errors.ts'
import { copyJson, token } from './json.ts'
import { patchedMember } from './patch-schema.ts'
import { type FieldsSchema, type JsonSchema, mapSchemas } from './schema.ts'

/** Judges fields by the host's schema. */
export interface Validators {
  /** All fields; defaults are filled in. */
  whole (fields: object): Fault[]
  /** A merge patch of them. */
  patch (patch: object): Fault[]
  /** Some fields, as they are to be. */
  some (fields: object, names: readonly string[]): Fault[]
  /** Whether these are all fields as they should be. */
  fits (fields: object): boolean
}

const OPTIONS: Options = { allErrors: true, strict: true, strictTypes: false, strictTuples: false, strictRequired: false, ownProperties: true, logger: false }

const UNKNOWN = { code: 'unknown', detail: 'is not a known member' }

/** What is wrong, by the keyword that says so. */
function wordsOf ({ keyword, params, schemaPath }: ErrorObject): { code: string, detail: string } {
  // Of a patch: such a member can be removed, and nothing else.
  if (schemaPath.endsWith('/additionalProperties/type') && params['type'] === 'null') return UNKNOWN
  const { type, limit, comparison, allowedValues, allowedValue, format, multipleOf } = params
  switch (keyword) {
    case 'required': return { code: 'required', detail: 'is required' }
    case 'additionalProperties':
    case 'unevaluatedProperties': return UNKNOWN
    case 'type': return { code: 'type', detail: `must be of type ${[type].flat().join(' or ')}` }
    case 'enum': return { code: 'choice', detail: `must be one of ${allowedValues.map((each: unknown) => JSON.stringify(each)).join(', ')}` }
    case 'const': return { code: 'choice', detail: `must be ${JSON.stringify(allowedValue)}` }
    case 'minLength': return { code: 'too_short', detail: `must have at least ${limit} characters` }
    case 'maxLength': return { code: 'too_long', detail: `must have at most ${limit} characters` }
    case 'minItems': return { code: 'too_few', detail: `must have at least ${limit} items` }
    case 'maxItems': return { code: 'too_many', detail: `must have at most ${limit} items` }
    case 'uniqueItems': return { code: 'duplicate', detail: 'must not have an item twice' }
    case 'format': return { code: 'format', detail: `must have the format ${format}` }
    case 'pattern': return { code: 'format', detail: 'must match the pattern of this field' }
    case 'anyOf':
    case 'oneOf': return { code: 'choice', detail: 'must have one of the forms of this field' }
    case 'multipleOf': return { code: 'range', detail: `must be a multiple of ${multipleOf}` }
    default: return comparison === undefined ? { code: 'invalid', detail: 'is not valid' } : { code: 'range', detail: `must be ${comparison} ${limit}` }
  }
}

/** Where the fault lies: at the member that is missing, or that should not be there. */
function pointerOf ({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword === 'required') return instancePath + token(params['missingProperty'])
  if (keyword === 'unevaluatedProperties') return instancePath + token(params['unevaluatedProperty'])
  return keyword === 'additionalProperties' ? instancePath + token(params['additionalProperty']) : instancePath
}

/** Every fault once, one for each place; that no alternative fits is one, and what is wrong with each of them is none. */
function faultsOf (found: readonly ErrorObject[] | null | undefined): Fault[] {
  const errors: readonly ErrorObject[] = Object(found)
  const unfit = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf').map(({ schemaPath }) => `${schemaPath}/`)
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    const pointer = pointerOf(error)
    if (unfit.some((path) => error.schemaPath.startsWith(path))) continue
    if (!faults.has(pointer)) faults.set(pointer, { pointer, ...wordsOf(error) })
  }
  return [...faults.values()]
}

/** The schemas in a schema that have a default. */
function defaultsOf (schema: JsonSchema): JsonSchema[] {
  const inner: JsonSchema[] = []
  mapSchemas(schema, (each) => { inner.push(...defaultsOf(each)) })
  return Object.hasOwn(schema, 'default') ? [schema, ...inner] : inner
}

/** Whether every store keeps a value as it is. */
function isKept (value: unknown): boolean {
  const faults: Fault[] = []
  copyJson(value, '', 2, faults)
  return faults.length === 0
}

/** Words that descriptions know and Ajv does not. */
function annotations (schema: JsonSchema, found = new Set(['example', 'xml', 'externalDocs', 'discriminator'])): string[] {
  for (const keyword of Object.keys(schema)) if (keyword.startsWith('x-')) found.add(keyword)
  mapSchemas(schema, (inner) => annotations(inner, found))
  return [...found]
}

/**
 * Compiles the host's fields, as Fastify would compile them: with Ajv, its formats and its defaults; nothing is coerced and nothing removed.
 * @throws TypeError for a schema that Ajv refuses, or a default that its own schema refuses
 */
export async function compileFields ({ properties, required }: FieldsSchema): Promise<Validators> {
  // Loaded by who has fields alone.
  const [{ Ajv2019: AjvClass }, { default: formats }] = await Promise.all([import('ajv/dist/2019.js'), import('ajv-formats')])
  const schema = { type: 'object', properties, required, additionalProperties: false }
  const compile = (options: Options, judged: object): ValidateFunction => {
    const ajv = new AjvClass({ ...OPTIONS, ...options })
    formats.default(ajv)
    ajv.addVocabulary(annotations({ properties }))
    return ajv.compile(judged)
  }
  try {
    const whole = compile({ useDefaults: true }, schema)
    const fits = compile({ allErrors: false }, schema)
    const each = compile({}, { type: 'object', properties })
    const patched = compile({}, { type: 'object', properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, patchedMember(field, required.includes(name))])) })
    const some = (fields: object, names: readonly string[]): Fault[] => {
      const missing = names.filter((name) => required.includes(name) && !Object.hasOwn(fields, name)).map((name) => ({ pointer: token(name), code: 'required', detail: 'is required' }))
      if (each(fields)) return missing
      const starts = names.map(token)
      return [...missing, ...faultsOf(each.errors).filter(({ pointer = '' }) => starts.some((start) => pointer === start || pointer.startsWith(`${start}/`)))]
    }
    const bad = Object.entries(properties).filter(([, field]) => defaultsOf(field).some((schema) => !compile({}, schema)(schema['default']) || !isKept(schema['default'])))
    if (bad.length > 0) throw new Error(`a default of ${bad.map(([name]) => name).join(', ')} does not fit`)
    return { whole: (fields) => whole(fields) ? [] : faultsOf(whole.errors), patch: (patch) => patched(patch) ? [] : faultsOf(patched.errors), some, fits: (fields) => fits(fields) }
  } catch (error) {
    throw new TypeError(`fastify-users: wrong fields:\n- ${Object(error).message}`)
  }
}
