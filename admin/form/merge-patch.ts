import { isObject, type Json, type JsonObject } from '../api/types.ts'

/** A value after a merge patch (RFC 7396 section 2). */
export function merged (value: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const result: JsonObject = isObject(value) ? { ...value } : {}
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) delete result[name]
    else result[name] = merged(result[name], member)
  }
  return result
}

/** The merge patch from one value to another. Undefined, where there is nothing, becomes null, which removes. */
export function difference (from: Json | undefined, to: Json | undefined): Json {
  if (!isObject(from) || !isObject(to)) return to ?? null
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])]
  return Object.fromEntries(names
    .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .map((name) => [name, difference(from[name], to[name])]))
}
