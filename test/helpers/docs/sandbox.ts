import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import users, { type FieldsJsonSchema, type Scope } from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'
import { postgres } from 'fastify-users/adapters/postgres'
import type { Test } from 'tap'
import { buildApp } from '../../../examples/standalone/app.ts'
import { readConfig } from '../../../examples/standalone/config.ts'
import { plainNode } from '../plain-node.ts'
import { pgUrl, sql, temporaryDirectory } from '../stores.ts'

const ALL_SCOPES: Scope[] = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write', 'groups:read', 'groups:write', 'scim:users', 'scim:groups'
]

/** The text of a key that may do everything and never expires, as the standalone service makes its first one. */
export async function firstKey (app: FastifyInstance): Promise<string> {
  const { key } = await app.users.apiKeys.create({ name: 'first key', scopes: ALL_SCOPES, expiresAt: null })
  return key
}

/** A host with the fields of docs/your-own-fields.md. */
export async function hostWithFields (fields: FieldsJsonSchema): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(users, {
    prefix: '/v1',
    storage: memory(),
    apiKeys: { routes: true },
    eventLog: true,
    fields: { schema: fields, filterable: ['plan'] }
  })
  return app
}

/** `plain`: the standalone service on an SQLite file, which is that of the command line too. */
export type ServiceKind = 'plain' | 'fields'

/** What the commands and the SQL of a page run against. All of it starts when asked for, and ends with the test. */
export interface Sandbox {
  directory: string
  /** The address of the process that runs the command line. */
  commandLine: string
  /** The running service, with its first key. */
  service (kind: ServiceKind): Promise<{ origin: string, key: string }>
  /** A migrated PostgreSQL database. */
  postgresUrl (): Promise<string>
}

function makeOnce<Value> (make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => (made ??= make())
}

/** Starts the process that runs the command line for every page: its address, and what ends it. */
export async function startCommandLine (): Promise<{ url: string, end: () => void }> {
  const [node, args] = plainNode(join(import.meta.dirname, 'command-line.mjs'))
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = await once(child.stdout, 'data')
  return { url: String(url).trim(), end: () => child.kill() }
}

/** Makes the sandbox of a page. */
export async function createSandbox (
  t: Test,
  { commandLine, loadFields }: { commandLine: string, loadFields: () => Promise<FieldsJsonSchema> }
): Promise<Sandbox> {
  const directory = await temporaryDirectory(t)

  async function start (app: FastifyInstance): Promise<{ origin: string, key: string }> {
    t.teardown(() => app.close())
    const key = await firstKey(app)
    return { origin: await app.listen({ host: '127.0.0.1', port: 0 }), key }
  }

  async function startStandalone (): Promise<{ origin: string, key: string }> {
    const url = `sqlite:${join(directory, 'data', 'users.db')}`
    await mkdir(join(directory, 'data'))
    return start(await buildApp(readConfig({
      DATABASE_URL: url,
      API_KEY_ROUTES: 'true',
      WEBHOOKS_ENABLED: 'true',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
      GROUPS_ENABLED: 'true',
      SCIM_ENABLED: 'true',
      TRASH_DAYS: '30'
    }), false))
  }

  async function createDatabase (): Promise<string> {
    const name = `docs_${randomBytes(6).toString('hex')}`
    await sql(`CREATE DATABASE ${name} TEMPLATE template0`)
    t.teardown(() => sql(`DROP DATABASE ${name} WITH (FORCE)`))
    const url = new URL(pgUrl())
    url.pathname = `/${name}`
    const storage = postgres({ connection: url.href })
    await storage.open({ migrate: true })
    await storage.close()
    return url.href
  }

  const services = {
    plain: makeOnce(startStandalone),
    fields: makeOnce(async () => start(await hostWithFields(await loadFields())))
  }
  return { directory, commandLine, service: (kind) => services[kind](), postgresUrl: makeOnce(createDatabase) }
}
