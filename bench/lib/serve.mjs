// What every server program does: take its settings from the environment, listen, and say where.
export const { KEY = '', PLACE = '', SIZE = '0' } = process.env

export async function announce (address, key = KEY, dialect = 'own') {
  process.stdout.write(`${JSON.stringify({ address, key, dialect })}\n`)
}

/** The parameters of a list as a server without much checking reads them. */
export function listOf ({ page, limit, after, email, q }) {
  const size = Math.min(Number(limit ?? 20), 100)
  return { page: Number(page ?? 1), limit: size, offset: (Number(page ?? 1) - 1) * size, after, email, q: q?.toLowerCase() }
}

/** A row as an answer shows it. */
export const view = ({ id, name, email, created_at: createdAt, updated_at: updatedAt }) => ({
  id, name, email, createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(updatedAt).toISOString()
})

export const envelope = ({ page, limit, after }, rows, total) => ({ data: rows, meta: { ...(after === undefined && { page }), limit, total: Number(total) } })
