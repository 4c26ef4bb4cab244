// P5: better-auth with its admin and bearer plugins, on its own tables with the same people.
// PLACE: postgres://…, with the table bench_users.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { admin, bearer } from 'better-auth/plugins'
import pg from 'pg'
import { newId } from '../lib/ids.mjs'
import { personOf } from '../lib/people.mjs'
import { announce, KEY, PLACE } from '../lib/serve.mjs'

const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const address = `http://127.0.0.1:${server.address().port}`
const database = new pg.Pool({ connectionString: PLACE, max: 10 })
const auth = betterAuth({
  baseURL: address,
  secret: KEY,
  database,
  emailAndPassword: { enabled: true },
  advanced: { database: { generateId: newId } },
  // The other servers have no rate limit. This one would refuse most of the load.
  rateLimit: { enabled: false },
  plugins: [admin(), bearer()]
})
const { runMigrations } = await getMigrations(auth.options)
await runMigrations()

// The first person is the administrator. An additional user would be counted in every total.
const { id, email } = personOf(0)
await database.query(`INSERT INTO "user" (id, name, email, "emailVerified", "createdAt", "updatedAt", role, banned)
  SELECT id, name, email, true, created_at, updated_at, CASE WHEN id = '${id}' THEN 'admin' ELSE 'user' END, false
  FROM bench_users`)
await database.query('VACUUM ANALYZE "user"')
const { internalAdapter, password } = await auth.$context
const hash = await password.hash(KEY)
await internalAdapter.linkAccount({ providerId: 'credential', accountId: id, userId: id, password: hash })
const { headers } = await auth.api.signInEmail({ body: { email, password: KEY }, returnHeaders: true })

server.on('request', toNodeHandler(auth))
announce(address, headers.get('set-auth-token'), 'betterAuth')
