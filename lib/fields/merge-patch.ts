import type { Json, JsonObject } from '../storage.ts'
import { isJsonObject } from '../json.ts'

/** Applies a JSON Merge Patch (RFC 7396 section 2). Members keep their places; new ones come behind. */
export function mergePatch (target: Json | undefined, patch: JsonObject): JsonObject {
  const merged: Record<string, Json> = isJsonObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = isJsonObject(value) ? mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value) : value
  }
  return merged
}
