import type { Schema } from './component-parts.ts'

/** Keywords that hold values, not schemas: the host's own values may have members of any name. */
const VALUE_KEYWORDS = ['examples', 'default', 'enum', 'const']

/** A schema whose references lead to where the components are. `placeOf`: the place of one by its name. */
export function withReferences (schema: unknown, placeOf: (name: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((each) => withReferences(each, placeOf))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (VALUE_KEYWORDS.includes(keyword)) return [keyword, value]
    // Members are names, not keywords.
    if (keyword === 'properties' && typeof value === 'object') {
      const members = Object.entries(value).map(([name, inner]) => [name, withReferences(inner, placeOf)] as const)
      return [keyword, Object.fromEntries(members)]
    }
    if (keyword === '$ref' && typeof value === 'string') return [keyword, placeOf(value)]
    return [keyword, withReferences(value, placeOf)]
  }))
}

/** The names of the components that a schema refers to, directly and through other components. */
export function referencedNames (
  schema: unknown,
  components: Readonly<Record<string, Schema>>,
  names = new Set<string>()
): Set<string> {
  if (typeof schema !== 'object' || schema === null) return names
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUE_KEYWORDS.includes(keyword)) continue
    if (keyword !== '$ref' || typeof value !== 'string') referencedNames(value, components, names)
    else if (!names.has(value)) referencedNames(components[value], components, names.add(value))
  }
  return names
}
