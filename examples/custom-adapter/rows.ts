import { ABORT } from 'lmdb'
import {
  type CollectionName, isSameRecord, type Outcome, pageOf, pageOfRows, type Row, type RowsQuery, type RowWrite,
  type Storage, type Stored, type Unit
} from 'fastify-users/storage'
import { type Entry, type LmdbDatabase, Table } from './database.ts'
import type { LmdbEvents } from './events.ts'
import type { LmdbUsers, Taken } from './users.ts'

type Listed = Exclude<CollectionName, 'users'>
type Refusal = { code: 'changed' } | Taken

/** Rows of the first collection are of a row of the second one, and go with it. */
const PARTS = [
  ['idempotency', 'users'], ['keyUses', 'apiKeys'], ['deliveries', 'webhooks'], ['memberships', 'userGroups']
] as const

/** Each member that is a text is an index. Lists ask for few of them, but those that nobody needs do no harm. */
const entriesOf = ({ record, of }: { record: Stored, of: string | null }): Entry[] => [
  ['of', of ?? ''],
  ...Object.entries({ ...record, tenant: record.tenant ?? '' })
    .flatMap(([member, value]): Entry[] => typeof value === 'string' ? [[member, value]] : [])
]

/** The rows of all collections. */
export function lmdbRows (
  { root, read, write }: LmdbDatabase,
  { users, memberships, takenIn }: Pick<LmdbUsers, 'users' | 'memberships' | 'takenIn'>,
  events: LmdbEvents
): Pick<Storage, 'commit' | 'find' | 'list' | 'listTenants'> {
  const table = <Name extends Listed>(name: Name) => new Table<Row<Name>, string>(root, name, entriesOf)
  const tables: { [Name in CollectionName]: Table<Row<Name>, string> } = {
    users,
    trash: table('trash'),
    apiKeys: table('apiKeys'),
    keyUses: table('keyUses'),
    webhooks: table('webhooks'),
    deliveries: table('deliveries'),
    userGroups: table('userGroups'),
    memberships,
    idempotency: table('idempotency'),
    marks: table('marks')
  }

  const idOf = ({ put, was }: Pick<RowWrite, 'put' | 'was'>): string => put?.record.id ?? was?.record.id ?? ''

  /** True if a membership would be without its user. */
  const partsMember = ({ in: name, put, was }: RowWrite): boolean => name === 'memberships'
    ? put !== null && users.get(put.record.member) === undefined
    : name === 'users' && put === null && [...memberships.ids('member', was?.record.id ?? '')].length > 0

  /** The unique value of a row that another one has. */
  function takenBy ({ in: name, put }: RowWrite): Taken | null {
    if (put === null) return null
    if (name === 'users') return takenIn(put)
    const isOther = (id: string): boolean => id !== put.record.id
    if (name === 'apiKeys' && [...tables.apiKeys.ids('start', put.record.start)].some(isOther)) {
      return { code: 'taken', member: 'start' }
    }
    if (name !== 'userGroups') return null
    const { nameKey, tenant } = put.record
    const named = [...tables.userGroups.ids('nameKey', nameKey)].filter(isOther)
    const isTaken = named.some((id) => tables.userGroups.get(id)?.record.tenant === tenant)
    return isTaken ? { code: 'taken', member: 'nameKey' } : null
  }

  function refusalOf (write: RowWrite): Refusal | null {
    const { in: name, put, was } = write
    if (!isSameRecord(tables[name].get(idOf(write))?.record ?? null, was?.record ?? null)) return { code: 'changed' }
    if (partsMember(write)) return { code: 'changed' }
    if (put === null) return null
    const [, owner] = PARTS.find(([part]) => part === name) ?? []
    if (owner !== undefined && put.of !== null && tables[owner].get(put.of) === undefined) return { code: 'changed' }
    return takenBy(write)
  }

  function make<Name extends CollectionName> ({ in: name, put }: RowWrite<Name>, id: string): void {
    if (put !== null) return tables[name].put(id, put)
    tables[name].drop(id)
    for (const [part, owner] of PARTS) {
      if (owner === name) for (const each of [...tables[part].ids('of', id)]) tables[part].drop(each)
    }
  }

  function commitNow ({ writes, events: recorded, rewrites }: Unit): Outcome {
    for (const [at, each] of writes.entries()) {
      const refusal = refusalOf(each)
      if (refusal !== null) return { ...refusal, at }
      make(each, idOf(each))
    }
    for (const event of recorded) events.add(event)
    for (const rewrite of rewrites) events.rewriteNow(rewrite, Infinity)
    return { code: 'ok' }
  }

  /** The rows that a list asks for, and others, by an index. */
  function rowsFor<Name extends Listed> (name: Name, { tenant, of, where, upTo }: RowsQuery): Array<Row<Name>> {
    const table = tables[name]
    let ids: Iterable<string>
    if (of !== undefined) ids = table.ids('of', of)
    else if (where !== undefined) ids = new Set(where.values.flatMap((value) => [...table.ids(where.member, value)]))
    else if (upTo !== undefined) ids = table.between(upTo.member, '', upTo.value).map(([, id]) => id)
    else if (tenant !== undefined) ids = table.ids('tenant', tenant ?? '')
    else return [...table.parts()].flat()
    return [...ids].flatMap((id) => table.get(id) ?? [])
  }

  return {
    commit: (units) => Promise.all(units.map(async (unit) => {
      let outcome: Outcome = { code: 'ok' }
      // A refusal takes back the writes before it.
      await write(() => (outcome = commitNow(unit)).code === 'ok' ? null : ABORT)
      return outcome
    })),

    find: (name, keys) => read(() => keys.map((key) => {
      const [id = ''] = 'id' in key ? [key.id] : tables[name].ids('start', key.start)
      return tables[name].get(id) ?? null
    })),

    list: (name, query) => read(() => pageOfRows(rowsFor(name, query), query)),

    listTenants: (page) => read(() => {
      const names = [users, tables.apiKeys].flatMap((each) => each.between('tenant', '0', 'z').map(([name]) => name))
      const all = [...new Set(names)].sort().map((id) => ({ id, users: [...users.ids('tenant', id)].length }))
      return { items: pageOf(all, page, ({ id }) => id), total: all.length }
    })
  }
}
