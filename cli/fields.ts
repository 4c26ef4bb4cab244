import { readFile } from 'node:fs/promises'
import { isObject } from '../lib/core/json.ts'
import { createHostFields, type HostFields } from '../lib/fields/host-fields.ts'
import { LIST_PARAMETERS } from '../lib/users/list-query.ts'
import { RESERVED_NAMES } from '../lib/users/rules.ts'
import { UsageError } from './failure.ts'

/**
 * The host's fields from a file with their schema. `unique`: the option of the server.
 * @throws UsageError, TypeError
 */
export async function fieldsIn (path: string, unique: readonly string[] = []): Promise<HostFields> {
  const schema: unknown = await readFile(path, 'utf8').then(JSON.parse).catch(() => null)
  if (!isObject(schema) || !isObject(schema['properties'])) {
    throw new UsageError('--fields must be a file with the JSON Schema of an object with properties')
  }
  const found = { filterable: [], unique }
  return createHostFields({ schema, ...found }, { members: RESERVED_NAMES, parameters: LIST_PARAMETERS })
}
