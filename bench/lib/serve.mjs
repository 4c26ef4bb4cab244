// What every server program does: read its settings from the environment, and print where it listens.
export const { KEY = '', PLACE = '', SIZE = '0' } = process.env

/** Prints the address, the key to use, and the dialect of the server: its first line of output. */
export function announce (address, key = KEY, dialect = 'own') {
  process.stdout.write(`${JSON.stringify({ address, key, dialect })}\n`)
}

/** The query parameters of a list, read by a server that checks little. */
export function listOf ({ page, limit, after, email, q }) {
  const size = Math.min(Number(limit ?? 20), 100)
  const number = Number(page ?? 1)
  return { page: number, limit: size, offset: (number - 1) * size, after, email, q: q?.toLowerCase() }
}

/** A row as responses show it. */
export const view = ({ id, name, email, created_at: createdAt, updated_at: updatedAt }) => ({
  id, name, email, createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(updatedAt).toISOString()
})

/** The response of a list. */
export const envelope = ({ page, limit, after }, rows, total) =>
  ({ data: rows, meta: { ...(after === undefined && { page }), limit, total: Number(total) } })
