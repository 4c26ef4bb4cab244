import { meets, type UserFilter } from 'fastify-users/storage'
import { idsBehind, isKey, type LmdbDatabase, type UserEntry, valueKey } from './database.ts'

/** Finds users by their keys, their fields, their status and their tenant. */
export function userSearch ({ users, emails, words: ofWords, found, fields, suspended, tenantUsers }: LmdbDatabase) {
  /** What a user is found by of its fields. */
  function fieldKeys (
    { user }: UserEntry,
    names: Iterable<string> = found.getKeys()
  ): Array<[string, string, string]> {
    return [...names].flatMap((name) => {
      const value = Object.hasOwn(user.fields, name) ? user.fields[name] : null
      return typeof value === 'object' || value === undefined ? [] : [[name, valueKey(value), user.id]]
    })
  }

  /** The ids of users with a word that begins with this text. */
  function * withWord (beginning: string): Generator<string> {
    if (!isKey(beginning)) return
    for (const [word, id] of ofWords.getKeys({ start: [beginning] })) {
      if (!word.startsWith(beginning)) return
      yield id
    }
  }

  /** The ids of users who have all words of one of these lists. */
  function withWords (lists: NonNullable<UserFilter['words']>): Set<string> {
    return new Set(lists.flatMap((words) => {
      const [first = new Set<string>(), ...others] = words.map((word) => new Set(withWord(word)))
      return [...first].filter((id) => others.every((other) => other.has(id)))
    }))
  }

  /** The ids with this e-mail key: at most one of each tenant. */
  function * withEmail (emailKey: string): Generator<string> {
    if (!isKey(emailKey)) return
    for (const { key: [found], value: id } of emails.getRange({ start: [emailKey] })) {
      if (found !== emailKey) return
      yield id
    }
  }

  function * withValue (name: string, value: string | number | boolean): Generator<string> {
    const wanted = valueKey(value)
    for (const [field, key, id] of fields.getKeys({ start: [name, wanted] })) {
      if (field !== name || key !== wanted) return
      yield id
    }
  }

  /** True if another user of the tenant has the value that an entry has in this field. */
  function isTaken ({ user }: UserEntry, field: string): boolean {
    const value = Object.hasOwn(user.fields, field) ? user.fields[field] : null
    return (typeof value === 'string' || typeof value === 'number') &&
      [...withValue(field, value)].some((id) => id !== user.id && users.get(id)?.user.tenant === user.tenant)
  }

  /** True if a filter has conditions that no index serves: each user is looked at. */
  const isRead = ({ ids, emailKeys, anyOf, exists, ranges }: UserFilter): boolean =>
    [ids, emailKeys, anyOf, exists, ranges].some((each) => each !== undefined)

  function isFilter (filter: UserFilter): boolean {
    const { emailKey, words, fields, status, tenant } = filter
    return isRead(filter) || emailKey !== null || words !== null || status !== undefined || tenant !== undefined ||
      Object.keys(fields).length > 0
  }

  /** The ids that a filter matches, in order: those of one part that all other parts match too. */
  function matching (filter: UserFilter): string[] {
    const { emailKey, words, status, tenant } = filter
    const parts = Object.entries(filter.fields).map(([name, value]) => new Set(withValue(name, value)))
    if (emailKey !== null) parts.push(new Set(withEmail(emailKey)))
    if (words !== null) parts.push(withWords(words))
    if (tenant !== undefined) parts.push(new Set(idsBehind(tenantUsers, tenant)))
    if (status === 'suspended') parts.push(new Set(suspended.getKeys()))
    const [first = new Set(users.getKeys()), ...others] = parts.sort((a, b) => a.size - b.size)
    const ids = [...first].filter((id) => others.every((part) => part.has(id)))
    const meeting = isRead(filter) ? ids.filter((id) => meetsIn(id, filter)) : ids
    return (status === 'active' ? meeting.filter((id) => !suspended.doesExist(id)) : meeting).sort()
  }

  function meetsIn (id: string, filter: UserFilter): boolean {
    const user = users.get(id)?.user
    return user !== undefined && meets(user, filter)
  }

  return { fieldKeys, isTaken, isFilter, matching }
}
