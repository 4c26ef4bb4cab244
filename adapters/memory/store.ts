import { READ_PART_MAX } from '../../lib/core/limits.ts'
import { isSameRecord, membershipId } from '../../lib/storage/selection.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type {
  CollectionName, Outcome, PageRequest, RowWrite, Storage, Stored, Unit, UserFilter, UserRecord, UserSort
} from '../../lib/storage/storage.ts'
import { MemoryEvents } from './event-log.ts'
import { pageOf, type Positions, positionsOf } from './positions.ts'
import { type Refusal, type RowTable, Table } from './table.ts'
import { type UserEntry, userOf } from './user-entry.ts'
import { userTable } from './user-table.ts'

const OK: Outcome = { code: 'ok' }
const noMore = (): void => {}

type Tables = { [Name in CollectionName]: RowTable<Name> }

/**
 * A storage in the memory of the process: for tests, and for data that may be gone tomorrow. The work of an operation
 * is about logarithmic in the number of users. No write awaits anything, so each unit is atomic.
 */
export function memory (): Storage {
  const users = userTable()
  const log = new MemoryEvents()
  const others = {
    trash: new Table<'trash'>(),
    apiKeys: new Table<'apiKeys'>('start'),
    keyUses: new Table<'keyUses'>(),
    webhooks: new Table<'webhooks'>(),
    deliveries: new Table<'deliveries'>(),
    userGroups: new Table<'userGroups'>('nameKey'),
    memberships: new Table<'memberships'>(),
    idempotency: new Table<'idempotency'>(),
    marks: new Table<'marks'>()
  }
  const tables: Tables = { users, ...others }
  const listed: { [Name in Exclude<CollectionName, 'users'>]: Table<Name> } = others
  /** The collections whose rows go with one. */
  const parts = new Map<CollectionName, { dropOf (id: string): () => void }>([
    ['users', others.idempotency], ['apiKeys', others.keyUses], ['webhooks', others.deliveries],
    ['userGroups', others.memberships]
  ])
  const owners = new Map<CollectionName, { present (id: string): Stored | null }>([
    ['idempotency', users], ['keyUses', others.apiKeys], ['deliveries', others.webhooks],
    ['memberships', others.userGroups]
  ])
  const memberships = {
    isThere: (id: string): boolean => others.memberships.present(id) !== null,
    /** The memberships of a group, in the order of its users. */
    of (group: string): Positions<string> {
      const rows = others.memberships.of(group)
      return {
        size: rows.size,
        rank: (key) => rows.rank(membershipId(group, key)),
        range: (start, count) => rows.range(start, count).map(({ row }) => row.record.member)
      }
    }
  }

  /** True if a membership would be without its user. */
  function partsMember (name: CollectionName, put: { record: object } | null, id: string): boolean {
    if (name === 'memberships') return put !== null && users.present(String(Reflect.get(put.record, 'member'))) === null
    return name === 'users' && put === null && others.memberships.having('member', id).size > 0
  }

  /** Makes a write, or says why not. Gives what undoes it; null: it is the last one, and need not be undone. */
  function make<Name extends CollectionName> (
    { in: name, put, was }: RowWrite<Name>, isLast: boolean
  ): { undo: (() => void) | null } | Refusal | { code: 'changed' } {
    const table = tables[name]
    const id = put?.record.id ?? was?.record.id ?? ''
    if (!isSameRecord(table.present(id), was?.record ?? null) || partsMember(name, put, id)) return { code: 'changed' }
    if (put !== null) {
      if (put.of !== null && owners.get(name)?.present(put.of) === null) return { code: 'changed' }
      const refusal = table.refusalOf(put)
      if (refusal !== null) return refusal
    }
    const before = isLast ? null : table.find({ id })
    const undoParts = put === null ? parts.get(name)?.dropOf(id) ?? noMore : noMore
    if (put === null) table.drop(id)
    else table.put(put)
    if (isLast) return { undo: null }
    return {
      undo () {
        if (before === null) table.drop(id)
        else table.put(before)
        undoParts()
      }
    }
  }

  function commitOne ({ writes, events, rewrites }: Unit): Outcome {
    const undo: Array<() => void> = []
    for (const [at, write] of writes.entries()) {
      const made = make(write, at === writes.length - 1)
      if ('undo' in made) {
        if (made.undo !== null) undo.push(made.undo)
        continue
      }
      for (const each of undo.reverse()) each()
      return { ...made, at }
    }
    for (const event of events) log.add(event)
    for (const each of rewrites) log.rewriteNow(each)
    return OK
  }

  function found (filter: UserFilter): Positions<UserEntry> | null {
    users.indexFields({ filterable: [filter.fields, filter.anyOf ?? {}].flatMap(Object.keys) })
    return users.matching(filter, memberships)
  }

  /** Records are replaced, never changed, so a list of them is a snapshot. */
  function recordsOf (
    matches: Positions<UserEntry> | null, order: PageRequest['order'], sort: UserSort | undefined
  ): UserRecord[] {
    const all = { order, limit: (matches ?? users.ordered).size, from: { offset: 0 } }
    if (sort !== undefined) return users.orders.page(matches, { ...all, sort }).map(({ record }) => record)
    return matches === null ? pageOf(users.ordered, all) : pageOf(matches, all).map(({ record }) => record)
  }

  return {
    name: 'memory',
    log,
    async open ({ migrate = false, ...needs } = {}) {
      try {
        users.indexFields(needs)
        users.indexWords(needs)
      } catch (error) {
        if (migrate) throw error
        throw new StorageError('schema_behind', 'users have the same value of a field that must be unique')
      }
      return { created: false }
    },
    async close () {},
    commit: async (units) => units.map(commitOne),
    find: async (name, keys) => keys.map((key) => tables[name].find(key)),
    async list (name, query) {
      const { items, total } = listed[name].list(query)
      return { items: structuredClone(items), total }
    },
    users: {
      find: async (id) => users.find({ id })?.record ?? null,
      async list (filter, page) {
        const matches = found(filter)
        if (page.sort !== undefined) {
          const items = users.orders.page(matches, page)
          return { items: items.map(({ record }) => userOf(record)), total: (matches ?? users.ordered).size }
        }
        if (matches === null) return { items: pageOf(users.ordered, page).map(userOf), total: users.ordered.size }
        return { items: pageOf(matches, page).map(({ record }) => userOf(record)), total: matches.size }
      },
      async walk (filter, order, onPart, sort) {
        const records = recordsOf(found(filter), order, sort)
        for (let start = 0; start < records.length; start += READ_PART_MAX) {
          await onPart(records.slice(start, start + READ_PART_MAX).map(userOf))
        }
      }
    },
    async listTenants (page) {
      const counts = users.tenantSizes()
      for (const tenant of others.apiKeys.tenants()) if (!counts.has(tenant)) counts.set(tenant, 0)
      const sorted = [...counts].map(([id, number]) => ({ id, users: number })).sort((a, b) => a.id < b.id ? -1 : 1)
      return { items: pageOf(positionsOf(sorted), page), total: sorted.length }
    }
  }
}
