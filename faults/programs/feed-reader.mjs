// Reads the event log until it is killed, and keeps a book of what it got: node feed-reader.mjs <url> <file> [ids]
// The book alone says where it goes on: after the last whole line. `ids`: reads in the order of ids, which is wrong.
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { postgres } from '../../dist/adapters/postgres.js'

const [url, file, order] = process.argv.slice(2)
const LIMIT = 100

/** The last event of the book. What a kill has left of a line is cut off. */
function lastInBook () {
  if (!existsSync(file)) return null
  const text = readFileSync(file, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  truncateSync(file, whole.length)
  return whole.trimEnd().split('\n').at(-1).split(' ')[0] || null
}

async function createReading () {
  if (order !== 'ids') {
    const { log } = postgres({ connection: url })
    return async (after) => (await log.read({ after, limit: LIMIT, types: null })).events
  }
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  return async (after) => (await pool.query(
    'SELECT id, subject, data FROM fastify_users_events WHERE id > $1 ORDER BY id LIMIT $2', [after ?? '', LIMIT]
  )).rows
}

const next = await createReading()
let last = lastInBook()
process.stdout.write('ready\n')
while (true) {
  const events = await next(last)
  if (events.length === 0) {
    await setTimeout(20)
    continue
  }
  appendFileSync(file, events.map(({ id, subject, data }) => `${id} ${subject} ${data.version ?? 0}\n`).join(''))
  last = events.at(-1).id
}
