import pg from 'pg'

const COLUMNS = 'id, name, email, created_at, updated_at'
const ORDER = 'ORDER BY id LIMIT'
const INSERT = 'INSERT INTO bench_users (id, name, name_key, email, email_key, version, created_at, updated_at) ' +
  `VALUES ($1, $2, $3, $4, $5, 1, $6, $6) RETURNING ${COLUMNS}`
const RENAME = 'UPDATE bench_users SET name = $2, name_key = $3, version = version + 1, updated_at = $4 ' +
  `WHERE id = $1 RETURNING ${COLUMNS}`

const filters = {
  none: { where: '', values: () => [] },
  email: { where: 'WHERE email_key = $1', values: ({ email }) => [email.toLowerCase()] },
  q: {
    where: 'WHERE (name_key >= $1 AND name_key < $2) OR (email_key >= $1 AND email_key < $2)',
    values: ({ q }) => [q, `${q}\u{10ffff}`]
  }
}

/** L1's statements on PostgreSQL. Each is prepared under a name. */
export async function openStore (connectionString) {
  const pool = new pg.Pool({ connectionString, max: 10 })
  const run = async (name, text, values) => (await pool.query({ name, text, values })).rows

  return {
    async list (asked) {
      const kind = asked.email !== undefined ? 'email' : asked.q !== undefined ? 'q' : 'none'
      const { where, values } = filters[kind]
      const given = values(asked)
      const n = given.length
      const all = `SELECT ${COLUMNS} FROM bench_users`
      const range = `$${n + 1} OFFSET $${n + 2}`
      const page = asked.after === undefined
        ? run(`page-${kind}`, `${all} ${where} ${ORDER} ${range}`, [...given, asked.limit, asked.offset])
        : run('after', `${all} WHERE id > $1 ${ORDER} $2`, [asked.after, asked.limit])
      const count = run(`count-${kind}`, `SELECT count(*) AS total FROM bench_users ${where}`, given)
      const [rows, [{ total }]] = await Promise.all([page, count])
      return { rows, total }
    },
    get: async (id) => (await run('get', `SELECT ${COLUMNS} FROM bench_users WHERE id = $1`, [id]))[0],
    create: async (values) => (await run('create', INSERT, values))[0],
    rename: async (...values) => (await run('rename', RENAME, values))[0]
  }
}
