import { sqlite } from 'fastify-users/adapters/sqlite'

const storage = sqlite({ filename: 'users.db' })
await storage.open({ migrate: true })
await storage.close()
