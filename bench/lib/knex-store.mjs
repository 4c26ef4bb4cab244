import { createRequire } from 'node:module'

const { knex } = createRequire(import.meta.url)('knex')
export const COLUMNS = ['id', 'name', 'email', 'created_at', 'updated_at']

export const openKnex = (place) => place.startsWith('postgres:')
  ? knex({ client: 'pg', connection: place, pool: { min: 0, max: 10 } })
  : knex({ client: 'sqlite3', connection: { filename: place }, useNullAsDefault: true })

/** What the usual server does with Knex: the query builder, count and offset. */
export function knexStore (place) {
  const db = openKnex(place)

  function filtered ({ email, q }) {
    const users = db('bench_users')
    if (email !== undefined) users.where('email_key', email.toLowerCase())
    if (q !== undefined) users.where((either) => either.whereLike('name_key', `${q}%`).orWhereLike('email_key', `${q}%`))
    return users
  }

  return {
    async list (asked) {
      const page = filtered(asked).select(COLUMNS).orderBy('id').limit(asked.limit)
      if (asked.after === undefined) page.offset(asked.offset)
      else page.where('id', '>', asked.after)
      const [rows, [{ total }]] = await Promise.all([page, filtered(asked).count({ total: '*' })])
      return { rows, total }
    },
    get: (id) => db('bench_users').where({ id }).first(COLUMNS),
    async create ([id, name, nameKey, email, emailKey, at]) {
      const [row] = await db('bench_users').insert({ id, name, name_key: nameKey, email, email_key: emailKey, version: 1, created_at: at, updated_at: at }).returning(COLUMNS)
      return row
    },
    async rename (id, name, nameKey, at) {
      const [row] = await db('bench_users').where({ id }).update({ name, name_key: nameKey, version: db.raw('version + 1'), updated_at: at }).returning(COLUMNS)
      return row
    }
  }
}
