import { Console } from 'node:console'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import users from 'fastify-users'
import { knexStorage } from 'fastify-users/adapters/knex'
import { memory } from 'fastify-users/adapters/memory'
import type { Knex } from 'knex'
import type { Test } from 'tap'
import { sqliteHost } from '../sqlite.ts'
import { temporaryDirectory } from '../stores.ts'
import type { Block } from './pages.ts'
import { firstKey, hostWithFields } from './sandbox.ts'
import { isRunKind, type Project, type RunKind } from './typescript.ts'

// What a block prints may be a key, and is nothing of the test's.
const silent = new Console(new Writable({ write: (_chunk, _encoding, done) => done() }))

const OPTIONS = { prefix: '/v1', migrate: true, apiKeys: { routes: true }, eventLog: true, trash: true, groups: true }

/** Makes the server that blocks of a kind have, and its Knex where they have that too. */
async function serverFor (t: Test, kind: RunKind, project: Project): Promise<{ app: FastifyInstance, knex?: Knex }> {
  if (kind === 'fields') return { app: await hostWithFields(await project.loadFields()) }
  const app = Fastify()
  if (kind === 'app') {
    await app.register(users, { ...OPTIONS, storage: memory() })
    return { app }
  }
  const knex = sqliteHost(join(await temporaryDirectory(t), 'host.db'))
  t.teardown(() => knex.destroy())
  await knex.schema.createTable('orders', (table) => {
    table.string('user_id')
    table.string('item')
  })
  await app.register(users, { ...OPTIONS, storage: knexStorage(knex) })
  return { app, knex }
}

/** Runs the function that a block has become. @throws what the block throws */
export async function runBlock (t: Test, block: Block, project: Project): Promise<void> {
  if (!isRunKind(block.kind)) throw new Error(`blocks of the kind "${block.kind}" are not run`)
  const { app, ...others } = await serverFor(t, block.kind, project)
  t.teardown(() => app.close())
  const key = await firstKey(app)
  const { default: run } = await project.load(block)
  await run({ app, key, console: silent, ...others })
}
