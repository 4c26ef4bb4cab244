// Runs the example that reads events exactly once, in a process of its own:
// node read-events.mjs <url of PostgreSQL, or sqlite:path> <schema>
import Fastify from 'fastify'
import users from 'fastify-users'
import { knexStorage } from 'fastify-users/adapters/knex'
import knex from 'knex'
import { readEvents } from '../../.build/examples/event-reader/reader.js'

const [url, schema] = process.argv.slice(2)
const host = url.startsWith('sqlite:')
  ? knex({ client: 'better-sqlite3', connection: { filename: url.slice('sqlite:'.length) }, useNullAsDefault: true })
  : knex({ client: 'pg', connection: url, searchPath: [schema] })
const app = Fastify()
await app.register(users, { storage: knexStorage(host), eventLog: true })
await readEvents({
  users: app.users,
  knex: host,
  name: 'effects',
  apply: async (trx, { id, type }) => { await trx('effects').insert({ event: id, type }) },
  signal: new AbortController().signal
})
