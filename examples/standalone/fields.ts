import { readFileSync } from 'node:fs'
import type { FieldsJsonSchema } from 'fastify-users'
import { ConfigError } from './config.ts'

function isFieldsSchema (value: unknown): value is FieldsJsonSchema {
  return typeof value === 'object' && value !== null && 'properties' in value
}

/**
 * The fields of users, from a file with a JSON Schema.
 * @throws ConfigError
 */
export function readFields (path: string): FieldsJsonSchema {
  let schema: unknown
  try {
    schema = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw new ConfigError(['FIELDS_FILE must be the path of a file with JSON'])
  }
  if (isFieldsSchema(schema)) return schema
  throw new ConfigError(['FIELDS_FILE must have a JSON Schema of an object, with properties'])
}
