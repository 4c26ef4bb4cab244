import { batches } from '../lib/people.mjs'

/** L1's users in memory: what a server can do that keeps them in arrays and Maps, and finds those of `q` by a walk. */
export async function openStore (size) {
  const rows = [...batches(size, size)].flat()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const byEmail = new Map(rows.map((row) => [row.email_key, row]))

  /** The number of rows up to this id. */
  function countUpTo (id) {
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (rows[middle].id <= id) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    async list ({ offset, limit, after, email, q }) {
      if (email !== undefined) {
        const row = byEmail.get(email.toLowerCase())
        return row === undefined ? { rows: [], total: 0 } : { rows: [row], total: 1 }
      }
      if (q !== undefined) {
        const found = rows.filter((row) => row.name_key.startsWith(q) || row.email_key.startsWith(q))
        return { rows: found.slice(offset, offset + limit), total: found.length }
      }
      const start = after === undefined ? offset : countUpTo(after)
      return { rows: rows.slice(start, start + limit), total: rows.length }
    },
    get: async (id) => byId.get(id),
    async create ([id, name, nameKey, email, emailKey, at]) {
      if (byEmail.has(emailKey)) throw new Error('taken')
      const row = {
        id, name, name_key: nameKey, email, email_key: emailKey, version: 1, created_at: at, updated_at: at
      }
      rows.splice(countUpTo(id), 0, row)
      byId.set(id, row)
      byEmail.set(emailKey, row)
      return row
    },
    async rename (id, name, nameKey, at) {
      const row = byId.get(id)
      if (row !== undefined) Object.assign(row, { name, name_key: nameKey, version: row.version + 1, updated_at: at })
      return row
    }
  }
}
