import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import './watch-all.ts'

/** Fastify takes this router option; its types have it at the top level alone. */
export const SEMICOLONS: object = { useSemicolonDelimiter: true }

/** A host with the plugin under /v1, on a memory store; closed with the test. Request ids are always `r`. */
export async function plainHost (
  t: Test,
  options: FastifyServerOptions = {},
  prepare: (app: FastifyInstance) => void = () => {}
): Promise<FastifyInstance> {
  const app = Fastify({ genReqId: () => 'r', ...options })
  t.teardown(() => app.close())
  prepare(app)
  await app.register(users, { prefix: '/v1', storage: memory() })
  return app
}
