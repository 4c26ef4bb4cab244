import { createRequire } from 'node:module'

const { knex } = createRequire(import.meta.url)('knex')
export const COLUMNS = ['id', 'name', 'email', 'created_at', 'updated_at']

export const openKnex = (place) => place.startsWith('postgres:')
  ? knex({ client: 'pg', connection: place, pool: { min: 0, max: 10 } })
  : knex({ client: 'sqlite3', connection: { filename: place }, useNullAsDefault: true })

/** Users in Knex as usual servers do it: with the query builder, a count and an offset. */
export function knexStore (place) {
  const db = openKnex(place)

  function filtered ({ email, q }) {
    const users = db('bench_users')
    if (email !== undefined) users.where('email_key', email.toLowerCase())
    if (q === undefined) return users
    return users.where((either) => either.whereLike('name_key', `${q}%`).orWhereLike('email_key', `${q}%`))
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
      const keys = { name_key: nameKey, email_key: emailKey }
      const values = { id, name, email, ...keys, version: 1, created_at: at, updated_at: at }
      const [row] = await db('bench_users').insert(values).returning(COLUMNS)
      return row
    },
    async rename (id, name, nameKey, at) {
      const values = { name, name_key: nameKey, version: db.raw('version + 1'), updated_at: at }
      const [row] = await db('bench_users').where({ id }).update(values).returning(COLUMNS)
      return row
    }
  }
}
