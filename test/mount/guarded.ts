import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import fastifyUsers, { type Scope, type UsersOptions } from '../../lib/index.ts'
import { untyped } from '../helpers/untyped.ts'

export const STATIC = 'static-key-of-32-characters-or-more'
const scopes = { 'orders:read': 'Read orders', 'orders:write': 'Change orders' }
/** A scope that the types of this repository do not know. */
export const own = (scope: string): Scope => untyped(scope)

export type Given = Partial<UsersOptions> & { before?: (app: FastifyInstance) => unknown }

/** A host with a mount under /v1, and GET, POST and DELETE /orders of its own. */
export async function host (t: Test, { before, apiKeys = {}, ...given }: Given = {}) {
  const app = Fastify({ routerOptions: { maxParamLength: 100 } })
  t.teardown(() => app.close())
  await before?.(app)
  await app.register(fastifyUsers, {
    storage: memory(), eventLog: true, ...given, apiKeys: { scopes, routes: true, countUses: true, ...apiKeys }
  })
  app.get('/orders', { onRequest: app.users.guard(own('orders:read')) }, async ({ caller }) => ({ caller }))
  app.post('/orders', { onRequest: app.users.guard(own('orders:read'), own('orders:write')) }, async ({ body }) => body)
  const keyOf = async (...of: string[]) => await app.users.apiKeys.create({ name: 'shop', scopes: of.map(own) })
  const ask = (url: string, key?: string, options: InjectOptions = {}) =>
    app.inject({
      url, ...options, headers: { ...key !== undefined && { authorization: `Bearer ${key}` }, ...options.headers }
    })
  return { app, users: app.users, keyOf, ask }
}
