// Which attribute of SCIM is which member of a user. A user is a set of slots: each is one simple value.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import type { UserRecord } from '../storage/storage.ts'
import { scimError } from './errors.ts'
import { type AttributeName, type FilterValue, parsePath, type Path } from './filter.ts'
import { ENTERPRISE_SCHEMA, MULTI, simpleValue, type Slot, slotOf, typeIn, USER_SCHEMA } from './slots.ts'

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

/** The values of a user by the keys of slots; null: to be removed. */
export type Values = Map<string, FilterValue>

export interface Mapping {
  slots: readonly Slot[]
  /** The slots that a path means; an empty list: it has no place. */
  find: (path: Path | AttributeName) => Slot[]
  isUnique: (slot: Slot) => boolean
  /** Takes over what a client sends at a path. `isWhole`: what is not sent of it is removed. */
  assign: (values: Values, path: Path, value: unknown, isWhole: boolean) => void
  /** Takes over a resource, or an operation without a path. */
  assignAll: (values: Values, resource: object) => void
  /** The body of a change of ours. */
  toBody: (values: Values) => JsonObject
  /** The attributes of a user. */
  toAttributes: (user: UserRecord) => JsonObject
  valueOf: (user: UserRecord, slot: Slot) => Json
}

/** What a name is made of, if no whole one is sent. */
const PARTS = ['name.givenname', 'name.familyname']
const READ_ONLY = ['id', 'meta', 'schemas', 'groups']

const STATUS = new Map<unknown, string>([[true, 'active'], [false, 'suspended']])

/**
 * Makes the mapping of a mount.
 * @throws TypeError for a mapping that does not fit the host's fields
 */
