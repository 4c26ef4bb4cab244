// Users as SCIM has them, on the service of users alone.

import type { Call } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { isUserId } from '../core/ids.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import { checkEmail } from '../core/text.ts'
import type { Page, UserConditions, UserRecord } from '../storage/storage.ts'
import type { UsersService } from '../users/service.ts'
import type { WriteOptions } from '../users/write-options.ts'
import { type Current, NOBODY, type Values } from './assignment.ts'
import { scimError } from './errors.ts'
import { type AttributeName, conjuncts, type Filter, isValue, namedValues, parseFilter } from './filter.ts'
import { type Mapping, USER_NAME } from './mapping.ts'
import { type Change, readChanges } from './patch.ts'
import { type Slot, TRUTH } from './slots.ts'

/** Which part of a list is asked for. */
export interface ScimPage { limit: number, from: { offset: number } | { after: string } }

/** What a list is sorted by. */
export interface ScimSort { attribute: AttributeName, descending: boolean }

type Query = Record<string, unknown>

// A change that meets others again and again gives up after so many.
const ATTEMPTS = 20
const MAX = '\u{10ffff}'

const BOUNDS = { gt: 'gt', ge: 'gte', lt: 'lt', le: 'lte' } as const
const EXTERNAL_ID = 'externalid.'
const MOMENTS: Readonly<Record<string, string>> = { created: 'createdAt', lastmodified: 'updatedAt' }

const unserved = (what: string): UsersError => scimError('invalidFilter', `${what} is not served: users are found by ` +
  'eq with id, userName, externalId, emails, active and the filterable fields, by pr and sw with the latter, and by ' +
  'gt, ge, lt and le with meta.created and meta.lastModified, all joined by and.')

export type ScimUsers = ReturnType<typeof createScimUsers>

