import type { Page, PageRequest, Storage, UserChanges, UserFilter, UserRecord, VersionGuard } from '../../lib/storage.ts'
import { requireVersion } from '../../lib/storage-rules.ts'
import { isStorable } from '../../lib/text.ts'
import { blocksPage } from './blocks/page.ts'
import type { Upkeep } from './blocks/upkeep.ts'
import { knexCreation } from './creation.ts'
import type { Dialect } from './dialect.ts'
import type { Param, Row } from './drivers.ts'
import { fieldIs } from './fields.ts'
import { gatherFinds, gatherSame } from './gathering.ts'
import type { Names } from './names.ts'
import { beginsWith, type Condition, FEW, pageStatement, searchStatement, toPage } from './pages.ts'
import { listed, packed, toUser, unpacked, USER_COLUMNS } from './rows.ts'
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
  const select = `SELECT ${columns} FROM ${users} WHERE id = ${p(1)}`
  const selectMany = `SELECT ${packed(dialect, USER_COLUMNS, `SELECT * FROM ${users} WHERE ${dialect.in('id', 1, 'text')}`)} AS items`

  const update = updater(session, names, columns)

  async function findRow (id: string): Promise<Row | undefined> {
    return (await read(select, [id]))[0]
  }

  async function findRows (ids: string[]): Promise<Map<unknown, Row>> {
    const [row] = await read(selectMany, [ids])
    return new Map(unpacked(USER_COLUMNS, row?.['items']).map((each) => [each['id'], each]))
  }

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
  const find = lanes > 0 ? gatherFinds(findRow, findRows) : findRow

  async function findUser (id: string): Promise<UserRecord | null> {
    // What can't be kept is nobody's id.
    const row = isStorable(id) ? await find(id) : undefined
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
      const condition = conditionOf(dialect, filter)
      if (condition !== null) {
        const { sql, params } = pageStatement(dialect, users, USER_COLUMNS, condition, page)
        // By address there is one at most; by prefix or field it can be half the table. Fields have a text for each choice of them: too many to be kept.
        const narrowed = Object.keys(filter.fields).length > 0
        const rows = filter.emailKey !== null && !narrowed ? read(sql, params) : search(sql, params, !narrowed)
        return toPage(await rows, USER_COLUMNS, toUser)
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
