/** Which users a list has, and in which order: what `UserFilter` and the requests of pages are made of. */

import type { PageRequest } from '../core/paging.ts'

/** A value by which users are found and ordered. */
export type UserValue = string | number | boolean

/**
 * What users are ordered by, other than their ids: a key, the moment of the last change, or one of their fields.
 *
 * Values of a field are compared by type (booleans, then numbers, then texts), then by value: false before true,
 * numbers as numbers, texts by code point (as UTF-8 is compared byte by byte), by their first 256 code points. Keys
 * are compared as texts. Users with the same value are ordered by id. The order `desc` turns all of that. Users who
 * have no such value, but null, a list, an object or nothing, come last in both directions, by their ids in the
 * direction that is asked for. `open` was asked for the field.
 */
export type UserSort = 'nameKey' | 'emailKey' | 'updatedAt' | { field: string }

/** A place in such an order: a value (of a text its first 256 code points; null: none), and the id of a user. */
export interface UserPlace {
  value: UserValue | null
  id: string
}

/** A part of a list of users in such an order. */
export interface SortedPageRequest extends Omit<PageRequest, 'from'> {
  sort: UserSort
  /** Skip so many, or start behind a place, where no user need be. */
  from: { offset: number } | { behind: UserPlace }
}

/** A part of a list of users. Without `sort` in the order of ids. */
export type UserPageRequest = PageRequest & { sort?: undefined } | SortedPageRequest

/** Bounds of a value; at least one of them is there. */
export interface UserRange {
  /** What is bounded: a moment, or a field, whose values then are all numbers or all texts. */
  of: 'createdAt' | 'updatedAt' | { field: string }
  /** Of moments in UTC with milliseconds. Of a field of the type that its value must have; texts by code point. */
  gte?: string | number
  gt?: string | number
  lte?: string | number
  lt?: string | number
}

/** Conditions that a filter may have beside others. All that are there must hold. */
export interface UserConditions {
  /** The id is one of these, of which there may be none. */
  ids?: readonly string[]
  /** The e-mail key is one of these, of which there may be none. */
  emailKeys?: readonly string[]
  /** Each named field has one of these values, of the same type. */
  anyOf?: Readonly<Record<string, readonly UserValue[]>>
  /** Each named field has a value, which is a text, a number or a boolean; or, with false, has none. */
  exists?: Readonly<Record<string, boolean>>
  ranges?: readonly UserRange[]
}
