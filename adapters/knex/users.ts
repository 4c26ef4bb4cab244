import { gather, type Several } from '../../lib/core/gather.ts'
import { belongsTo, requireVersion } from '../../lib/storage/storage-rules.ts'
import type { UserUpdate } from '../../lib/storage/make-write.ts'
import type {
  NewEvent, Page, PageRequest, Storage, TenantPageRequest, UserChanges, UserFilter, UserRecord
} from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Compaction } from './counting/compaction.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Param } from './drivers/driver.ts'
import { type EventWrites, userEventValues } from './events/event-writes.ts'
import { beginsWith, ofTenant, pageOfFew, pageStatement, SEARCH_BOUND, searchStatement, toPage } from './pages.ts'
import { type Condition, fieldIs, namingTakenField } from './schema/field-indexes.ts'
import { USER_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, toUser, unpacked } from './tables/rows.ts'
import { type Creations, knexCreation } from './user-creation.ts'
import { userLookup } from './user-lookup.ts'
import { userUpdate } from './user-update.ts'
import { guardConditions, type OwnedGuard } from './user-update-sql.ts'

/** Writes of single users. A refused write throws a `StorageError`; `null` means that there is no such user. */
export interface SingleWrites extends Pick<Creations, 'create'>, Pick<Storage, 'findUser'> {
  update (
    id: string, changes: UserChanges, updatedAt: string, guard: OwnedGuard, event: NewEvent | null
  ): Promise<UserUpdate | null>
  remove (id: string, guard: OwnedGuard, event: NewEvent | null, erase: boolean): Promise<UserRecord | null>
}

type Users = SingleWrites & Pick<Creations, 'prune'> & Pick<Storage, 'listUsers'>

const SEARCHED = ['name_key', 'email_key']

/** The SQL condition of a filter; `null` if every user matches. */
export function conditionOf (dialect: Dialect, filter: UserFilter): Condition | null {
  const { emailKey, prefix, fields } = filter
  const parts: Condition[] = Object.entries(fields).map(([field, value]) => fieldIs(dialect, field, value))
  if (emailKey !== null) parts.push({ sql: 'email_key = ?', values: [emailKey] })
  if (prefix !== null) {
    const either = SEARCHED.map((column) => beginsWith(column, prefix))
    const sql = `(${either.map((each) => each.sql).join(' OR ')})`
    parts.push({ sql, values: either.flatMap(({ values }) => values) })
  }
  const belongs = ofTenant(filter)
  if (belongs !== null) parts.push(belongs)
  if (parts.length === 0) return null
  return { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) }
}

/** False if no stored text can match: a database stores no NUL and no lone surrogate, and refuses both. */
export function canMatch ({ emailKey, prefix, fields, tenant }: UserFilter): boolean {
  const texts = [emailKey, prefix, tenant, ...Object.values(fields)]
  return texts.every((text) => typeof text !== 'string' || isStorable(text))
}

function changesAny ({ name, email, fields }: UserChanges, user: UserRecord): boolean {
  return (name !== undefined && name.value !== user.name) || (email !== undefined && email.value !== user.email) ||
    (fields !== undefined && JSON.stringify(fields) !== JSON.stringify(user.fields))
}

/** A page of all users. Several callers may share its rows. */
interface CountedPage {
  rows: Row[]
  total: number
}

/**
 * Lists of users. Each page is read by one statement; a search may need a second one, if it finds more than the first
 * reads.
 */
