import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import users, { type Storage } from 'fastify-users'

/** A host that describes its routes to machines, those of its users among them. */
export async function buildApp (storage: Storage): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Users', version: '1.0.0' } } })
  await app.register(users, { prefix: '/v1', storage, migrate: true })
  app.get('/openapi.json', async () => app.swagger())
  return app
}
