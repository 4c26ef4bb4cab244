// Which attribute of SCIM is which member of a user. A user is a set of slots: each is one simple value.

import type { Json, JsonObject } from '../core/json.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import type { UserRecord } from '../storage/storage.ts'
import { type Assignment, createAssignment, isIgnored, NAME_PARTS, type Values } from './assignment.ts'
import { scimError } from './errors.ts'
import { ENTERPRISE_KEY, ENTERPRISE_SCHEMA, USER_SCHEMA } from './schemas.ts'
import { type Slot, slotOf } from './slots.ts'

/** The option `mapping`. */
export interface MappingOptions {
  /** The member that `userName` is: `email` (the default), or a unique field of your own. */
  userName?: string
  /** The unique field of your own that `externalId` is. Default: `externalId`, if you declare it. */
  externalId?: string
  /** Other attributes, by their paths, with the fields of your own that they are. */
  attributes?: Readonly<Record<string, string>>
  /** What becomes of attributes that have no place. Default `ignore`: the answer shows what was kept. */
  unknown?: 'ignore' | 'refuse'
}

type Body = Record<string, Json>

export interface Mapping extends Assignment {
  slots: readonly Slot[]
  isUnique: (slot: Slot) => boolean
  /** The body of a change of ours. */
  toBody: (values: Values) => JsonObject
  /** The attributes of a user. */
  toAttributes: (user: UserRecord) => JsonObject
  valueOf: (user: UserRecord, slot: Slot) => Json
  /** What clients are told of the values of a slot. */
  kindOf: (slot: Slot) => SlotKind
}

export interface SlotKind {
  type: 'string' | 'boolean' | 'integer' | 'decimal'
  required: boolean
  /** True if case counts. */
  caseExact: boolean
  /** True if what is sent is not kept. */
  readOnly: boolean
}

/** The key of the slot of `userName`. */
export const USER_NAME = 'username.'

const SCHEMAS = [USER_SCHEMA.toLowerCase(), ENTERPRISE_KEY]

function statusOf (isActive: unknown): string {
  if (typeof isActive === 'boolean') return isActive ? 'active' : 'suspended'
  throw scimError('invalidValue', 'active must be true or false.')
}

/**
 * Makes the mapping of a mount.
 * @throws TypeError for a mapping that does not fit the host's fields
 */
