// What a SCIM server says of itself (RFC 7643 sections 5 to 7, RFC 9865 section 4).

import type { JsonObject } from '../core/json.ts'
import { OPERATIONS_MAX } from './errors.ts'
import type { Mapping } from './mapping.ts'
import { ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from './schemas.ts'
import type { Slot } from './slots.ts'

const CORE = 'urn:ietf:params:scim:schemas:core:2.0'

/** The most resources on one page. */
export const COUNT_MAX = 1000
export const COUNT_USUAL = 100
export const PAYLOAD_MAX = 1024 * 1024

interface Characteristics {
  mutability?: string
  uniqueness?: string
  required?: boolean
  type?: string
  multi?: boolean
  caseExact?: boolean
  /** The values that it has. */
  values?: readonly string[]
  /** The types of resources that a reference leads to. */
  leadsTo?: readonly string[]
}

const attribute = (
  name: string, description: string, own: Characteristics = {}, subAttributes?: object[]
): JsonObject => {
  const { mutability, uniqueness, required, multi, caseExact, values, leadsTo } = own
  const type = own.type ?? (subAttributes === undefined ? 'string' : 'complex')
  const isText = type === 'string' || type === 'reference'
  return {
    name,
    type,
    ...(subAttributes !== undefined && { subAttributes: Object(subAttributes) }),
    multiValued: multi ?? false,
    description,
    required: required ?? false,
    ...(values !== undefined && { canonicalValues: values }),
    ...(isText && { caseExact: caseExact ?? false }),
    mutability: mutability ?? 'readWrite',
    returned: 'default',
    ...(isText && { uniqueness: uniqueness ?? 'none' }),
    ...(leadsTo !== undefined && { referenceTypes: leadsTo })
  }
}

/** The attributes of one schema, from the slots of a mapping. */
function attributesOf (mapping: Mapping, schema: string): JsonObject[] {
  const own = mapping.slots.filter((slot) => slot.schema.toLowerCase() === schema.toLowerCase())
  const names = [...new Set(own.map(({ name }) => name))].filter((name) => name !== 'externalId')
  const describe = (name: string, slot: Slot, text: string): JsonObject => {
    const { type, required, caseExact, readOnly } = mapping.kindOf(slot)
    return attribute(name, text, {
      type,
      required,
      caseExact,
      ...(readOnly && { mutability: 'readOnly' }),
      ...(mapping.isUnique(slot) && !readOnly && { uniqueness: 'server' })
    })
  }
  return names.flatMap((name): JsonObject[] => {
    const slots = own.filter((slot) => slot.name === name)
    const [first] = slots
    if (first === undefined) return []
    if (first.sub === '') {
      const isName = name === 'displayName'
      return [describe(name, first, isName ? 'The name of the user, as name.formatted.' : `The ${name} of the user.`)]
    }
    const bySub = [...new Map(slots.map((slot) => [slot.sub, slot]))]
    const subs = bySub.map(([sub, slot]) => describe(sub, slot, `The ${sub} of ${name}.`))
    const kinds = slots.map((slot) => mapping.kindOf(slot))
    const isMulti = first.type !== ''
    const mutability = kinds.every(({ readOnly }) => readOnly) ? 'readOnly' : 'readWrite'
    const values = [...new Set(slots.map(({ type }) => type))]
    return [attribute(name, `The ${name} of the user.`, {
      multi: isMulti, mutability, required: kinds.some(({ required }) => required)
    }, [...subs, ...isMulti
      ? [
          attribute('type', 'The kind of the value.', { values, mutability }),
          attribute('primary', 'True for one of them.', { type: 'boolean', mutability: 'readOnly' })
        ]
      : []])]
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
    attribute('type', 'User.', { mutability: 'immutable', values: ['User'] }),
    attribute('$ref', 'Where the user is.', {
      mutability: 'immutable', type: 'reference', caseExact: true, leadsTo: ['User']
    })
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
