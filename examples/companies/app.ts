/**
 * A server for companies, whose employees sign in. Each company is a tenant, and the session says which one, so neither
 * the server's own routes nor those of the plugin show anything of another company.
 */
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import users, { type User } from 'fastify-users'
import { knexStorage } from 'fastify-users/adapters/knex'
import type { Knex } from 'knex'
import { hashPassword, isPassword } from './passwords.ts'
import { createSessions, type Session } from './sessions.ts'

export interface AppOptions {
  host: Knex
  /** Signs the sessions. At least 32 random characters. */
  sessionSecret: string
  /** A key for whoever runs the server, which sees every company. At least 32 characters. */
  operatorKey: string
}

interface Credentials { company: string, email: string, password: string }
interface SignUp extends Credentials { name: string }

declare module 'fastify' {
  interface FastifyRequest { session: Session }
}

/** What keys of a company's programs can open, beside what is the plugin's. */
const scopes = { 'directory:read': 'See the people of the company', 'directory:write': 'Rename them' }
type OwnScopes = typeof scopes
declare module 'fastify-users' {
  interface HostScopes extends OwnScopes {}
}

const text = { type: 'string', minLength: 1, maxLength: 254 }
const credentials = {
  company: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }, email: text, password: { ...text, minLength: 12 }
}
const bodyOf = (properties: object) => ({ body: { type: 'object', required: Object.keys(properties), properties } })

async function createTables (host: Knex): Promise<void> {
  await host.raw('CREATE TABLE IF NOT EXISTS companies (tenant varchar(64) PRIMARY KEY, name text NOT NULL)')
  await host.raw(`CREATE TABLE IF NOT EXISTS passwords (
    user_id varchar(30) PRIMARY KEY REFERENCES fastify_users_users (id) ON DELETE CASCADE, hash text NOT NULL)`)
}

/** Builds the server. */
export async function buildApp ({ host, sessionSecret, operatorKey }: AppOptions): Promise<FastifyInstance> {
  const app = Fastify()
  const sessions = createSessions(sessionSecret)

  /** The session of a request, if its user is still there, and not suspended. */
  async function signedIn (request: FastifyRequest): Promise<Session | null> {
    const session = sessions.of(request)
    if (session === null) return null
    return await app.users.tenant(session.tenant).isActive(session.userId) ? session : null
  }

  await app.register(users, {
    prefix: '/v1',
    storage: knexStorage(host),
    migrate: true,
    tenants: true,
    apiKeys: {
      scopes,
      static: [{
        key: operatorKey, name: 'operator', scopes: ['users:read', 'users:write', 'users:delete'], tenant: null
      }]
    },
    // The company's own pages read the users with `Authorization: Bearer session`.
    async authenticate (token, request) {
      const session = token === 'session' ? await signedIn(request) : null
      if (session === null) return null
      const { userId, tenant, expiresAt } = session
      return { id: userId, scopes: ['users:read'], tenant, expiresAt }
    }
  })
  await createTables(host)

  // The company and its first user, or neither.
  app.post<{ Body: SignUp }>('/sign-up', { schema: bodyOf({ ...credentials, name: text }) }, async (request, reply) => {
    const { company, name, email, password } = request.body
    const hash = await hashPassword(password)
    const user = await host.transaction(async (trx): Promise<User | null> => {
      const [made] = await trx('companies').insert({ tenant: company, name: company }).onConflict('tenant').ignore()
        .returning('tenant')
      const own = app.users.tenant(company).using(trx)
      // Users of a tenant without a company are the operator's work, and no stranger may join them.
      if (made === undefined || (await own.list({ limit: 1 })).meta.total > 0) return null
      const user = await own.create({ name, email })
      await trx('passwords').insert({ user_id: user.id, hash })
      return user
    })
    if (user === null) return reply.code(409).send({ error: 'company_taken' })
    sessions.begin(reply, { tenant: company, userId: user.id })
    return reply.code(201).send(user)
  })

  app.post<{ Body: Credentials }>('/sign-in', { schema: bodyOf(credentials) }, async (request, reply) => {
    const { company, email, password } = request.body
    const { data: [user] } = await app.users.tenant(company).list({ email })
    const known = user && await host('passwords').where({ user_id: user.id }).first('hash')
    if (!await isPassword(password, known?.hash) || user === undefined) {
      return reply.code(401).send({ error: 'wrong_credentials' })
    }
    if (user.status !== 'active') return reply.code(403).send({ error: 'suspended' })
    sessions.begin(reply, { tenant: company, userId: user.id })
    return reply.code(204).send()
  })

  // For programs, by a key of their company: they see and change its people alone, and the history names the key.
  app.get('/directory', { onRequest: app.users.guard('directory:read') }, async (request) =>
    app.users.for(request).list())
  app.patch<{ Params: { id: string }, Body: { name: string } }>(
    '/directory/:id',
    { onRequest: app.users.guard('directory:write'), schema: bodyOf({ name: text }) },
    async (request) => app.users.for(request).update(request.params.id, { name: request.body.name })
  )

  await app.register(async (own) => {
    own.addHook('onRequest', async (request, reply) => {
      const session = await signedIn(request)
      if (session === null) return reply.code(401).send({ error: 'not_signed_in' })
      request.session = session
    })
    // Events name the person who is signed in as the one who made the change.
    const usersOf = ({ id, session: { tenant, userId } }: FastifyRequest) =>
      app.users.tenant(tenant).as({ id: userId, type: 'member' }, { requestId: id })

    own.post<{ Body: { name: string } }>('/keys', { schema: bodyOf({ name: text }) }, async (request, reply) => {
      const { key } = await usersOf(request).apiKeys.create({
        name: request.body.name, scopes: ['directory:read', 'directory:write']
      })
      return reply.code(201).send({ key })
    })
    own.get('/account', async (request) => usersOf(request).get(request.session.userId))
    own.get('/colleagues', async (request) => usersOf(request).list())
    own.get<{ Params: { id: string } }>('/colleagues/:id', async (request) => usersOf(request).get(request.params.id))
    own.post<{ Body: Omit<SignUp, 'company'> }>(
      '/colleagues',
      { schema: bodyOf({ name: text, email: text, password: credentials.password }) },
      async (request, reply) => {
        const { name, email, password } = request.body
        const hash = await hashPassword(password)
        const user = await host.transaction(async (trx) => {
          const user = await usersOf(request).using(trx).create({ name, email })
          await trx('passwords').insert({ user_id: user.id, hash })
          return user
        })
        return reply.code(201).send(user)
      }
    )
  })
  return app
}