export function createMapping (
  { userName = 'email', externalId, attributes = {}, unknown = 'ignore' }: MappingOptions,
  { properties, unique, required, folded }: Pick<FieldsSchema, 'properties' | 'unique' | 'required' | 'folded'>
): Mapping {
  const require = (isRight: boolean, what: string): void => {
    if (!isRight) throw new TypeError(`fastify-users/scim: mapping.${what}`)
  }
  require(userName === 'email' || unique.has(userName), 'userName must be email, or a field of fields.unique')
  require(externalId === undefined || unique.has(externalId), 'externalId must be a field of fields.unique')
  const ownId = externalId ?? (unique.has('externalId') ? 'externalId' : null)
  const fixed: Slot[] = [
    slotOf('userName', userName === 'email' ? { member: 'email' } : { field: userName }),
    slotOf('name.formatted', { member: 'name' }),
    slotOf('displayName', { member: 'name' }),
    slotOf('active', { member: 'active' }),
    slotOf('emails[type eq "work"].value', { member: 'email' }),
    ...ownId === null ? [] : [slotOf('externalId', { field: ownId })]
  ]
  const own = Object.entries(attributes).map(([path, field]): Slot => {
    const slot = slotOf(path, { field })
    const wrong = `attributes has ${JSON.stringify(path)}`
    require(Object.hasOwn(properties, field), `${wrong}: there is no field ${field}`)
    require(SCHEMAS.includes(slot.schema.toLowerCase()), `${wrong}: its schema must be that of users, or ` +
      ENTERPRISE_SCHEMA)
    const isTaken = isIgnored(slot.name.toLowerCase()) ||
      (slot.name !== 'emails' && fixed.some(({ key }) => key === slot.key))
    require(!isTaken, `${wrong}, which has a place already, or can have none`)
    return slot
  })
  const slots = [...fixed, ...own]
  const byKey = new Map(slots.map((slot) => [slot.key, slot]))
  // With the address as user name, what a client sends as address besides it has no place.
  const isAlias = (slot: Slot): boolean => userName === 'email' && slot.key === 'emails[work].value'

  const isBoolean = ({ target }: Slot): boolean => 'member' in target
    ? target.member === 'active'
    : Object(properties[target.field]).type === 'boolean'

  const assignment = createAssignment({
    slots,
    isBoolean,
    // Case means nothing in user names (RFC 7643 section 4.1.1).
    isFolded: ({ key }) => key === USER_NAME && userName !== 'email',
    refuses: unknown === 'refuse'
  })
  const isFirstAddress = (slot: Slot): boolean => slot.name === 'emails' && assignment.isPrimary(slot)

  function toBody (values: Values): JsonObject {
    const body: Body = {}
    if (values.has(USER_NAME) && (values.get(USER_NAME) ?? '') === '') {
      throw scimError('invalidValue', 'userName is required.')
    }
    const text = (key: string): string | null => {
      const value = values.get(key)
      return typeof value === 'string' && value !== '' ? value : null
    }
    const parts = NAME_PARTS.map(text)
    const names = [text('name.formatted'), text('displayname.'), parts.includes(null) ? null : parts.join(' ')]
    const own = names.find((name) => name !== null && name !== '')
    if (own !== undefined && own !== null) body['name'] = own
    for (const [key, value] of values) {
      const slot = byKey.get(key)
      if (slot === undefined || isAlias(slot)) continue
      const { target } = slot
      if ('field' in target) body[target.field] = value
      else if (target.member === 'email' && value !== null) body['email'] = value
      else if (target.member === 'active' && value !== null) body['status'] = statusOf(value)
    }
    return body
  }

  function valueOf (user: UserRecord, { target }: Slot): Json {
    if ('field' in target) return Object.hasOwn(user.fields, target.field) ? user.fields[target.field] ?? null : null
    return target.member === 'active' ? user.status === 'active' : user[target.member]
  }

  function toAttributes (user: UserRecord): JsonObject {
    const attributes: Body = {}
    const enterprise: Body = {}
    for (const slot of slots) {
      const value = valueOf(user, slot)
      if (value === null) continue
      const to = slot.schema.toLowerCase() === ENTERPRISE_KEY ? enterprise : attributes
      if (slot.type !== '') {
        const list: object[] = Object(to[slot.name] ?? [])
        const known = list.find((item) => Object(item).type === slot.type)
        if (known !== undefined) Object.assign(known, { [slot.sub]: value })
        else list.push({ [slot.sub]: value, type: slot.type, ...(isFirstAddress(slot) && { primary: true }) })
        to[slot.name] = Object(list)
      } else if (slot.sub !== '') {
        to[slot.name] = { ...Object(to[slot.name]), [slot.sub]: value }
      } else {
        to[slot.name] = value
      }
    }
    const hasEnterprise = Object.keys(enterprise).length > 0
    return {
      schemas: [USER_SCHEMA, ...hasEnterprise ? [ENTERPRISE_SCHEMA] : []],
      ...attributes,
      ...(hasEnterprise && { [ENTERPRISE_SCHEMA]: enterprise })
    }
  }

  const isUnique = ({ target }: Slot): boolean =>
    'field' in target ? unique.has(target.field) : target.member === 'email'

  function kindOf (slot: Slot): SlotKind {
    const { target } = slot
    if (!('field' in target)) {
      return {
        type: target.member === 'active' ? 'boolean' : 'string',
        required: slot.key === USER_NAME || (target.member === 'email' && !isAlias(slot)),
        caseExact: false,
        readOnly: isAlias(slot)
      }
    }
    const { field } = target
    const declared: unknown = Object(properties[field]).type
    const isName = slot.key === USER_NAME
    return {
      type: declared === 'boolean' || declared === 'integer' ? declared : declared === 'number' ? 'decimal' : 'string',
      required: isName || required.includes(field),
      caseExact: !isName && !folded.has(field),
      readOnly: false
    }
  }

  return { ...assignment, slots, isUnique, toBody, toAttributes, valueOf, kindOf }
}
