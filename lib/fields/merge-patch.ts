import { isJsonObject } from '../core/json.ts'
import type { Json, JsonObject } from '../storage/storage.ts'

/** Applies a JSON Merge Patch (RFC 7396 section 2). Members keep their order; new ones follow. */
export function mergePatch (target: Json | undefined, patch: JsonObject): JsonObject {
  const merged: Record<string, Json> = isJsonObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else if (!isJsonObject(value)) merged[name] = value
    else merged[name] = mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value)
  }
  return merged
}
