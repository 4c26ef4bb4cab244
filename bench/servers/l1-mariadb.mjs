import { createRequire } from 'node:module'

// The repository's driver.
const { createPool } = createRequire(new URL('../../package.json', import.meta.url))('mysql2/promise')

const COLUMNS = 'id, name, email, created_at, updated_at'
const ORDER = 'ORDER BY id LIMIT'
const INSERT = 'INSERT INTO bench_users (id, name, name_key, email, email_key, version, created_at, updated_at) ' +
  `VALUES (?, ?, ?, ?, ?, 1, ?, ?) RETURNING ${COLUMNS}`
const RENAME = 'UPDATE bench_users SET name = ?, name_key = ?, version = version + 1, updated_at = ? WHERE id = ?'
const GET = `SELECT ${COLUMNS} FROM bench_users WHERE id = ?`

const filters = {
  none: { where: '', values: () => [] },
  email: { where: 'WHERE email_key = ?', values: ({ email }) => [email.toLowerCase()] },
  q: {
    where: 'WHERE (name_key >= ? AND name_key < ?) OR (email_key >= ? AND email_key < ?)',
    values: ({ q }) => [q, `${q}\u{10ffff}`, q, `${q}\u{10ffff}`]
  }
}

/** L1's statements on MariaDB, prepared. MariaDB has no UPDATE … RETURNING. */
export async function openStore (uri) {
  const pool = createPool({ uri, connectionLimit: 10 })
  const run = async (text, values) => (await pool.execute(text, values))[0]

  return {
    async list (asked) {
      const kind = asked.email !== undefined ? 'email' : asked.q !== undefined ? 'q' : 'none'
      const { where, values } = filters[kind]
      const given = values(asked)
      const all = `SELECT ${COLUMNS} FROM bench_users`
      const page = asked.after === undefined
        ? run(`${all} ${where} ${ORDER} ? OFFSET ?`, [...given, String(asked.limit), String(asked.offset)])
        : run(`${all} WHERE id > ? ${ORDER} ?`, [asked.after, String(asked.limit)])
      const count = run(`SELECT count(*) AS total FROM bench_users ${where}`, given)
      const [rows, [{ total }]] = await Promise.all([page, count])
      return { rows, total }
    },
    get: async (id) => (await run(GET, [id]))[0],
    create: async (values) => (await run(INSERT, [...values, values.at(-1)]))[0],
    async rename (id, name, key, at) {
      await run(RENAME, [name, key, at, id])
      return (await run(GET, [id]))[0]
    }
  }
}
