// What clients send, as values of slots: which slots a path means, and what a request makes of them.

import { isObject } from '../core/json.ts'
import { scimError } from './errors.ts'
import { type AttributeName, type FilterValue, holds, parsePath, type Path } from './filter.ts'
import { member } from './patch.ts'
import { ENTERPRISE_KEY } from './schemas.ts'
import { MULTI, simpleValue, type Slot, typeIn } from './slots.ts'

/** The values of a user by the keys of slots; null: to be removed. */
export type Values = Map<string, FilterValue>

/** The value that a slot has now. */
export type Current = (slot: Slot) => FilterValue

/** Of a user who is not there yet. */
export const NOBODY: Current = () => null

export interface Assignment {
  /** The slots that a path means by its names; an empty list: it has no place. */
  find: (path: Path | AttributeName) => Slot[]
  /** True if it has the value that is shown as the primary one of its attribute. */
  isPrimary: (slot: Slot) => boolean
  /**
   * Takes over what a client sends at a path. `isWhole`: of an attribute with several values, those that are not sent
   * are removed. `current`: what a filter in the path is judged by.
   */
  assign: (values: Values, path: Path, value: unknown, isWhole: boolean, current: Current) => void
  /** Takes over a resource, or an operation without a path. */
  assignAll: (values: Values, resource: object, isWhole: boolean, current: Current) => void
  /** Removes what a path means. */
  remove: (values: Values, path: Path, current: Current) => void
}

interface Parts {
  slots: readonly Slot[]
  isBoolean: (slot: Slot) => boolean
  /** True if case means nothing in its values, which are kept in lower case. */
  isFolded: (slot: Slot) => boolean
  /** True if a request with attributes that have no place is refused. */
  refuses: boolean
}

/** What a name is made of, if no whole one is sent. */
export const NAME_PARTS = ['name.givenname', 'name.familyname']
const WITHOUT_PLACE = ['id', 'meta', 'schemas', 'groups', 'password']

/** True for attributes that the server alone sets, and for those that it never keeps. */
export const isIgnored = (name: string): boolean => WITHOUT_PLACE.includes(name)

