import Fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users, { type Scope, type UsersOptions } from '../../lib/index.ts'

export const ALL_SCOPES: Scope[] = ['users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write']

export type Call = (method: string, path: string, options?: Omit<InjectOptions, 'method' | 'url'>) => Promise<LightMyRequestResponse>

export interface TestApp {
  app: FastifyInstance
  prefix: string
  /** Text of a key with all scopes. */
  key: string
  /** Sends a request with the key; the path is relative to the prefix, whose parameters are filled with their own names. */
  call: Call
}

export interface TestAppOptions extends Partial<UsersOptions> {
  server?: FastifyServerOptions
  /** Called before the plugin is registered. */
  before?: (app: FastifyInstance) => void | Promise<void>
}

/** Sends a request the way light-my-request types it: any method that Fastify routes. */
export function inject (app: FastifyInstance, method: string, url: string, options: Omit<InjectOptions, 'method' | 'url'> = {}): Promise<LightMyRequestResponse> {
  // light-my-request's own type lacks QUERY and TRACE.
  const request: object = { ...options, method, url }
  return app.inject(request)
}

/** A host with the plugin, on a memory store unless another is given; closed with the test. */
export async function testApp (t: Test, { server = {}, before, ...given }: TestAppOptions = {}): Promise<TestApp> {
  const app = Fastify(server)
  t.teardown(() => app.close())
  await before?.(app)
  const { prefix = '/v1', storage = memory(), migrate = true } = given
  await app.register(users, { ...given, prefix, storage, migrate })
  const { key } = await app.users.apiKeys.create({ name: 'test', scopes: ALL_SCOPES })
  const base = prefix.replaceAll(':', '')
  const call: Call = (method, path, options = {}) =>
    inject(app, method, base + path, { ...options, headers: { authorization: `Bearer ${key}`, ...options.headers } })
  return { app, prefix: base, key, call }
}
