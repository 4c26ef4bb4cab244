// What a SCIM server says of itself (RFC 7643 sections 5 to 7, RFC 9865 section 4).

import type { JsonObject } from '../core/json.ts'
import { OPERATIONS_MAX } from './errors.ts'
import type { Mapping } from './mapping.ts'
import { ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from './slots.ts'

const CORE = 'urn:ietf:params:scim:schemas:core:2.0'

/** The most that a client may ask for at once. */
export const COUNT_MAX = 1000
export const COUNT_USUAL = 100
export const PAYLOAD_MAX = 1024 * 1024

interface Characteristics {
  mutability?: string
  uniqueness?: string
  required?: boolean
  type?: string
  multi?: boolean
}

const attribute = (
  name: string, description: string, { mutability, uniqueness, required, type, multi }: Characteristics = {},
  subAttributes?: object[]
): JsonObject => ({
  name,
  type: type ?? (subAttributes === undefined ? 'string' : 'complex'),
  ...(subAttributes !== undefined && { subAttributes: Object(subAttributes) }),
  multiValued: multi ?? false,
  description,
  required: required ?? false,
  ...(type !== 'boolean' && subAttributes === undefined && { caseExact: false }),
  mutability: mutability ?? 'readWrite',
  returned: 'default',
  ...(type !== 'boolean' && subAttributes === undefined && { uniqueness: uniqueness ?? 'none' })
})

const KINDS = [
  attribute('type', 'The kind of the value.'), attribute('primary', 'True for one of them.', { type: 'boolean' })
]

/** The attributes of one schema, from the slots of a mapping. */
function attributesOf (mapping: Mapping, schema: string): JsonObject[] {
  const own = mapping.slots.filter((slot) => slot.schema.toLowerCase() === schema.toLowerCase())
  const names = [...new Set(own.map(({ name }) => name))].filter((name) => name !== 'externalId')
  return names.map((name) => {
    const slots = own.filter((slot) => slot.name === name)
    const [first] = slots
    if (first === undefined || first.sub === '') {
      const isUnique = first !== undefined && mapping.isUnique(first)
      return attribute(name, `The ${name} of the user.`, {
        ...(name === 'active' && { type: 'boolean' }),
        ...(name === 'userName' && { required: true }),
        ...(isUnique && { uniqueness: 'server' })
      })
    }
    const subs = [...new Set(slots.map(({ sub }) => sub))].map((sub) => attribute(sub, `The ${sub} of ${name}.`))
    const isMulti = first.type !== ''
    return attribute(name, `The ${name} of the user.`, { multi: isMulti }, [...subs, ...isMulti ? KINDS : []])
  })
}

const meta = (resourceType: string, location: string): JsonObject => ({ resourceType, location })

/** The schemas of the resources. `hasGroups`: there are groups. */
export function schemasOf (mapping: Mapping, hasGroups: boolean, base: string): JsonObject[] {
  const schema = (id: string, name: string, attributes: JsonObject[]): JsonObject => ({
    schemas: [`${CORE}:Schema`], id, name, description: name, attributes, meta: meta('Schema', `${base}/Schemas/${id}`)
  })
  const enterprise = attributesOf(mapping, ENTERPRISE_SCHEMA)
  const member = [
    attribute('value', 'The id of a user.', { mutability: 'immutable' }),
    attribute('type', 'User.', { mutability: 'immutable' }),
    attribute('$ref', 'Where the user is.', { mutability: 'immutable', type: 'reference' })
  ]
  return [
    schema(USER_SCHEMA, 'User', attributesOf(mapping, USER_SCHEMA)),
    ...enterprise.length > 0 ? [schema(ENTERPRISE_SCHEMA, 'Enterprise User', enterprise)] : [],
    ...hasGroups
      ? [schema(GROUP_SCHEMA, 'Group', [
          attribute('displayName', 'The name of the group.', { required: true, uniqueness: 'server' }),
          attribute('members', 'The members of the group.', { multi: true }, member)
        ])]
      : []
  ]
}

/** The types of resources. */
export function resourceTypesOf (mapping: Mapping, hasGroups: boolean, base: string): JsonObject[] {
  const type = (name: string, schema: string, extensions: object[]): JsonObject => ({
    schemas: [`${CORE}:ResourceType`],
    id: name,
    name,
    endpoint: `/${name}s`,
    description: name,
    schema,
    ...(extensions.length > 0 && { schemaExtensions: Object(extensions) }),
    meta: meta('ResourceType', `${base}/ResourceTypes/${name}`)
  })
  const isExtended = mapping.slots.some(({ schema }) => schema.toLowerCase() === ENTERPRISE_SCHEMA.toLowerCase())
  return [
    type('User', USER_SCHEMA, isExtended ? [{ schema: ENTERPRISE_SCHEMA, required: false }] : []),
    ...hasGroups ? [type('Group', GROUP_SCHEMA, [])] : []
  ]
}

/** What the server supports. */
export const providerConfig = (base: string): JsonObject => ({
  schemas: [`${CORE}:ServiceProviderConfig`],
  documentationUri: 'https://www.rfc-editor.org/rfc/rfc7644',
  patch: { supported: true },
  bulk: { supported: true, maxOperations: OPERATIONS_MAX, maxPayloadSize: PAYLOAD_MAX },
  filter: { supported: true, maxResults: COUNT_MAX },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  pagination: {
    cursor: true,
    index: true,
    defaultPaginationMethod: 'index',
    defaultPageSize: COUNT_USUAL,
    maxPageSize: COUNT_MAX
  },
  authenticationSchemes: [{
    type: 'oauthbearertoken',
    name: 'API key',
    description: 'An API key with the scopes scim:users and scim:groups, as Authorization: Bearer.',
    specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
    primary: true
  }],
  meta: meta('ServiceProviderConfig', `${base}/ServiceProviderConfig`)
})
