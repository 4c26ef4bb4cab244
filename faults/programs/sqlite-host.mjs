// A host with a Knex instance of its own on SQLite, which does not sync: what a careless host may be.
import Fastify from 'fastify'
import { users } from 'fastify-users'
import { knexStorage } from 'fastify-users/adapters/knex'
import knex from 'knex'

const { API_KEYS, DATABASE_URL, HOST, PORT } = process.env
const host = knex({
  client: 'better-sqlite3',
  connection: { filename: DATABASE_URL.slice('sqlite:'.length) },
  useNullAsDefault: true,
  pool: {
    min: 1,
    max: 1,
    afterCreate (connection, done) {
      connection.pragma('journal_mode = WAL')
      connection.pragma('synchronous = OFF')
      done(null)
    }
  }
})
const app = Fastify()
await app.register(users, { prefix: '/v1', storage: knexStorage(host), apiKeys: { static: [API_KEYS] }, migrate: true })
app.get('/ready', async () => 'true')
await app.listen({ host: HOST, port: Number(PORT) })
