import Fastify, { type FastifyInstance } from 'fastify'
import users from 'fastify-users'
import { knexStorage } from 'fastify-users/adapters/knex'
import type { Knex } from 'knex'

/** A host with a database and transactions of its own: a user and its first order are made together or not at all. */
export async function buildApp (host: Knex): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(users, { prefix: '/v1', storage: knexStorage(host), migrate: true })

  app.post('/sign-up', async (_request, reply) => {
    await host.transaction(async (trx) => {
      const user = await app.users.using(trx).create({ name: 'Ann', email: 'ann@example.org' })
      await trx('orders').insert({ user_id: user.id, item: 'welcome pack' })
    })
    return reply.code(204).send()
  })
  return app
}
