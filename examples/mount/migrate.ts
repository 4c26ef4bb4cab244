import { sqlite } from 'fastify-users/adapters/sqlite'

const storage = sqlite({ filename: 'users.db' })
await storage.migrate()
await storage.close()
