// The host's own routes, which our plugin must not change.
import { Readable } from 'node:stream'
import { requestContext } from '@fastify/request-context'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Row } from './covering.ts'
import type { Site } from './site.ts'

declare module '@fastify/request-context' {
  interface RequestContextData { of: string }
}

/** The schema of a body, in the language of the host's compiler. */
function bodySchema (compilers: string | undefined): object {
  if (compilers === 'everything replaced') return {}
  const body = compilers === 'zod'
    ? z.object({ n: z.number() })
    : { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
  return { schema: { body } }
}

/** Adds routes under a path. */
export function addOwnRoutes (app: FastifyInstance, path: string, { compilers, multipart }: Row): void {
  app.post(path, bodySchema(compilers), async ({ body }) => ({ body }))
  app.get(`${path}/:id`, async ({ params, query, ip, hostname }) =>
    ({ params, query, ip, hostname, of: requestContext.get('of') ?? null }))
  app.get(`${path}/stream`, async (_request, reply) => {
    reply.type('text/plain')
    return Readable.from(['one', 'two'])
  })
  app.get(`${path}/boom`, async () => { throw new Error('boom') })
  if (compilers === 'ajv') {
    const response = { 200: { type: 'object', properties: { n: { type: 'number' } } } }
    app.get(`${path}/valid`, { schema: { response } }, async () => ({ n: 1, extra: true }))
  }
  if (multipart === 'on') app.post(`${path}/form`, async ({ body }) => Object.keys(Object(body)))
}

const FORM = '--x\r\ncontent-disposition: form-data; name="field"\r\n\r\nvalue\r\n--x--\r\n'

/** Asks for everything that is the host's own. */
export async function askOwnRoutes ({ step }: Site): Promise<void> {
  for (const path of ['/before', '/after']) {
    await step(`POST ${path}`, 200, 'POST', path, { body: { n: 5, extra: 1 } })
    const typed = (type: string, body: string) => ({ headers: { 'content-type': type }, body })
    await step(`POST ${path} of another type`, 415, 'POST', path, typed('text/x', 'x'))
    await step(`POST ${path} of bad JSON`, 400, 'POST', path, typed('application/json', '{'))
    await step(`POST ${path} of a bad body`, 400, 'POST', path, { body: { n: {} } })
    for (const url of ['/1?a=1&a=2', '/stream', '/boom', '/valid']) {
      await step(`GET ${path}${url}`, 200, 'GET', path + url)
    }
    await step(`HEAD ${path}/1`, 200, 'HEAD', `${path}/1`)
    await step(`OPTIONS ${path}`, 404, 'OPTIONS', path)
    await step(`a form to ${path}`, 200, 'POST', `${path}/form`, typed('multipart/form-data; boundary=x', FORM))
  }
  await step('a path that there is not', 404, 'GET', '/nothing')
  await step('a file', 200, 'GET', '/covering.ts')
  await step('a preflight', 204, 'OPTIONS', '/before', { headers: { 'access-control-request-method': 'POST' } })
}
