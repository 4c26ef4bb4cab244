import swagger from '@fastify/swagger'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { admin } from '../../lib/admin-plugin.ts'
import users, { type UsersOptions } from '../../lib/index.ts'
import { scim } from '../../lib/scim-plugin.ts'
import { webhooks } from '../../lib/webhooks.ts'
import type { DescribedOperation, Description } from './described.ts'
import { captureLog } from './log.ts'
import './watch-all.ts'

const INFO = {
  title: 'Users',
  version: '1.0.0',
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' }
}

/**
 * A host with `@fastify/swagger` and mounts of the plugin. `openapi`: more members of the description; null: Swagger
 * 2.0. `before`: called before the mounts. `last`: register @fastify/swagger after them.
 */
interface Host {
  openapi?: object | null
  mounts?: Array<Partial<UsersOptions> & { webhooks?: boolean, admin?: boolean, scim?: boolean }>
  before?: (app: FastifyInstance) => unknown
  last?: boolean
}

/** The description of such a host, its text, and what the host logged. */
export async function describe (
  t: Test,
  { openapi = {}, mounts = [{}], before, last = false }: Host = {}
): Promise<{ description: Description, text: string, log: string }> {
  const { stream, text: log } = captureLog()
  const app = Fastify({ logger: { stream } })
  t.teardown(() => app.close())
  const members = { openapi: '3.1.0', info: INFO, servers: [{ url: '/' }], ...openapi }
  const register = () => app.register(swagger, openapi === null ? {} : { openapi: Object(members) })
  if (!last) await register()
  await before?.(app)
  for (const { webhooks: hasWebhooks = false, admin: hasAdmin = false, scim: hasScim = false, ...mount } of mounts) {
    await app.register(users, { storage: memory(), migrate: true, ...mount })
    if (hasWebhooks) await app.register(webhooks)
    if (hasScim) await app.register(scim)
    if (hasAdmin) await app.register(admin)
  }
  if (last) await register()
  await app.ready()
  const made: unknown = app.swagger()
  const text = JSON.stringify(made, null, 1)
  return { description: JSON.parse(text), text, log: log() }
}

/** Everything that the linter of Redocly finds in a description. */
export async function lint (source: string): Promise<string[]> {
  const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) })
  return problems.map(({ severity, ruleId, message, location }) =>
    `${severity} ${ruleId} ${message} ${location[0]?.pointer}`)
}

/** Every operation with its method and path. */
export function operationsOf (
  { paths }: Description
): Array<{ method: string, path: string, operation: DescribedOperation }> {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })))
}
