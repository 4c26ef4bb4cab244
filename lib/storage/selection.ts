/** Which rows, events and users are asked for, for stores that decide it in JavaScript. */

import type { EventRecord, EventsRequest, Page, PageRequest, UserFilter, UserKeys, UserRecord } from './records.ts'
import type { RowsQuery, Stored } from './storage.ts'
import { belongsTo, wordsOfUser } from './storage-rules.ts'
import { meets } from './user-order.ts'

/** The id of the membership of a user in a group: those of a group are in the order of its users' ids. */
export const membershipId = (group: string, user: string): string => `${group}/${user}`

/** A row of any collection. */
interface AnyRow { record: Stored, of: string | null }

/** The text of a member of a record; null: it has none. */
function textOf (record: Stored, member: string): string | null {
  const value: unknown = Reflect.get(record, member)
  return typeof value === 'string' ? value : null
}

/** True if the record that is there is the one that a write replaces. */
export function isSameRecord (there: Stored | null, was: Stored | null): boolean {
  if (there === null || was === null) return there === was
  // A tenant that is given later leaves the version, and an id can be given again with a version that was seen.
  return there.version === was.version && there.tenant === was.tenant && there.updatedAt === was.updatedAt
}

/** A part of items that are sorted by their ids. */
export function pageOf<Item> (
  sorted: readonly Item[], { order, limit, from }: PageRequest, idOf: (item: Item) => string
): Item[] {
  const ordered = order === 'asc' ? sorted : sorted.toReversed()
  if ('offset' in from) return ordered.slice(from.offset, from.offset + limit)
  return ordered.filter((item) => order === 'asc' ? idOf(item) > from.after : idOf(item) < from.after).slice(0, limit)
}

/** True if a list asks for the row. */
export function isAskedRow (row: AnyRow, { tenant, of, where, upTo, without }: Omit<RowsQuery, 'page'>): boolean {
  const bounded = upTo === undefined ? null : textOf(row.record, upTo.member)
  return (tenant === undefined || (row.record.tenant ?? null) === tenant) &&
    (of === undefined || row.of === of) &&
    (where === undefined || where.values.some((value) => value === textOf(row.record, where.member))) &&
    (upTo === undefined || (bounded !== null && (upTo.isBelow ? bounded < upTo.value : bounded <= upTo.value))) &&
    (without === undefined || textOf(row.record, without) === null)
}

/** The page of a list, of rows among which are all that it asks for. */
export function pageOfRows<Item extends AnyRow> (rows: readonly Item[], query: RowsQuery): Page<Item> {
  const { by, page } = query
  // NUL is in no text, and those without a value come last.
  const placeOf = (row: Item): string => by === undefined ? '' : `${textOf(row.record, by) ?? '\u{ffff}'}\0`
  const found = rows.filter((row) => isAskedRow(row, query))
    .map((row) => ({ row, place: `${placeOf(row)}${row.record.id}` }))
    .sort((a, b) => a.place < b.place ? -1 : 1)
  return { items: pageOf(found, page, ({ place }) => place).map(({ row }) => row), total: found.length }
}

/** Makes the test whether an event is asked for. */
export function isAskedEvent (
  { types, subject, actor, since = '', until, tenant }: Omit<EventsRequest, 'after' | 'limit'>
): (event: EventRecord) => boolean {
  const wanted = types === null ? null : new Set(types)
  return (event) =>
    (wanted === null || wanted.has(event.type)) &&
    (subject === undefined || event.subject === subject) &&
    (actor === undefined || event.actor?.id === actor) &&
    event.timestamp >= since && (until === undefined || event.timestamp < until) &&
    belongsTo(event, tenant)
}

/** True if a filter asks for the user. `isMembership`: true if there is a membership with this id. */
export function isAskedUser (
  user: UserRecord, keys: UserKeys, filter: UserFilter, isMembership: (id: string) => boolean
): boolean {
  const { emailKey, emailKeys, words, fields, status, tenant, group, ...others } = filter
  const hasWord = (word: string): boolean => wordsOfUser(keys).some((each) => each.startsWith(word))
  return meets({ user, keys }, others) && belongsTo(user, tenant) &&
    (emailKey === null || keys.emailKey === emailKey) &&
    (emailKeys === undefined || emailKeys.includes(keys.emailKey)) &&
    (status === undefined || user.status === status) &&
    (group === undefined || isMembership(membershipId(group, user.id))) &&
    (words === null || words.some((list) => list.every(hasWord))) &&
    Object.entries(fields).every(([name, value]) => Object.hasOwn(user.fields, name) && user.fields[name] === value)
}
