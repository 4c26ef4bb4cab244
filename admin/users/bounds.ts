import type { Capabilities } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { fromLocal, toLocal } from '../form/moments.ts'
import type { Speech } from '../state/texts.ts'

/** A filter by a bound, as the API names it. */
export interface Bound {
  name: string
  field: string
  text: 'users.from' | 'users.to' | 'users.before'
  /** How it is typed. Users are created on days, which begin in the person's time zone. */
  is: 'number' | 'date' | 'moment' | 'day'
}

/** The bounds of a field, or of the time of creation; none, if its values have no order that the API compares by. */
export function boundsOf (field: string, { fields: { properties } }: Capabilities): Bound[] {
  const kind = field === 'createdAt' ? 'day' : kindOf(properties[field] ?? {}).is
  const from = { name: `${field}[gte]`, field, text: 'users.from' } as const
  switch (kind) {
    case 'number':
    case 'date': return [{ ...from, is: kind }, { name: `${field}[lte]`, field, text: 'users.to', is: kind }]
    case 'moment':
    case 'day': return [{ ...from, is: kind }, { name: `${field}[lt]`, field, text: 'users.before', is: kind }]
    default: return []
  }
}

/** All bounds that the list has filters for. */
export function allBounds (capabilities: Capabilities): Bound[] {
  return ['createdAt', ...capabilities.filterable].flatMap((field) => boundsOf(field, capabilities))
}

const RELATIVE = /^P(\d{1,4})D$/
/** The times of creation that are chosen most, in days until now. */
export const LAST_DAYS = [1, 7, 30, 90]

/** The value of a bound that says how many days ago it is, which stays true in a view that is kept: `P7D`. */
export const relativeBound = (days: number): string => `P${days}D`

/** A bound as the API takes it. Days end at midnight in the person's time zone. */
export function absoluteBound (value: string): string {
  const days = RELATIVE.exec(value)?.[1]
  if (days === undefined) return value
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1 - Number(days)).toISOString()
}

/** What a bound is called. */
export function boundLabel ({ field, text }: Bound, { fields: { properties } }: Capabilities, { say }: Speech): string {
  return say(text, { field: field === 'createdAt' ? say('users.createdAt') : labelOf(field, properties[field] ?? {}) })
}

/** The value of a bound, as its control has it. */
export function typedBound ({ is }: Bound, given: string): string {
  const value = absoluteBound(given)
  if (is === 'day') return toLocal(value).slice(0, 10)
  return is === 'moment' ? toLocal(value) : value
}

/** What a control has, as the value of the bound. */
export function boundValue ({ is }: Bound, typed: string): string {
  if (typed === '') return ''
  if (is === 'day') return fromLocal(`${typed}T00:00`)
  return is === 'moment' ? fromLocal(typed) : typed
}

/** A bound in words. */
export function shownBound (bound: Bound, value: string, { day, time, say }: Speech): string {
  const days = RELATIVE.exec(value)?.[1]
  if (days !== undefined) return say('users.lastDays', { count: Number(days) })
  switch (bound.is) {
    case 'day': return boundValue(bound, typedBound(bound, value)) === value ? day(value) : time(value)
    case 'moment': return time(value)
    default: return value
  }
}