/** Makes what SCIM does with users. */
export function createScimUsers (users: UsersService, mapping: Mapping, filterable: ReadonlySet<string>) {
  const nobody = (): never => { throw new UsersError('user_not_found') }

  /** What a filter asks for: parameters of lists, and conditions that none of them has; null: nobody. */
  function queryOf (text: string): { query: Query, conditions: UserConditions } | null {
    const wanted = new Map<string, readonly unknown[]>()
    const moments: Query = {}
    const ranges: Array<NonNullable<UserConditions['ranges']>[number]> = []
    let isNobody = false
    /** Conditions of one parameter that differ leave nobody. */
    const ask = (name: string, values: readonly unknown[]): void => {
      const before = wanted.get(name)
      const left = before === undefined ? values : values.filter((each) => before.includes(each))
      if (left.length === 0) isNobody = true
      wanted.set(name, left)
    }

    function askValues (slot: Slot, values: readonly unknown[]): void {
      const { target } = slot
      if ('field' in target) {
        const named = slot.key === USER_NAME ? values.flatMap((each) => [each, String(each).toLowerCase()]) : values
        return ask(`${target.field}[in]`, [...new Set(named)])
      }
      if (target.member === 'active') {
        return ask('status', values.map((each) => {
          const is = typeof each === 'string' ? TRUTH.get(each.toLowerCase()) : each
          if (typeof is !== 'boolean') throw scimError('invalidFilter', 'active is true or false.')
          return is ? 'active' : 'suspended'
        }))
      }
      ask('email[in]', values.flatMap((each) =>
        typeof each === 'string' && 'key' in checkEmail(each) ? each.toLowerCase() : []))
    }

    function add (filter: Filter): void {
      const attribute = 'attribute' in filter ? filter.attribute : firstIn(filter)
      const of = filter.op === 'has' ? filter.of[0] : filter
      const { schema, name, sub } = attribute
      if (name === 'meta' && 'value' in of && of.op in BOUNDS) return addMoment(of)
      if (name === 'id') {
        const ids = namedValues(of, (each) => each.name === 'id')
        if (ids === null) throw unserved('This filter on id')
        return ask('ids', ids.filter(isUserId))
      }
      const isMeant = (each: AttributeName): boolean => filter.op === 'has'
        ? each.name === 'value'
        : each.name === name && each.sub === sub && each.schema === schema
      const [slot] = mapping.find(filter.op === 'has' ? { ...attribute, filter: typesOf(of) } : attribute)
      if (slot === undefined) throw unserved(`A filter on ${name}`)
      const values = namedValues(filter.op === 'has' ? valuesOf(of) : of, isMeant)
      const isOwn = 'field' in slot.target && filterable.has(slot.target.field)
      const isServed = isOwn || mapping.isUnique(slot) || slot.key === 'active.'
      if (values !== null && isServed) return askValues(slot, values)
      if ('field' in slot.target && isOwn) {
        const { field } = slot.target
        if (of.op === 'pr') return ask(`${field}[exists]`, [true])
        if (of.op === 'sw' && typeof of.value === 'string' && of.value !== '') {
          ranges.push({ of: { field }, gte: of.value, lt: of.value + MAX })
          return
        }
      }
      const isAlways = of.op === 'pr' && ['userName', 'displayName', 'name', 'active', 'emails'].includes(slot.name)
      if (!isAlways) throw unserved(`This filter on ${slot.name}`)
    }

    function addMoment (filter: Filter & { value: unknown }): void {
      const member = 'attribute' in filter ? MOMENTS[filter.attribute.sub] : undefined
      const bound = Object.entries(BOUNDS).find(([op]) => op === filter.op)?.[1]
      if (member === undefined || bound === undefined) throw unserved('This filter on meta')
      moments[`${member}[${bound}]`] = filter.value
    }

    for (const part of conjuncts(parseFilter(text))) add(part)
    if (isNobody) return null
    return { query: { ...parametersOf(wanted), ...moments }, conditions: ranges.length === 0 ? {} : { ranges } }
  }

  /** The first attribute that a filter names. */
  function firstIn (filter: Filter): AttributeName {
    if ('attribute' in filter) return filter.attribute
    const [first] = filter.of
    if (first === undefined || filter.op === 'not') throw unserved('not')
    return firstIn(first)
  }

  /** In `emails[type eq "work" and value eq "x"]` the condition on the type, and the rest. */
  const typesOf = (filter: Filter): Filter | null => conjuncts(filter).find((each) =>
    namedValues(each, ({ name }) => name === 'type' || name === 'primary') !== null) ?? null
  function valuesOf (filter: Filter): Filter {
    const [rest, ...more] = conjuncts(filter).filter((each) => each !== typesOf(filter))
    if (rest === undefined || more.length > 0) throw unserved('This filter on the values of an attribute')
    return rest
  }

  /** Lists of one value as the parameter of one value, where there is one. */
  const parametersOf = (wanted: ReadonlyMap<string, readonly unknown[]>): Query =>
    Object.fromEntries([...wanted].map(([name, values]) => {
      const [only, ...more] = values
      if (name === 'status' || name.endsWith('[exists]')) return [name, only]
      return name.endsWith('[in]') && more.length === 0 ? [name.slice(0, -'[in]'.length), only] : [name, values]
    }))

  const SORTS = new Map([['username', 'email'], ['displayname', 'name'], ['name', 'name'], ['emails', 'email']])

  /** The order of a list. One that there is none for is that of creation (RFC 7644 section 3.4.2.3 leaves it open). */
  function sortOf ({ attribute, descending }: ScimSort): string | undefined {
    const { name, sub } = attribute
    const [slot] = mapping.find(attribute)
    const field = slot !== undefined && 'field' in slot.target ? slot.target.field : undefined
    const own = field === undefined ? SORTS.get(name) : filterable.has(field) ? field : undefined
    const by = name === 'meta' ? MOMENTS[sub] : own
    return by === undefined ? undefined : `${descending ? '-' : ''}${by}`
  }

  async function list (
    filter: string | undefined, page: ScimPage, sort: ScimSort | null, call: Call
  ): Promise<Page<UserRecord>> {
    const asked = filter === undefined ? { query: {}, conditions: {} } : queryOf(filter)
    if (asked === null) return { items: [], total: 0 }
    const by = sort === null ? undefined : sortOf(sort)
    try {
      const query = by === undefined ? asked.query : { ...asked.query, sort: by }
      return await users.find(query, asked.conditions, page, call)
    } catch (error) {
      if (!(error instanceof UsersError) || error.code !== 'validation_failed') throw error
      throw scimError('invalidFilter', (error.errors ?? []).map(({ detail }) => detail).join(' '))
    }
  }

  /** Makes a change on the user as it is. One that was changed meanwhile is read again, if no version is asked for. */
  async function change (
    id: string, bodyOf: (user: UserRecord) => JsonObject, options: WriteOptions, call: Call
  ): Promise<UserRecord> {
    for (let attempt = 1; ; attempt++) {
      const user = await users.get(id, { tenant: call.tenant })
      const isAsked = options.ifMatch !== undefined || options.ifNoneMatch !== undefined
      try {
        return await users.change(id, bodyOf(user), isAsked ? options : { ifMatch: user.version }, false, call)
      } catch (error) {
        const isOther = error instanceof UsersError && error.code === 'precondition_failed'
        if (isAsked || !isOther || attempt === ATTEMPTS) throw error
      }
    }
  }

  function requireObject (resource: unknown): object {
    if (isObject(resource)) return resource
    throw scimError('invalidSyntax', 'The body must be an object.')
  }

  return {
    list,
    get: (id: string, call: Call): Promise<UserRecord> => users.get(id, { tenant: call.tenant }),

    async create (resource: unknown, call: Call): Promise<UserRecord> {
      const values: Values = new Map([[USER_NAME, null]])
      mapping.assignAll(values, requireObject(resource), true, NOBODY)
      const body = mapping.toBody(values)
      const { user } = await users.create({
        // Some clients send a user name alone.
        name: String(values.get(USER_NAME)), ...withoutNulls(body)
      }, {}, call)
      return user
    },

    replace (id: string, resource: unknown, options: WriteOptions, call: Call): Promise<UserRecord> {
      const sent: Values = new Map()
      mapping.assignAll(sent, requireObject(resource), true, NOBODY)
      return change(id, () => {
        // Without `active` nobody is disabled, and without a name or an id of theirs nobody loses it.
        const values: Values = new Map(mapping.slots.flatMap(({ key }) => key === EXTERNAL_ID ? [] : [[key, null]]))
        for (const [key, value] of sent) values.set(key, value)
        return mapping.toBody(values)
      }, options, call)
    },

    patch (id: string, body: unknown, options: WriteOptions, call: Call): Promise<UserRecord> {
      const changes = readChanges(body)
      return change(id, (user) => mapping.toBody(changed(changes, user)), options, call)
    },

    async remove (id: string, options: WriteOptions, call: Call): Promise<void> {
      if (!isUserId(id)) nobody()
      await users.remove(id, options, call)
    }
  }

  /** What a PATCH changes of a user: each operation is judged by what those before it have made. */
  function changed (changes: readonly Change[], user: UserRecord): Values {
    const values: Values = new Map()
    const current: Current = (slot) => {
      const stored = mapping.valueOf(user, slot)
      return values.get(slot.key) ?? (values.has(slot.key) || !isValue(stored) ? null : stored)
    }
    for (const { op, path, value } of changes) {
      if (path === null) mapping.assignAll(values, Object(value), op === 'replace', current)
      else if (op !== 'remove') mapping.assign(values, path, value, op === 'replace', current)
      else if (path.name === 'username') throw scimError('mutability', 'userName is required.')
      else mapping.remove(values, path, current)
    }
    return values
  }
}

const withoutNulls = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