function userLists (
  executor: Executor,
  names: Names,
  { onPage }: Compaction,
  findByEmailKey: (emailKey: string) => Promise<Row[]>
): Storage['listUsers'] {
  const { read, batching, prepares, dialect } = executor
  const { users } = names
  const { pages: countedPages, pagesTogether } = dialect.counting

  function toCountedPage (row: Row, { tenant }: TenantPageRequest): CountedPage {
    const tail = Number(row['tail'])
    onPage(tenant, tail, Number(row['changes']))
    return { rows: unpacked(USER_COLUMNS, row['items']), total: Number(row['counted']) + tail }
  }

  /** Pages of all users, or those of tenants. */
  function pagesReader (ofTenant: boolean) {
    const statementOf = countedPages(names, ofTenant, USER_COLUMNS)
    return async (pages: Several<TenantPageRequest>): Promise<CountedPage[]> => {
      const { sql, params } = statementOf(pages)
      const rows = await read(sql, params)
      return pages.flatMap((page, i) => rows.slice(i, i + 1).map((row) => toCountedPage(row, page)))
    }
  }

  const keyOf = ({ order, limit, from, tenant = '' }: TenantPageRequest): string =>
    `${order} ${limit} ${tenant} ${JSON.stringify(from)}`
  const listsOf = (ofTenant: boolean) => {
    const readPages = pagesReader(ofTenant)
    return { readPages, together: gather(pagesTogether, keyOf, readPages) }
  }
  const lists = { all: listsOf(false), ofTenants: listsOf(true) }

  /** With batching, concurrent requests for the same page read it once, and several pages share one statement. */
  async function readCounted (page: TenantPageRequest): Promise<CountedPage> {
    const { readPages, together } = page.tenant === undefined ? lists.all : lists.ofTenants
    // One text that can't be stored would make all requests fail.
    const canShare = !('after' in page.from) || isStorable(page.from.after)
    if (batching !== null && canShare) return together(page)
    const [counted = { rows: [], total: 0 }] = await readPages([page])
    return counted
  }

  async function pageOfAll (page: TenantPageRequest): Promise<Page<UserRecord>> {
    const { rows, total } = await readCounted(page)
    return { items: rows.map(toUser), total }
  }

  async function pageOfEmail (emailKey: string, page: PageRequest): Promise<Page<UserRecord>> {
    return pageOfFew((await findByEmailKey(emailKey)).map(toUser), page)
  }

  /** A page of a search by prefix only; `null` if it finds too many users, or is not available here. */
  async function boundedSearch (prefix: string, page: PageRequest): Promise<Page<UserRecord> | null> {
    if (!prepares || !dialect.triesBoundedSearch) return null
    const statement = searchStatement(dialect, users, USER_COLUMNS, SEARCHED, prefix, page)
    if (statement === null) return null
    const found = toPage(await read(statement.sql, statement.params), USER_COLUMNS, toUser)
    return found.total > SEARCH_BOUND ? null : found
  }

  return async (filter, page) => {
    if (!canMatch(filter)) return { items: [], total: 0 }
    const { emailKey, prefix, fields, tenant } = filter
    const byFields = Object.keys(fields).length > 0
    const alone = !byFields && tenant === undefined
    if (alone && prefix === null && emailKey !== null) return pageOfEmail(emailKey, page)
    if (alone && prefix !== null && emailKey === null) {
      const few = await boundedSearch(prefix, page)
      if (few !== null) return few
    }
    if (!byFields && prefix === null && emailKey === null) {
      return pageOfAll(tenant === undefined ? page : { ...page, tenant })
    }
    const condition = conditionOf(dialect, filter)
    const { sql, params } = pageStatement(dialect, users, USER_COLUMNS, condition, page)
    // Each combination of fields has its own SQL text: too many to keep prepared.
    return toPage(await read(sql, params, { keepPlan: !byFields }), USER_COLUMNS, toUser)
  }
}

/** Users in SQL. A write is one statement. If it changed nothing, a second statement reads the reason. */
export function knexUsers (
  executor: Executor,
  names: Names,
  uniqueFields: ReadonlySet<string>,
  compaction: Compaction,
  events: EventWrites
): Users {
  const { query, transaction, dialect } = executor
  const columns = dialect.select(USER_COLUMNS)
  const findById = userLookup(executor, names, 'id')
  const findByEmailKey = userLookup(executor, names, 'email_key')
  const update = userUpdate(executor, names, columns, uniqueFields)

  async function findUser (id: string): Promise<UserRecord | null> {
    const [row] = await findById(id)
    return row === undefined ? null : toUser(row)
  }

  /** The user that a write skipped, or null if there is none. @throws StorageError `version_mismatch` */
  async function findSkipped (id: string, { tenant, ...guard }: OwnedGuard): Promise<UserRecord | null> {
    const user = await findUser(id)
    if (user === null || !belongsTo(user, tenant)) return null
    requireVersion(guard, user)
    return user
  }

  async function removeAndRecord (
    on: Query,
    remove: (on: Query) => Promise<UserRecord | null>,
    event: NewEvent | null,
    erase: boolean
  ): Promise<UserRecord | null> {
    const user = await remove(on)
    if (user === null) return null
    if (event !== null) await events.record(on, [userEventValues(event, user)])
    if (erase) await events.erase(on, user.id)
    return user
  }

  return {
    findUser,
    ...knexCreation(executor, names, { findUser, findByEmailKey, compaction, events }),
    listUsers: userLists(executor, names, compaction, findByEmailKey),

    async update (id, changes, updatedAt, guard, event) {
      if (!isStorable(id)) return null
      while (true) {
        const row = await namingTakenField(names, changes.fields ?? {}, () =>
          update(id, changes, updatedAt, guard, event))
        if (row !== undefined) return { user: toUser(row), changed: true }
        const user = await findSkipped(id, guard)
        if (user === null) return null
        if (!changesAny(changes, user)) return { user, changed: false }
        // The statement found the values already stored, but another write has changed them since: try again.
      }
    },

    async remove (id, guard, event, erase) {
      if (!isStorable(id)) return null
      const params: Param[] = [id]
      const conditions = [`id = ${dialect.p(1)}`, ...guardConditions(dialect, guard, (value) => params.push(value))]
      const sql = `DELETE FROM ${names.users} WHERE ${conditions.join(' AND ')} RETURNING ${columns}`
      const remove = async (on: Query): Promise<UserRecord | null> => {
        const [row] = await on(sql, params, { waitsFor: id })
        return row === undefined ? null : toUser(row)
      }
      const since = performance.now()
      const writes = erase ? await events.writesToErase(query, id) : 0
      while (true) {
        const removed = await (event === null && !erase
          ? remove(query)
          : transaction((on) => removeAndRecord(on, remove, event, erase), { waitsFor: id, since, writes }))
        if (removed !== null) return removed
        if (await findSkipped(id, guard) === null) return null
        // The guard failed in the statement, but holds now: another write has just created that version. Try again.
      }
    }
  }
}
