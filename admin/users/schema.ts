import { TENANT } from '../../lib/core/tenant.ts'
import { type Capabilities, isObject, type JsonObject, type Schema, type User } from '../api/types.ts'
import type { Speech } from '../state/texts.ts'

/** A user as one schema: the two members of every user, then the host's fields. */
export function userSchema ({ fields }: Capabilities, { say }: Speech): Schema {
  return {
    type: 'object',
    properties: {
      name: { type: 'string', title: say('users.name') },
      email: { type: 'string', format: 'email', title: say('users.email') },
      ...fields.properties
    },
    required: ['name', 'email', ...fields.required],
    additionalProperties: false
  }
}

/** The same with the tenant, which whoever makes a user for any of them says. */
export function withTenant (schema: Schema, { say }: Speech): Schema {
  const tenant = { type: 'string', title: say('users.tenant'), pattern: TENANT.source }
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return { ...schema, properties: { tenant, ...Object(schema['properties']) }, required: ['tenant', ...required] }
}

/** The members of a user that can be changed. */
export function editable (schema: Schema, user: User): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(Object.entries(user).filter(([name]) => Object.hasOwn(properties, name)))
}