export function createAssignment ({ slots, isBoolean, isFolded, refuses }: Parts): Assignment {
  function find (path: Path | AttributeName): Slot[] {
    const { schema, name, sub } = path
    const filter = 'filter' in path ? path.filter : null
    const isMulti = MULTI.includes(name)
    const type = isMulti ? typeIn({ ...path, filter }) : ''
    // The primary value is the one that is kept, and so is any where none is named.
    return slots.filter((slot) => {
      const isSame = (name === '' || slot.name.toLowerCase() === name) &&
        (sub === '' || slot.sub.toLowerCase() === sub) && (schema === '' || slot.schema.toLowerCase() === schema)
      return isSame && (!isMulti || type === '' || slot.type === type || (type === 'primary' && isPrimary(slot)))
    })
  }

  const isPrimary = (slot: Slot): boolean => slots.find(({ name }) => name === slot.name)?.type === slot.type

  /** The slots of the values that a path means; with a filter, of those that are there and for which it holds. */
  function meant (path: Path, current: Current): Slot[] {
    const { filter, name } = path
    const found = find({ ...path, filter: null })
    if (filter === null) return found
    if (!MULTI.includes(name)) throw scimError('invalidPath', `${name} has one value, and no filter.`)
    const isMeant = (type: string): boolean => {
      const of = slots.filter((slot) => slot.name.toLowerCase() === name && slot.type === type)
      const item = of.map((slot) => [slot.sub.toLowerCase(), current(slot)] as const)
      const [first] = of
      return first !== undefined && item.some(([, value]) => value !== null) &&
        holds(filter, new Map<string, FilterValue>([...item, ['type', type], ['primary', isPrimary(first)]]))
    }
    return found.filter(({ type }) => isMeant(type))
  }

  /** The slots that a path is to fill: those of a type that is not there yet, too. */
  function filled (path: Path, current: Current): Slot[] {
    const found = meant(path, current)
    if (found.length > 0 || path.filter === null) return found
    if (typeIn(path) === '') throw scimError('noTarget', `${path.name} has no such value.`)
    return find(path)
  }

  function noPlace (name: string): void {
    if (refuses) throw scimError('invalidValue', `${name} has no place here.`)
  }

  const set = (values: Values, slot: Slot, value: unknown): void => {
    const simple = simpleValue(value, slot, isBoolean(slot))
    // No two users would have an empty one.
    const kept = slot.name === 'externalId' && simple === '' ? null : simple
    values.set(slot.key, isFolded(slot) && typeof kept === 'string' ? kept.toLowerCase() : kept)
  }

  /** The values of a multi-valued attribute, each with its type. */
  function assignList (values: Values, path: Path, value: unknown, isWhole: boolean, current: Current): void {
    const items = [value].flat().map((item: unknown) => isObject(item) ? item : { value: item })
    const found = filled(path, current)
    const taken = new Set<Slot>()
    const isFirst = (item: object): boolean => member(item, 'primary') === true
    for (const item of [...items.filter(isFirst), ...items.filter((each) => !isFirst(each))]) {
      const type = path.filter === null ? String(member(item, 'type') ?? '').toLowerCase() : ''
      const fit = found.filter((slot) =>
        type === '' || slot.type === type || (isFirst(item) && path.name === 'emails'))
      if (fit.length === 0) noPlace(path.name)
      for (const slot of fit) {
        const sent = member(item, slot.sub.toLowerCase())
        if (sent === undefined || taken.has(slot)) continue
        taken.add(slot)
        set(values, slot, sent)
      }
    }
    if (isWhole && path.filter === null) for (const slot of found) if (!taken.has(slot)) values.set(slot.key, null)
  }

  /** A part of a name that has no place is kept for the whole name, which both parts make. */
  function keepPart (values: Values, key: string, value: unknown): void {
    if (typeof value === 'string' || value === null) values.set(key, value)
  }

  function assign (values: Values, path: Path, value: unknown, isWhole: boolean, current: Current): void {
    const { name, sub, schema } = path
    if (isIgnored(name)) return
    if (name === '') {
      if (!isObject(value)) throw scimError('invalidValue', 'The extension must be an object.')
      for (const [key, each] of Object.entries(value)) {
        assign(values, { ...parsePath(key), schema }, each, isWhole, current)
      }
      return
    }
    if (MULTI.includes(name) && sub === '') return assignList(values, path, value, isWhole, current)
    const found = filled(path, current)
    const part = `name.${sub}`
    if (name === 'name' && NAME_PARTS.includes(part) && found.length === 0) return keepPart(values, part, value)
    if (found.length === 0) return noPlace(name)
    const isComplex = sub === '' && found.some((slot) => slot.sub !== '')
    if (isObject(value) && isComplex && !Object.hasOwn(value, 'value')) {
      for (const [key, each] of Object.entries(value)) {
        assign(values, { schema, name, sub: key.toLowerCase(), filter: null }, each, isWhole, current)
      }
      return
    }
    for (const slot of sub === '' ? found.slice(0, 1) : found) set(values, slot, value)
  }

  function assignAll (values: Values, resource: object, isWhole: boolean, current: Current): void {
    for (const [key, value] of Object.entries(resource)) {
      const isCore = !/^urn:/i.test(key) || /^urn:ietf:params:scim:schemas:core:/i.test(key)
      // Other schemas, such as Okta's, mean nothing here.
      if (isCore || key.toLowerCase().startsWith(ENTERPRISE_KEY)) {
        assign(values, parsePath(key), value, isWhole, current)
      } else {
        noPlace(key)
      }
    }
  }

  function remove (values: Values, path: Path, current: Current): void {
    const found = meant(path, current)
    if (found.length === 0 && path.filter === null && !isIgnored(path.name)) noPlace(path.name)
    for (const slot of found) values.set(slot.key, null)
  }

  return { find, isPrimary, assign, assignAll, remove }
}
