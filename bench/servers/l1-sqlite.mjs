import { createRequire } from 'node:module'
import { promisify } from 'node:util'

const COLUMNS = 'id, name, email, created_at, updated_at'
const sqlite3 = createRequire(import.meta.url)('sqlite3')

/** L1's statements on SQLite, by the sqlite3 package. Each is prepared once. */
export async function openStore (filename) {
  const database = new sqlite3.Database(filename)
  const execute = promisify(database.exec.bind(database))
  await execute('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000')
  const prepare = (sql) => {
    const statement = database.prepare(sql)
    return promisify(statement.all.bind(statement))
  }
  const Q = '(name_key >= ?1 AND name_key < ?2) OR (email_key >= ?1 AND email_key < ?2)'
  const total = prepare('SELECT count(*) AS total FROM bench_users')
  const page = prepare(`SELECT ${COLUMNS} FROM bench_users ORDER BY id LIMIT ?1 OFFSET ?2`)
  const after = prepare(`SELECT ${COLUMNS} FROM bench_users WHERE id > ?1 ORDER BY id LIMIT ?2`)
  const byEmail = prepare(`SELECT ${COLUMNS} FROM bench_users WHERE email_key = ?1`)
  const totalOfQ = prepare(`SELECT count(*) AS total FROM bench_users WHERE ${Q}`)
  const pageOfQ = prepare(`SELECT ${COLUMNS} FROM bench_users WHERE ${Q} ORDER BY id LIMIT ?3 OFFSET ?4`)
  const get = prepare(`SELECT ${COLUMNS} FROM bench_users WHERE id = ?1`)
  const create = prepare('INSERT INTO bench_users ' +
    '(id, name, name_key, email, email_key, version, created_at, updated_at) ' +
    `VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6) RETURNING ${COLUMNS}`)
  const rename = prepare('UPDATE bench_users SET name = ?2, name_key = ?3, version = version + 1, updated_at = ?4 ' +
    `WHERE id = ?1 RETURNING ${COLUMNS}`)

  return {
    async list (asked) {
      if (asked.email !== undefined) {
        const rows = await byEmail([asked.email.toLowerCase()])
        return { rows, total: rows.length }
      }
      const range = [asked.q, `${asked.q}\u{10ffff}`]
      const unfiltered = () =>
        asked.after === undefined ? page([asked.limit, asked.offset]) : after([asked.after, asked.limit])
      const [rows, [counted]] = await Promise.all(asked.q === undefined
        ? [unfiltered(), total([])]
        : [pageOfQ([...range, asked.limit, asked.offset]), totalOfQ(range)])
      return { rows, total: counted.total }
    },
    get: async (id) => (await get([id]))[0],
    create: async (values) => (await create(values))[0],
    rename: async (...values) => (await rename(values))[0]
  }
}
