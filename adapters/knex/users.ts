import type { PageRequest, Storage, UserChanges, UserFilter, UserRecord, VersionGuard } from '../../lib/storage.ts'
import { requireVersion } from '../../lib/storage-rules.ts'
import { blocksPage, toCounts } from './blocks/page.ts'
import type { Upkeep } from './blocks/upkeep.ts'
import { knexCreation } from './creation.ts'
import type { Names } from './names.ts'
import { beginsWith, type Condition, pageStatement, toItems, toPage } from './pages.ts'
import { toUser, userColumns } from './rows.ts'
import type { Session } from './session.ts'

type UserStore = Pick<Storage, 'createUser' | 'pruneIdempotency' | 'findUser' | 'listUsers' | 'updateUser' | 'deleteUser'>

function conditionOf ({ emailKey, prefix }: UserFilter): Condition | null {
  const parts: Condition[] = []
  if (emailKey !== null) parts.push({ sql: 'email_key = ?', values: [emailKey] })
  if (prefix !== null) {
    const name = beginsWith('name_key', prefix)
    const email = beginsWith('email_key', prefix)
    parts.push({ sql: `(${name.sql} OR ${email.sql})`, values: [...name.values, ...email.values] })
  }
  return parts.length === 0 ? null : { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) }
}

function alters ({ name, email }: UserChanges, user: UserRecord): boolean {
  return (name !== undefined && name.value !== user.name) || (email !== undefined && email.value !== user.email)
}

/** Users in SQL. Each method is one statement; a second one only reads why the first found nothing to do. */
export function knexUsers (session: Session, names: Names, upkeep: Upkeep): UserStore {
  const { run, read, attempt, dialect } = session
  const { users } = names
  const { p } = dialect
  const columns = userColumns(dialect)
  const pageOfAll = blocksPage(dialect, names, columns)
  const select = `SELECT ${columns} FROM ${users} WHERE id = ${p(1)}`
  const guarded = (allowed: number, refused: number) => `(${dialect.list(allowed)} IS NULL OR ${dialect.in('version', allowed)}) AND NOT ${dialect.in('version', refused)}`
  const update = `UPDATE ${users} SET name = coalesce(${p(2)}, name), name_key = coalesce(${p(3)}, name_key), email = coalesce(${p(4)}, email), ` +
    `email_key = coalesce(${p(5)}, email_key), version = version + 1, updated_at = ${p(6)} WHERE id = ${p(1)} AND ${guarded(7, 8)} ` +
    `AND (name <> coalesce(${p(2)}, name) OR email <> coalesce(${p(4)}, email)) RETURNING ${columns}`
  const remove = `DELETE FROM ${users} WHERE id = ${p(1)} AND ${guarded(2, 3)} RETURNING ${columns}`

  async function findUser (id: string): Promise<UserRecord | null> {
    const [row] = await read(select, [id])
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
      const condition = conditionOf(filter)
      if (condition !== null) {
        const { sql, params } = pageStatement(dialect, users, columns, condition, page)
        return toPage(await run(sql, params), toUser)
      }
      const { sql, params } = pageOfAll(page)
      const rows = await read(sql, params)
      const { total, tail, changes } = toCounts(rows[0]?.['counts'])
      upkeep.looked(tail, changes)
      return { items: toItems(rows, toUser), total }
    },

    async updateUser (id, changes, updatedAt, guard) {
      const { name, email } = changes
      const values = [id, name?.value ?? null, name?.key ?? null, email?.value ?? null, email?.key ?? null, updatedAt, guard.ifVersion, guard.unlessVersion]
      while (true) {
        const [row] = await (email === undefined ? run : attempt)(update, values)
        if (row !== undefined) return { user: toUser(row), changed: true }
        const user = await passedOver(id, guard)
        if (user === null) return null
        if (!alters(changes, user)) return { user, changed: false }
        // The statement found the values in place, and a moment later they were others: it has something to do again.
      }
    },

    async deleteUser (id, guard) {
      while (true) {
        const [row] = await run(remove, [id, guard.ifVersion, guard.unlessVersion])
        if (row !== undefined) return toUser(row)
        if (await passedOver(id, guard) === null) return null
        // The guard did not hold for the statement and holds now: the user has just come to that version.
      }
    }
  }
}
