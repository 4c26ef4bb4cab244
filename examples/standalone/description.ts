import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { errorTable } from 'fastify-users'

const CODES = Object.entries(errorTable)
  .map(([code, { status, title }]) => `| \`${code}\` | ${status} | ${title} |`)

const GUIDES = 'https://github.com/fastify-users/fastify-users/blob/main/docs'

export interface DescriptionOptions {
  /** The path of the administration page; null: there is none. */
  page: string | null
}

/** What stands before the operations: short, so that they are in view. */
const introduction = ({ page }: DescriptionOptions): string => `
**Sign in** with the button *Authorize* and an API key. Programs send it as \`Authorization: Bearer $KEY\`.

${page === null ? '' : `[Administration page](${page}) · `}[Guide to the HTTP API](${GUIDES}/http-api.md) ·
[API keys](${GUIDES}/api-keys.md) · [All guides](${GUIDES}/index.md)

<details><summary>Lists, changes, creations</summary>

**Lists** have an exact total. \`page\` and \`limit\` turn pages, \`Link\` has the addresses of the others, and
\`after\` walks through all users without missing one. **Changes** give \`If-Match\` the \`ETag\` of the version that
they are made to. **Creations** can be repeated with an \`Idempotency-Key\`.

</details>

<details><summary>Errors</summary>

They are problem details (RFC 9457). Switch on \`code\`:

| Code | Status | Meaning |
|---|---|---|
${CODES.join('\n')}

</details>
`.trim()

async function plugin (app: FastifyInstance, options: DescriptionOptions): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Users',
        version: 'API 1',
        description: introduction(options),
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' }
      },
      // Wherever the description itself is read from.
      servers: [{ url: '/' }]
    }
  })
}

/** The OpenAPI description of the service. */
export const description = fp(plugin)