export function createMapping (
  { userName = 'email', externalId, attributes = {}, unknown = 'ignore' }: MappingOptions,
  { properties, unique }: Pick<FieldsSchema, 'properties' | 'unique'>
): Mapping {
  const require = (isRight: boolean, what: string): void => {
    if (!isRight) throw new TypeError(`fastify-users/scim: mapping.${what}`)
  }
  require(userName === 'email' || unique.has(userName), 'userName must be email, or a field of fields.unique')
  require(externalId === undefined || unique.has(externalId), 'externalId must be a field of fields.unique')
  for (const [path, field] of Object.entries(attributes)) {
    require(Object.hasOwn(properties, field), `attributes has ${JSON.stringify(path)}: there is no field ${field}`)
  }
  const ownId = externalId ?? (unique.has('externalId') ? 'externalId' : null)
  const slots: Slot[] = [
    slotOf('userName', userName === 'email' ? { member: 'email' } : { field: userName }),
    slotOf('name.formatted', { member: 'name' }),
    slotOf('displayName', { member: 'name' }),
    slotOf('active', { member: 'active' }),
    slotOf('emails[type eq "work"].value', { member: 'email' }),
    ...ownId === null ? [] : [slotOf('externalId', { field: ownId })],
    ...Object.entries(attributes).map(([path, field]) => slotOf(path, { field }))
  ]
  const byKey = new Map(slots.map((slot) => [slot.key, slot]))
  // With the address as user name, what a client sends as address besides it has no place.
  const isAlias = (slot: Slot): boolean => userName === 'email' && slot.key === 'emails[work].value'

  function find (path: Path | AttributeName): Slot[] {
    const { schema, name, sub } = path
    const filter = 'filter' in path ? path.filter : null
    const isMulti = MULTI.includes(name)
    const type = isMulti ? typeIn({ ...path, filter }) : ''
    // The primary value is the one that is kept, and so is any where none is named.
    return slots.filter((slot) => {
      const isSame = slot.name.toLowerCase() === name && (sub === '' || slot.sub.toLowerCase() === sub) &&
        (schema === '' || slot.schema.toLowerCase() === schema)
      return isSame && (!isMulti || type === '' || type === 'primary' || slot.type === type)
    })
  }

  function noPlace (name: string): void {
    if (unknown === 'refuse') throw scimError('invalidValue', `${name} has no place here.`)
  }

  const isBoolean = ({ target }: Slot): boolean => 'member' in target
    ? target.member === 'active'
    : Object(properties[target.field]).type === 'boolean'

  const set = (values: Values, slot: Slot, value: unknown): void => {
    values.set(slot.key, simpleValue(value, slot, isBoolean(slot)))
  }

  /** The values of a multi-valued attribute, each with its type. */
  function assignList (values: Values, path: Path, value: unknown, isWhole: boolean): void {
    const items = [value].flat().map((item: unknown) => isObject(item) ? item : { value: item })
    const found = find(path)
    const taken = new Set<Slot>()
    const member = (item: object, name: string): unknown =>
      Object.entries(item).find(([key]) => key.toLowerCase() === name)?.[1]
    const isPrimary = (item: object): boolean => member(item, 'primary') === true
    for (const item of [...items.filter(isPrimary), ...items.filter((each) => !isPrimary(each))]) {
      const type = String(member(item, 'type') ?? typeIn(path)).toLowerCase()
      const fit = found.filter((slot) => type === '' || type === 'primary' || slot.type === type ||
        (isPrimary(item) && path.name === 'emails'))
      if (fit.length === 0) noPlace(path.name)
      for (const slot of fit) {
        const sent = member(item, slot.sub.toLowerCase())
        if (sent === undefined || taken.has(slot)) continue
        taken.add(slot)
        set(values, slot, sent)
      }
    }
    if (isWhole) for (const slot of found) if (!taken.has(slot)) values.set(slot.key, null)
  }

  /** A part of a name that has no place is kept for the whole name, which both parts make. */
  function keepPart (values: Values, key: string, value: unknown): void {
    if (typeof value === 'string' || value === null) values.set(key, value)
  }

  function assign (values: Values, path: Path, value: unknown, isWhole: boolean): void {
    const { name, sub, schema } = path
    if (READ_ONLY.includes(name) || name === 'password') return
    if (MULTI.includes(name) && sub === '') return assignList(values, path, value, isWhole)
    const found = find(path)
    const part = `name.${sub}`
    if (name === 'name' && PARTS.includes(part) && found.length === 0) return keepPart(values, part, value)
    if (found.length === 0) return noPlace(name)
    const isComplex = sub === '' && found.some((slot) => slot.sub !== '')
    if (isObject(value) && isComplex && !Object.hasOwn(value, 'value')) {
      const sent = new Map(Object.entries(value).map(([key, each]) => [key.toLowerCase(), each]))
      for (const slot of found) {
        const own = sent.get(slot.sub.toLowerCase())
        if (own !== undefined) set(values, slot, own)
        else if (isWhole) values.set(slot.key, null)
      }
      for (const [key, each] of sent) {
        if (find({ schema, name, sub: key }).length > 0) continue
        if (name === 'name' && PARTS.includes(`name.${key}`)) keepPart(values, `name.${key}`, each)
        else noPlace(`${name}.${key}`)
      }
      return
    }
    for (const slot of sub === '' ? found.slice(0, 1) : found) set(values, slot, value)
  }

  function assignAll (values: Values, resource: object): void {
    for (const [key, value] of Object.entries(resource)) {
      if (key.toLowerCase() === ENTERPRISE_SCHEMA.toLowerCase() && isObject(value)) {
        for (const [inner, each] of Object.entries(value)) {
          assign(values, { ...parsePath(inner), schema: ENTERPRISE_SCHEMA.toLowerCase() }, each, true)
        }
      // Other schemas, such as Okta's, mean nothing here.
      } else if (!/^urn:/i.test(key) || key.toLowerCase().startsWith(`${ENTERPRISE_SCHEMA.toLowerCase()}:`)) {
        assign(values, parsePath(key), value, true)
      }
    }
  }

  function toBody (values: Values): JsonObject {
    const body: Body = {}
    const text = (key: string): string | null => {
      const value = values.get(key)
      return typeof value === 'string' && value !== '' ? value : null
    }
    const parts = PARTS.map(text)
    const names = [text('name.formatted'), text('displayname.'), parts.includes(null) ? null : parts.join(' ')]
    const own = names.find((name) => name !== null && name !== '')
    if (own !== undefined && own !== null) body['name'] = own
    for (const [key, value] of values) {
      const slot = byKey.get(key)
      if (slot === undefined || isAlias(slot)) continue
      const { target } = slot
      if ('field' in target) body[target.field] = value
      else if (target.member === 'email' && value !== null) body['email'] = value
      else if (target.member === 'active' && value !== null) body['status'] = STATUS.get(value) ?? value
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
      const to = slot.schema.toLowerCase() === ENTERPRISE_SCHEMA.toLowerCase() ? enterprise : attributes
      if (slot.type !== '') {
        const list: object[] = Object(to[slot.name] ?? [])
        const known = list.find((item) => Object(item).type === slot.type)
        if (known !== undefined) Object.assign(known, { [slot.sub]: value })
        else list.push({ [slot.sub]: value, type: slot.type, ...(slot.name === 'emails' && { primary: true }) })
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

  return { slots, find, isUnique, assign, assignAll, toBody, toAttributes, valueOf }
}
