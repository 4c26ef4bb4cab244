// Faults of those who read the event log. Every other fault has a reader too.
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'

const EVENTS = 'fastify_users_events'

/** Holds a transaction open that has recorded an event, as a host's may, and commits it afterwards. */
async function withOpenTransaction (url, work) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('BEGIN')
    // As after a write of its own.
    await client.query('SELECT pg_current_xact_id()')
    // An id that is smaller than those of events that commit before it.
    await client.query(`INSERT INTO ${EVENTS} (id, type, happened_at, context, subject, data)
      VALUES ('evt_01h455vb4pex5vsknk08' || lpad((random() * 999999)::int::text, 6, '0'), 'api_key.created', now(),
        '{"actor":null,"requestId":null}', 'key_01h455vb4pex5vsknk084sn02q', '{"id":"key_0"}')`)
    await work()
    await client.query('COMMIT')
  } finally {
    await client.end()
  }
}

const open = {
  name: 'open transactions',
  what: 'transactions of others that have recorded events stay open for long, while services are killed 20 times',
  on: ({ name }) => name === 'postgres ×2' || name === 'pgbouncer',
  quick: [],
  async run ({ random, services, acknowledged, broken, rounds, store, notes }) {
    notes.longest = 0
    for (let i = 0; i < rounds(5, 1); i++) {
      const begun = performance.now()
      await withOpenTransaction(store.direct, async () => {
        for (let kill = 0; kill < 4; kill++) {
          await acknowledged(50)
          await broken(async () => {
            const victim = random.pick(services)
            await victim.stop('SIGKILL')
            await victim.start()
          })
        }
      })
      notes.longest = Math.max(notes.longest, Math.round((performance.now() - begun) / 1000))
    }
  }
}

export default [
  open,
  {
    ...open,
    name: 'open transactions, control',
    what: 'the same, and the reader goes by the ids of events',
    on: ({ name }) => name === 'postgres ×2',
    mustFail: ['events'],
    reading ({ store }) {
      const pool = new pg.Pool({ connectionString: store.direct, max: 1 })
      pool.on('error', () => {})
      return {
        async next (after) {
          const { rows } = await pool.query(
            `SELECT id FROM ${EVENTS} WHERE id > $1 ORDER BY id LIMIT 100`, [after ?? '']
          )
          if (rows.length === 0) await setTimeout(1)
          return rows.map(({ id }) => id)
        },
        close: () => pool.end()
      }
    }
  }
]
