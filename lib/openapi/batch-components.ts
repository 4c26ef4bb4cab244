import { scopesOf } from '../api-keys/scopes.ts'
import { BATCH_MAX } from '../core/limits.ts'
import { answer, body, known, moment, type Schema, tenantId, userId } from './component-parts.ts'

const ifMatch: Schema = {
  type: 'string',
  description: 'Like the header `If-Match`: entity tags, one of which the user must have, or `*`.',
  examples: ['"3"']
}

const OPTIONAL = { optional: ['ifMatch'] }

const op = (name: string): Schema => ({ type: 'string', enum: [name] })

/** Components of batches. `input`: an example of a new user, if there is one. */
export const batchComponents = (input: unknown, hasTrash: boolean): Readonly<Record<string, Schema>> => ({
  Batch: body({
    operations: {
      type: 'array',
      minItems: 1,
      maxItems: BATCH_MAX,
      items: { anyOf: [{ $ref: 'BatchCreation' }, { $ref: 'BatchUpdate' }, { $ref: 'BatchDeletion' }] }
    },
    atomic: { type: 'boolean', description: 'True applies all operations or none. Default: false, each on its own.' }
  }, {
    optional: ['atomic'],
    example: input && { operations: [{ op: 'create', body: input }], atomic: true }
  }),
  BatchCreation: body({ op: op('create'), body: { $ref: 'UserInput' } }),
  BatchUpdate: body({ op: op('update'), id: userId, body: { $ref: 'UserPatch' }, ifMatch }, OPTIONAL),
  BatchDeletion: body({
    op: { type: 'string', enum: ['delete', ...hasTrash ? ['restore', 'purge'] : []] }, id: userId, ifMatch
  }, OPTIONAL),
  BatchResults: answer({
    data: { type: 'array', items: { $ref: 'BatchResult' }, description: 'In the order of the operations.' }
  }),
  BatchResult: answer({
    status: { type: 'integer', description: 'The HTTP status that the operation would get as a request of its own.' },
    etag: { type: 'string', description: 'The entity tag of the user.' },
    body: {
      anyOf: [{ $ref: 'User' }, { $ref: 'MinimalUser' }, { $ref: 'PartProblem' }, { type: 'null' }],
      description: 'The user afterwards (without the scope `users:read`, only id and times), problem details (RFC ' +
        '9457), or `null` after a deletion, and in a replay if the user was deleted since.'
    }
  }, { optional: ['etag'] })
})

const flag: Schema = { type: 'boolean' }
const whole: Schema = { type: 'integer', minimum: 1 }
const names: Schema = { type: 'array', items: { type: 'string' } }

/** The component of the capabilities. */
export const capabilitiesComponents: Readonly<Record<string, Schema>> = {
  Capabilities: answer({
    caller: answer({
      type: known(['api_key', 'static', 'host']),
      id: { type: 'string' },
      name: { type: 'string', description: 'The name of the key, or of the signed-in caller.' },
      scopes: { ...names, description: `Such as ${scopesOf(false).map((scope) => `\`${scope}\``).join(', ')}.` },
      expiresAt: moment('When the key expires. Absent if it never does.'),
      tenant: { ...tenantId, description: 'The tenant that the caller is bound to. Absent if there is none.' }
    }, { optional: ['name', 'expiresAt', 'tenant'] }),
    offers: answer({ apiKeys: flag, events: flag, webhooks: flag, groups: flag, tenants: flag, trash: flag }),
    requireIfMatch: { ...flag, description: 'True if changes and deletions need `If-Match`.' },
    trashRetention: { ...whole, description: 'Seconds that deleted users are kept. Absent if they are not kept.' },
    pageSize: answer({ default: whole, max: whole }),
    scopes: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The server’s own scopes, and what each allows.'
    },
    fields: answer({ properties: { type: 'object' }, required: names }),
    filterable: { ...names, description: 'The fields that lists can be filtered by.' },
    searchable: { ...names, description: 'The fields that a search covers, besides names and e-mail addresses.' }
  }, { optional: ['trashRetention'] })
}
