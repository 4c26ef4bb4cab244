import { canonicalJson } from '../../lib/core/json.ts'
import { isObject, type Json, type JsonObject } from '../api/types.ts'

/** True for equal values. The order of members does not count, as it does not for the server. */
export function isSame (a: Json | undefined, b: Json | undefined): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

/** The member of a value; undefined if there is none. */
export function memberOf (value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** A value after a merge patch (RFC 7396 section 2). */
function merged (value: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const result: JsonObject = isObject(value) ? { ...value } : {}
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) delete result[name]
    else result[name] = merged(memberOf(result, name), member)
  }
  return result
}

/** The merge patch from one value to another. Undefined, where there is nothing, becomes null, which removes. */
function difference (from: Json | undefined, to: Json | undefined): Json {
  if (!isObject(from) || !isObject(to)) return to ?? null
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])]
  return Object.fromEntries(names
    .map((name) => [name, memberOf(from, name), memberOf(to, name)] as const)
    .filter(([, before, after]) => !isSame(before, after))
    .map(([name, before, after]) => [name, difference(before, after)]))
}

/**
 * The merge patch (RFC 7396) that makes one object another one. Undefined: there is none, since the other has a member
 * that is null, which a patch would remove.
 */
export function patchBetween (from: JsonObject, to: JsonObject): Json | undefined {
  const patch = difference(from, to)
  return isSame(merged(from, patch), to) ? patch : undefined
}
