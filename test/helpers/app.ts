import Fastify, {
  type FastifyInstance, type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse
} from 'fastify'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { digestSecret } from '../../lib/api-keys/key-text.ts'
import users, { type Scope, type UsersOptions } from '../../lib/index.ts'
import { watchAnswers } from './described.ts'
import { captureLog, textOf } from './log.ts'

export const ALL_SCOPES: Scope[] = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write', 'groups:read', 'groups:write'
]

type RequestOptions = Omit<InjectOptions, 'method' | 'url'>
export type Call = (method: string, path: string, options?: RequestOptions) => Promise<LightMyRequestResponse>

export interface TestApp {
  app: FastifyInstance
  prefix: string
  /** Text of a key with all scopes. */
  key: string
  /** Sends a request with the key. The path is relative to the prefix, whose parameters have their names as values. */
  call: Call
}

export interface TestAppOptions extends Partial<UsersOptions> {
  server?: FastifyServerOptions
  /** Called before the plugin is registered. */
  before?: (app: FastifyInstance) => void | Promise<void>
}

/** Sends a request with any method that Fastify routes. */
export function inject (
  app: FastifyInstance, method: string, url: string, options: RequestOptions = {}
): Promise<LightMyRequestResponse> {
  // light-my-request's own type lacks QUERY and TRACE.
  const request: object = { ...options, method, url }
  return app.inject(request)
}

const KEY_TEXT = '[a-z0-9]+_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}'
const WEBHOOK_SECRET = 'whsec_[0-9A-Za-z+/]{20,}'
const ADDRESS = '[^\\s"\'/\\\\]+@[^\\s"\'/\\\\]+\\.[a-z]+'

/** The key with another last character, so that its checksum is wrong. */
export function mistyped (key: string): string {
  return `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
}

/** What no log may hold: texts of keys, e-mail addresses, and the given names and digests. */
export function leaksIn (text: string, names: Iterable<string>): string[] {
  const secrets = text.match(new RegExp(`${KEY_TEXT}|${WEBHOOK_SECRET}|${ADDRESS}`, 'gi')) ?? []
  return [...secrets, ...[...names].filter((name) => name.length >= 5 && text.includes(name))]
}

/** Makes the server; unless the test has a logger of its own, everything is logged to the stream. */
function createServer (server: FastifyServerOptions, stream: NodeJS.WritableStream): FastifyInstance {
  if ('logger' in server || 'loggerInstance' in server) return Fastify(server)
  const options: FastifyServerOptions = Object({ ...server, logger: { level: 'trace', stream } })
  return Fastify(options)
}

/**
 * A host with the plugin, on a memory store unless another is given; closed with the test. At the end its log is
 * searched for secrets. Every answer is compared with its description.
 */
export async function testApp (t: Test, { server = {}, before, ...given }: TestAppOptions = {}): Promise<TestApp> {
  const log = captureLog()
  const names = new Set<string>()
  const app = createServer(server, log.stream)
  let undescribed: readonly string[] = []
  t.teardown(async () => {
    await app.close()
    const leaks = leaksIn(log.text() + textOf(Object(Object(server.logger).stream)), names)
    if (leaks.length > 0) throw new Error(`the log of a test holds ${leaks.join(', ')}`)
    if (undescribed.length > 0) throw new Error(`answers are not as described:\n${undescribed.join('\n')}`)
  })
  await before?.(app)
  if (given.openapi !== false) undescribed = watchAnswers(app)
  const { prefix = '/v1', storage = memory(), migrate = true, apiKeys: { pepper } = {} } = given
  await app.register(users, { ...given, prefix, storage, migrate })
  for (const type of ['user.created', 'user.updated'] as const) {
    app.users.events.on(type, ({ data }) => { names.add(data.name).add(data.email) })
  }
  const { key } = await app.users.apiKeys.create({ name: 'test', scopes: ALL_SCOPES })
  names.add(digestSecret(key.slice(-49, -6), typeof pepper === 'string' ? pepper : pepper?.[0]))
  const base = prefix.replaceAll(':', '')
  const call: Call = (method, path, options = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...options.headers }
    return inject(app, method, base + path, { ...options, headers })
  }
  return { app, prefix: base, key, call }
}
