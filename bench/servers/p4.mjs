// P4: the routes that Platformatic DB makes from the table: its SQL mapper and its OpenAPI routes in Fastify, without
// its GraphQL and events. PLACE: postgres://…
import bearerAuth from '@fastify/bearer-auth'
import { plugin as mapper } from '@platformatic/sql-mapper'
import openapi from '@platformatic/sql-openapi'
import Fastify from 'fastify'
import { announce, KEY, PLACE } from '../lib/serve.mjs'

const app = Fastify()
await app.register(bearerAuth, { keys: new Set([KEY]) })
await app.register(mapper, {
  connectionString: PLACE,
  poolSize: 10,
  include: { bench_users: true },
  // The database makes new ids: with an id in the request, Platformatic would try an update first.
  onDatabaseLoad: (db, sql) => db.query(sql`
    ALTER TABLE bench_users ALTER COLUMN id SET DEFAULT 'usr_' || replace(uuidv7()::text, '-', '')`)
})
await app.register(openapi)
announce(await app.listen({ port: 0 }), KEY, 'platformatic')
