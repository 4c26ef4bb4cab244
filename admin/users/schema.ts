import type { Capabilities, Schema } from '../api/types.ts'
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
    required: ['name', 'email', ...fields.required]
  }
}
