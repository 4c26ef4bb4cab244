import type { Schema } from './schemas.ts'

const VALUES = ['examples', 'default', 'enum', 'const']

/** A schema with references to the components of a mount, in the words of the description's version: OpenAPI 3.0 has no lists of types, and no lists of examples. */
export function written (schema: unknown, space: string, old: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((each) => written(each, space, old))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(Object.entries(schema).flatMap(([name, value]): Array<[string, unknown]> => {
    // Names, not keywords.
    if (name === 'properties' && typeof value === 'object') return [[name, Object.fromEntries(Object.entries(value).map(([each, inner]) => [each, written(inner, space, old)]))]]
    // Values, not schemas: the host's own may have members of any name.
    if (VALUES.includes(name)) return [old && name === 'examples' && Array.isArray(value) ? ['example', value[0]] : [name, value]]
    if (name === '$ref' && typeof value === 'string') return [[name, `#/components/schemas/${space}.${value}`]]
    if (old && name === 'type' && Array.isArray(value)) return [['type', value[0]], ['nullable', true]]
    return [[name, written(value, space, old)]]
  }))
}

/** The names that a schema refers to, and those that they refer to. */
export function referred (schema: unknown, components: Readonly<Record<string, Schema>>, names = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return names
  for (const [name, value] of Object.entries(schema)) {
    if (VALUES.includes(name)) continue
    if (name !== '$ref' || typeof value !== 'string') referred(value, components, names)
    else if (!names.has(value)) referred(components[value], components, names.add(value))
  }
  return names
}
