import type { Page, PageRequest, Storage, UserChanges, UserFilter, UserRecord, VersionGuard } from '../../lib/storage.ts'
import { requireVersion } from '../../lib/storage-rules.ts'
import { blocksPage } from './blocks/page.ts'
import type { Upkeep } from './blocks/upkeep.ts'
import { knexCreation } from './creation.ts'
import type { Dialect } from './dialect.ts'
import type { Param, Row } from './drivers/driver.ts'
import { fieldIs } from './fields.ts'
import { finderBy } from './finds.ts'
import { gatherSame } from './gathering.ts'
import type { Names } from './names.ts'
import { beginsWith, type Condition, FEW, pageOfOne, pageStatement, searchStatement, toPage } from './pages.ts'
import { listed, toUser, unpacked, USER_COLUMNS } from './rows.ts'
import type { Session } from './session.ts'
import { guardedBy, updater } from './update.ts'

type UserStore = Pick<Storage, 'createUser' | 'pruneIdempotency' | 'findUser' | 'listUsers' | 'updateUser' | 'deleteUser'>

function conditionOf (dialect: Dialect, { emailKey, prefix, fields }: UserFilter): Condition | null {
  const parts: Condition[] = Object.entries(fields).map(([field, value]) => fieldIs(dialect, field, value))
  if (emailKey !== null) parts.push({ sql: 'email_key = ?', values: [emailKey] })
  if (prefix !== null) {
    const name = beginsWith('name_key', prefix)
    const email = beginsWith('email_key', prefix)
    parts.push({ sql: `(${name.sql} OR ${email.sql})`, values: [...name.values, ...email.values] })
  }
  return parts.length === 0 ? null : { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) }
}

function alters ({ name, email, fields }: UserChanges, user: UserRecord): boolean {
  return (name !== undefined && name.value !== user.name) || (email !== undefined && email.value !== user.email) ||
    (fields !== undefined && JSON.stringify(fields) !== JSON.stringify(user.fields))
}

/** Users in SQL. Each answer is that of one statement; another one only reads why the first found nothing to do, or has found more than it was made for. */
export function knexUsers (session: Session, names: Names, upkeep: Upkeep): UserStore {
  const { run, read, search, lanes, dialect } = session
  const { users } = names
  const { p } = dialect
  const columns = listed(dialect, USER_COLUMNS)
  const statementOf = blocksPage(dialect, names, USER_COLUMNS)
  const findById = finderBy(session, names, 'id')
  const findByEmailKey = finderBy(session, names, 'email_key')

  const update = updater(session, names, columns)

  async function pageOfAll (page: PageRequest): Promise<{ rows: Row[], total: number }> {
    const { sql, params } = statementOf(page)
    const [row = {}] = await read(sql, params)
    const tail = Number(row['tail'])
    upkeep.looked(tail, Number(row['changes']))
    return { rows: unpacked(USER_COLUMNS, row['items']), total: Number(row['counted']) + tail }
  }

  /** The page of a search that finds few, by the beginning alone; null for every other. */
  async function searchFew ({ emailKey, prefix, fields }: UserFilter, page: PageRequest): Promise<Page<UserRecord> | null> {
    // SQLite plans a statement that is kept once, and without lanes none is kept.
    if (lanes === 0 || dialect.name === 'sqlite' || prefix === null || emailKey !== null || Object.keys(fields).length > 0) return null
    const statement = searchStatement(dialect, users, USER_COLUMNS, ['name_key', 'email_key'], prefix, page)
    if (statement === null) return null
    const found = toPage(await read(statement.sql, statement.params), USER_COLUMNS, toUser)
    return found.total > FEW ? null : found
  }

  const same = gatherSame<{ rows: Row[], total: number }>()

  async function findUser (id: string): Promise<UserRecord | null> {
    const row = await findById(id)
    return row === undefined ? null : toUser(row)
  }

  /** The user that a guarded write passed over, or null where there is none. */
  async function passedOver (id: string, guard: VersionGuard): Promise<UserRecord | null> {
    const user = await findUser(id)
    if (user !== null) requireVersion(guard, user)
    return user
  }

  return {
    findUser,
    ...knexCreation(session, names, findUser, upkeep),

    async listUsers (filter: UserFilter, page: PageRequest) {
      const few = await searchFew(filter, page)
      if (few !== null) return few
      const { emailKey, prefix, fields } = filter
      const narrowed = Object.keys(fields).length > 0
      if (emailKey !== null && prefix === null && !narrowed) {
        const row = await findByEmailKey(emailKey)
        return pageOfOne(row === undefined ? null : toUser(row), page)
      }
      const condition = conditionOf(dialect, filter)
      if (condition !== null) {
        const { sql, params } = pageStatement(dialect, users, USER_COLUMNS, condition, page)
        // Fields have a text for each choice of them: too many to be kept.
        return toPage(await search(sql, params, !narrowed), USER_COLUMNS, toUser)
      }
      const { rows, total } = await (lanes > 0 ? same(`${page.order} ${page.limit} ${JSON.stringify(page.from)}`, () => pageOfAll(page)) : pageOfAll(page))
      return { items: rows.map(toUser), total }
    },

    async updateUser (id, changes, updatedAt, guard) {
      while (true) {
        const row = await update(id, changes, updatedAt, guard)
        if (row !== undefined) return { user: toUser(row), changed: true }
        const user = await passedOver(id, guard)
        if (user === null) return null
        if (!alters(changes, user)) return { user, changed: false }
        // The statement found the values in place, and a moment later they were others: it has something to do again.
      }
    },

    async deleteUser (id, guard) {
      const params: Param[] = [id]
      const conditions = [`id = ${p(1)}`, ...guardedBy(dialect, guard, (value) => params.push(value))]
      while (true) {
        const [row] = await run(`DELETE FROM ${users} WHERE ${conditions.join(' AND ')} RETURNING ${columns}`, params)
        if (row !== undefined) return toUser(row)
        if (await passedOver(id, guard) === null) return null
        // The guard did not hold for the statement and holds now: the user has just come to that version.
      }
    }
  }
}
