import type { Schema } from './schemas.ts'

/** A schema with references to the components of a mount, in the words of the description's version: OpenAPI 3.0 has no lists of types, and no lists of examples. */
export function written (schema: unknown, space: string, old: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((each) => written(each, space, old))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(Object.entries(schema).flatMap(([name, value]): Array<[string, unknown]> => {
    if (name === '$ref') return [[name, `#/components/schemas/${space}.${value}`]]
    if (old && name === 'examples') return [['example', value[0]]]
    if (old && name === 'type' && Array.isArray(value)) return [['type', value[0]], ['nullable', true]]
    return [[name, written(value, space, old)]]
  }))
}

/** The names that a schema refers to, and those that they refer to. */
export function referred (schema: unknown, components: Readonly<Record<string, Schema>>, names = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return names
  for (const [name, value] of Object.entries(schema)) {
    if (name !== '$ref') referred(value, components, names)
    else if (!names.has(value)) referred(components[value], components, names.add(value))
  }
  return names
}
