import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { type Fault, reasonFor } from '../core/fault.ts'
import { copyJson, pointerToken } from './checked-json.ts'
import type { ReadFields } from './fields-schema.ts'
import { type JsonSchema, mapSchemas } from './json-schema.ts'
import { patchedMember } from './patch-schema.ts'

/** Checks fields by the host's schema. */
export interface FieldsValidator {
  /** All fields; fills in defaults. */
  whole (fields: object): Fault[]
  /** A merge patch of fields. */
  patch (patch: object): Fault[]
  /** Some fields, after a patch. */
  some (fields: object, names: readonly string[]): Fault[]
  /** True if these are all fields, and right. */
  matches (fields: object): boolean
}

const OPTIONS: Options = {
  allErrors: true,
  validateSchema: false,
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  ownProperties: true,
  logger: false
}

function reasonOf ({ keyword, params, schemaPath }: ErrorObject): Pick<Fault, 'code' | 'detail'> {
  // In a patch, a member that no schema names may only be null, which removes it.
  const isUnknown = schemaPath.endsWith('/additionalProperties/type') && params['type'] === 'null'
  return reasonFor(isUnknown ? 'additionalProperties' : keyword, params)
}

/** The place of the fault: the member that is missing, or that must not be there. */
function pointerOf ({ instancePath, keyword, params }: ErrorObject): string {
  switch (keyword) {
    case 'required': return instancePath + pointerToken(params['missingProperty'])
    case 'unevaluatedProperties': return instancePath + pointerToken(params['unevaluatedProperty'])
    case 'additionalProperties': return instancePath + pointerToken(params['additionalProperty'])
    default: return instancePath
  }
}

/** One fault for each place. If no alternative matches, that is the fault, and not what is wrong with each of them. */
function faultsOf (found: readonly ErrorObject[] | null | undefined): Fault[] {
  const errors: readonly ErrorObject[] = Object(found)
  const unmatched = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .map(({ schemaPath }) => `${schemaPath}/`)
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    const pointer = pointerOf(error)
    if (unmatched.some((path) => error.schemaPath.startsWith(path))) continue
    if (!faults.has(pointer)) faults.set(pointer, { pointer, ...reasonOf(error) })
  }
  return [...faults.values()]
}

/** The schemas inside a schema that have a default. */
function schemasWithDefault (schema: JsonSchema): JsonSchema[] {
  const inner: JsonSchema[] = []
  mapSchemas(schema, (each) => { inner.push(...schemasWithDefault(each)) })
  return Object.hasOwn(schema, 'default') ? [schema, ...inner] : inner
}

/** True if every store keeps the value as it is. */
function isKept (value: unknown): boolean {
  const faults: Fault[] = []
  copyJson(value, '', 2, faults)
  return faults.length === 0
}

/** Keywords of descriptions that Ajv does not know. */
function annotationsIn (schema: JsonSchema): Set<string> {
  const found = new Set(['example', 'xml', 'externalDocs', 'discriminator'])
  const collect = (each: JsonSchema): void => {
    for (const keyword of Object.keys(each)) if (keyword.startsWith('x-')) found.add(keyword)
    mapSchemas(each, collect)
  }
  collect(schema)
  return found
}

type Compile = (options: Options, schema: object) => ValidateFunction

/** Ajv with its formats, loaded only by hosts that declare fields. */
async function loadAjv (properties: ReadFields['properties']): Promise<Compile> {
  const [{ Ajv2019 }, { default: formats }] = await Promise.all([import('ajv/dist/2019.js'), import('ajv-formats')])
  return (options, schema) => {
    const ajv = new Ajv2019({ ...OPTIONS, ...options })
    formats.default(ajv)
    ajv.addVocabulary([...annotationsIn({ properties })])
    return ajv.compile(schema)
  }
}

function refuseWrongDefaults (compile: Compile, properties: ReadFields['properties']): void {
  const isWrong = (schema: JsonSchema) => !compile({}, schema)(schema['default']) || !isKept(schema['default'])
  const wrong = Object.entries(properties).filter(([, field]) => schemasWithDefault(field).some(isWrong))
  const names = wrong.map(([name]) => name).join(', ')
  if (names !== '') throw new Error(`a default of ${names} does not match its schema`)
}

function createValidator (compile: Compile, { properties, required }: ReadFields): FieldsValidator {
  const schema = { type: 'object', properties, required, additionalProperties: false }
  const patches = Object.entries(properties).map(([name, field]) =>
    [name, patchedMember(field, required.includes(name))] as const)
  // The others are made of it. Ajv compiles the schema of schemas for each check, which takes 50 ms.
  const whole = compile({ useDefaults: true, validateSchema: true }, schema)
  const matches = compile({ allErrors: false }, schema)
  const each = compile({}, { type: 'object', properties })
  const patch = compile({}, { type: 'object', properties: Object.fromEntries(patches) })
  return {
    whole: (fields) => whole(fields) ? [] : faultsOf(whole.errors),
    patch: (fields) => patch(fields) ? [] : faultsOf(patch.errors),
    some (fields, names) {
      const missing = names
        .filter((name) => required.includes(name) && !Object.hasOwn(fields, name))
        .map((name) => ({ pointer: pointerToken(name), ...reasonFor('required') }))
      if (each(fields)) return missing
      const starts = names.map(pointerToken)
      const isNamed = (pointer = '') => starts.some((start) => pointer === start || pointer.startsWith(`${start}/`))
      return [...missing, ...faultsOf(each.errors).filter(({ pointer }) => isNamed(pointer))]
    },
    matches: (fields) => matches(fields)
  }
}

/** What Ajv refuses, with the names of the fields: it names none. Empty: nothing. */
function problemsIn (compile: Compile, properties: ReadFields['properties']): string {
  return Object.entries(properties).flatMap(([name, field]) => {
    try {
      compile({ validateSchema: true }, field)
      return []
    } catch (error) {
      return [`${name}: ${Object(error).message}`]
    }
  }).join('\n- ')
}

/**
 * Compiles the host's fields as Fastify would: with Ajv, formats and defaults, but nothing is coerced or removed.
 * @throws TypeError for a schema that Ajv refuses, or a default that does not match its schema
 */
export async function compileFields (schema: ReadFields): Promise<FieldsValidator> {
  const compile = await loadAjv(schema.properties)
  try {
    const validator = createValidator(compile, schema)
    refuseWrongDefaults(compile, schema.properties)
    return validator
  } catch (error) {
    const problems = problemsIn(compile, schema.properties)
    throw new TypeError(`fastify-users: wrong fields:\n- ${problems || Object(error).message}`)
  }
}
