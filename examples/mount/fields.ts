import Type, { type Static } from 'typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import users, { type Storage } from 'fastify-users'

const fields = Type.Object({
  plan: Type.Optional(Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free' })),
  address: Type.Optional(Type.Object({ city: Type.String(), zip: Type.Optional(Type.String()) }))
})

declare module 'fastify-users' {
  interface UserFields extends Static<typeof fields> {}
}

/** A host whose users have a plan and an address, and lists of those on a plan. */
export async function buildApp (storage: Storage): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(users, { prefix: '/v1', storage, migrate: true, fields: { schema: fields, filterable: ['plan'] } })
  return app
}

/** What they can do with it. */
export async function tour (app: FastifyInstance): Promise<string[]> {
  const ann = await app.users.create({
    name: 'Ann',
    email: 'ann@example.org',
    plan: 'pro',
    address: { city: 'Oslo', zip: '0150' }
  })
  const moved = await app.users.update(ann.id, { address: { city: 'Bergen', zip: null } })
  const { meta } = await app.users.list({ plan: 'pro' })
  return [ann.plan ?? '', JSON.stringify(moved.address), `${meta.total} on it`]
}
