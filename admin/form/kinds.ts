import { isObject, type Json, type Schema } from '../api/types.ts'

/** How a value is edited, after its schema. */
export type Kind =
  | { is: 'object', properties: Readonly<Record<string, Schema>>, required: readonly string[] }
  | { is: 'choice', choices: readonly Json[] }
  | { is: 'flag' | 'number' | 'date' | 'moment' | 'lines' | 'json' }
  | { is: 'text', type: 'text' | 'email' | 'url', isLong: boolean }

const LONG = 200

function textKind ({ format, maxLength }: Schema): Kind {
  if (format === 'date') return { is: 'date' }
  if (format === 'date-time') return { is: 'moment' }
  const type = format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text'
  return { is: 'text', type, isLong: typeof maxLength === 'number' && maxLength > LONG && type === 'text' }
}

/** The one schema of several that is not null alone; undefined if there are more. */
function onlyAlternative (schemas: unknown): Schema | undefined {
  if (!Array.isArray(schemas)) return undefined
  const others: Schema[] = schemas.filter(isObject).filter(({ type }) => type !== 'null')
  return others.length === 1 ? others[0] : undefined
}

/** What has no control of its own is edited as JSON: nothing that a schema allows is out of reach. */
export function kindOf (schema: Schema): Kind {
  const { type, enum: choices, const: only, anyOf, oneOf, properties, items } = schema
  if (Array.isArray(choices)) return { is: 'choice', choices }
  if (only !== undefined) return { is: 'choice', choices: JSON.parse(JSON.stringify([only])) }
  const alternative = onlyAlternative(anyOf ?? oneOf)
  if (alternative !== undefined) return kindOf(alternative)
  const [kind] = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null')
  if (Array.isArray(type) && type.filter((each) => each !== 'null').length > 1) return { is: 'json' }
  switch (kind) {
    case 'string': return textKind(schema)
    case 'integer':
    case 'number': return { is: 'number' }
    case 'boolean': return { is: 'flag' }
    case 'object': return isObject(properties) ? objectKind(schema) : { is: 'json' }
    case 'array': return isObject(items) && items['type'] === 'string' && items['enum'] === undefined
      ? { is: 'lines' }
      : { is: 'json' }
    default: return { is: 'json' }
  }
}

function objectKind ({ properties, required }: Schema): Kind {
  const entries = isObject(properties) ? Object.entries(properties) : []
  return {
    is: 'object',
    properties: Object.fromEntries(entries.map(([name, schema]) => [name, isObject(schema) ? schema : {}])),
    required: Array.isArray(required) ? required.map(String) : []
  }
}

/** The name of a field for people. */
export function labelOf (name: string, { title }: Schema): string {
  return typeof title === 'string' && title !== '' ? title : name
}
