import type { PageRequest, Storage, UserFilter } from '../../../lib/core/storage.ts'
import { hasFields } from './fields.ts'
import type { Is } from './mistakes.ts'
import { type Entry, otherCalls, type State } from './state.ts'
import { returned } from './user-records.ts'

function begins (is: Is, text: string, prefix: string): boolean {
  if (is('a prefix matches inside a text')) return text.includes(prefix)
  if (is('a prefix is a range that ends at U+FFFF')) return text >= prefix && text < `${prefix}\uffff`
  if (!is('a prefix has wildcards')) return text.startsWith(prefix)
  const pattern = prefix.replace(/[^%_]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')
  return new RegExp(`^${pattern}`, 'su').test(text)
}

function matchesPrefix (is: Is, { keys: { nameKey, emailKey } }: Entry, prefix: string | null): boolean {
  if (prefix === null || begins(is, nameKey, prefix)) return true
  return !is('a prefix matches only names') && begins(is, emailKey, prefix)
}

function matches (is: Is, entry: Entry, { emailKey, prefix, fields }: UserFilter): boolean {
  const nameBegins = prefix !== null && begins(is, entry.keys.nameKey, prefix)
  if (is('a prefix disables after') && emailKey === null && nameBegins) return true
  const byEmail = emailKey === null || entry.keys.emailKey === emailKey
  const byPrefix = matchesPrefix(is, entry, prefix)
  const byFields = hasFields(is, entry, fields)
  const hasOtherFilter = emailKey !== null || prefix !== null
  if (is('fields or another filter is enough') && Object.keys(fields).length > 0 && hasOtherFilter) {
    return byFields || (byEmail && byPrefix)
  }
  const either = is('an e-mail key or a prefix is enough') && emailKey !== null && prefix !== null
  return byFields && (either ? byEmail || byPrefix : byEmail && byPrefix)
}

function inOrder (is: Is, entries: Entry[], order: PageRequest['order']): Entry[] {
  const byId = (a: Entry, b: Entry) => (a.user.id < b.user.id ? -1 : 1)
  const byChange = (a: Entry, b: Entry) => a.changed - b.changed
  const ascending = is('the order is that of insertion')
    ? [...entries]
    : entries.toSorted(is('the order is that of the last change') ? byChange : byId)
  return order === 'asc' ? ascending : ascending.reverse()
}

/** Where a page starts in an ordered list. */
function startOf (is: Is, entries: Entry[], { order, limit, from }: PageRequest): number {
  let start = 'offset' in from ? from.offset : 0
  if ('after' in from) {
    const { after } = from
    const forward = order === 'asc' || is('the page after an id ignores the order')
    const isBehind = (id: string) => (forward ? id > after : id < after)
    const included = is('the page after an id includes it') ? after : undefined
    start = entries.findIndex(({ user: { id } }) => isBehind(id) || id === included)
    const exists = entries.some(({ user: { id } }) => id === after)
    if (is('the page after a deleted user is the first') && !exists) start = 0
    if (start === -1) start = entries.length
  }
  return is('the last page is filled up') ? Math.max(0, Math.min(start, entries.length - limit)) : start
}

/** Lists of a broken store. */
export function brokenList (state: State): Pick<Storage, 'listUsers'> {
  const { is } = state

  return {
    async listUsers (filter, page) {
      const { emailKey, prefix, fields } = filter
      const { order, limit, from } = page
      const existing = state.users.filter(({ deleted }) => !deleted || is('delete only marks'))
      let found = existing.filter((entry) => matches(is, entry, filter))
      if (is('a prefix lists a user twice') && prefix !== null) {
        const isTwice = ({ keys: { nameKey, emailKey } }: Entry) =>
          begins(is, nameKey, prefix) && begins(is, emailKey, prefix)
        found = found.flatMap((entry) => isTwice(entry) ? [entry, entry] : [entry])
      }
      const ignoresFields = is('the total ignores fields') && Object.keys(fields).length > 0
      let total = (is('the total ignores the filter') || ignoresFields ? existing : found).length
      if (is('the total is from another snapshot')) {
        await otherCalls()
        found = state.users.filter((entry) => matches(is, entry, filter))
      }
      found = inOrder(is, found, order)
      let start = startOf(is, found, page)
      if (is('an address ignores the page') && emailKey !== null) start = 0
      if (is('a prefix disables after') && prefix !== null && 'after' in from) {
        // As `name LIKE ... OR email LIKE ... AND id > ...` does in SQL, without parentheses.
        const isBehind = ({ user: { id } }: Entry) => (order === 'asc' ? id > from.after : id < from.after)
        found = found.filter((entry) => begins(is, entry.keys.nameKey, prefix) || isBehind(entry))
        start = 0
      }
      if (is('paging by after skips a user in a larger store') && 'after' in from && state.users.length > 50) start++
      const countsBehind = is('with a prefix the total counts only users behind after')
      if (countsBehind && prefix !== null && 'after' in from) total = found.length - start
      const entries = found.slice(start, is('the limit is ignored') ? undefined : start + limit)
      if (is('the total is of the page')) total = entries.length
      const isStale = is('lists show users as they were created')
      const items = entries.map(({ user, first }) => returned(is, isStale ? first : user))
      if (is('the total is text')) return Object({ items, total: String(total) })
      if (is('the total of no users is null') && total === 0) return Object({ items, total: null })
      return { items, total }
    }
  }
}
