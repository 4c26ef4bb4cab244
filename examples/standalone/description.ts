import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { errorTable } from 'fastify-users'

const CODES = Object.entries(errorTable)
  .map(([code, { status, title }]) => `| \`${code}\` | ${status} | ${title} |`)

const INTRODUCTION = `
The records of your users: list, create, read, update and delete, over HTTP with API keys.

**Sign in** with the button *Authorize* and an API key. Programs send it as \`Authorization: Bearer <key>\`.

**Lists** have an exact total. \`page\` and \`limit\` turn pages, \`Link\` has the addresses of the others, and
\`after\` walks through all users without missing one. **Changes** give \`If-Match\` the \`ETag\` of the version that
they are made to. **Creations** can be repeated with an \`Idempotency-Key\`.

**Errors** are problem details (RFC 9457). Switch on \`code\`:

| Code | Status | Meaning |
|---|---|---|
${CODES.join('\n')}
`.trim()

async function plugin (app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Users',
        version: '1.0.0',
        description: INTRODUCTION,
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' }
      },
      // Wherever the description itself is read from.
      servers: [{ url: '/' }]
    }
  })
}

/** The OpenAPI description of the service. */
export const description = fp(plugin)
