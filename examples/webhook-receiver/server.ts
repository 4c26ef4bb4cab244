// WEBHOOK_SECRET=whsec_… node .build/examples/webhook-receiver/server.js
import createKnex from 'knex'
import { buildReceiver } from './receiver.ts'

const { WEBHOOK_SECRET, DATABASE = 'copy.db', PORT = '4000' } = process.env
if (WEBHOOK_SECRET === undefined) throw new Error('set WEBHOOK_SECRET to the secret of the webhook, whsec_…')
const knex = createKnex({ client: 'better-sqlite3', connection: { filename: DATABASE }, useNullAsDefault: true })
const app = await buildReceiver({ secret: WEBHOOK_SECRET, knex })
app.addHook('onClose', async () => knex.destroy())
console.log(`receiving at ${await app.listen({ port: Number(PORT) })}/hooks/users`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
