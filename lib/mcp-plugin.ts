import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { defaulted, optional, type OptionsOf, readOptions } from './core/option-table.ts'
import { Type } from './core/typebox.ts'
import { UsersError } from './core/errors.ts'
import { BATCH_BODY_MAX } from './core/limits.ts'
import { errorOf, INVALID_REQUEST, PARSE_ERROR, RpcError } from './mcp/protocol.ts'
import { type ApiAnswer, type ApiRequest, createMcpServer } from './mcp/server.ts'
import { type Tool, toolsOf } from './mcp/tools.ts'
import { requireMount } from './mount/mounts.ts'
import { flag, identifier } from './mount/option-schemas.ts'

const optionTable = {
  /** Path of the endpoint; prefixes of outer scopes come before it. */
  prefix: defaulted<string>('/mcp', {
    schema: Type.String({ pattern: "^(?:/[A-Za-z0-9._~!$&'()*+,=:@-]+)+$" }),
    message: 'must be a path that begins with / and does not end with it'
  }),
  /** Name of the users decorator that the tools are for. */
  users: defaulted<string>('users', identifier),
  /** Tools that change users and groups, too. */
  write: defaulted<boolean>(false, flag),
  /** Other origins whose pages may call it, such as `https://app.example.org`. The server's own always may. */
  allowedOrigins: optional<string[]>({
    schema: Type.Array(Type.String()), message: 'must be a list of origins'
  })
}

/** The options of MCP. */
export interface McpOptions extends OptionsOf<typeof optionTable> {}

const NAME = 'fastify-users/mcp'
/** Of a request to the endpoint, what does not belong to the request of an operation. */
const OWN_HEADERS = /^(?::|content-|transfer-encoding|connection|accept|expect|if-|idempotency-key|mcp-|origin)/

/** Makes what sends requests of operations, with the key, cookies and address of a request. */
const askingIn = (host: FastifyInstance, api: string) => (request: FastifyRequest) => {
  const { headers, host: named, params, raw: { socket: { remoteAddress = '' } } } = request
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name)))
  const base = api.replace(/:(\w+)/g, (_, name) => {
    const value = String(Object(params)[name])
    if (!/^[\w-]+$/.test(value)) throw new UsersError('not_found')
    return value
  })
  return async ({ method, path, body, ifMatch, idempotencyKey }: ApiRequest): Promise<ApiAnswer> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const answer = await host.inject(Object({
      method,
      url: `${base}${path}`,
      remoteAddress,
      headers: {
        ...kept,
        host: named,
        ...body !== undefined && { 'content-type': type },
        ...ifMatch !== undefined && { 'if-match': ifMatch },
        ...idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }
      },
      ...body !== undefined && { payload: JSON.stringify(body) }
    }))
    return { status: answer.statusCode, text: answer.body, link: String(answer.headers['link'] ?? '') }
  }
}

const plugin: FastifyPluginAsync<McpOptions> = async (host, given) => {
  const { prefix, users, write, allowedOrigins = [] } = readOptions(NAME, optionTable, given)
  const mount = requireMount(host, NAME, users)
  let tools: Tool[] | null = null
  const answer = createMcpServer({
    tools: () => (tools ??= toolsOf(mount.operations(), mount.description, write)),
    askAs: askingIn(host, mount.path),
    pageMax: mount.pageSize.max
  })

  /** A page of another site must not reach a server that only its network hides (DNS rebinding). */
  function requireOrigin ({ headers: { origin }, host: own }: FastifyRequest): void {
    if (origin === undefined || allowedOrigins.includes(origin)) return
    if (URL.canParse(origin) && new URL(origin).host === own) return
    throw new RpcError(INVALID_REQUEST, 'This origin is not allowed', { status: 403 })
  }

  await mount.addServer(host, {
    prefix,
    requests: undefined,
    errorFormat: ({ code, detail }) =>
      errorOf(undefined, new RpcError(code === 'malformed_json' ? PARSE_ERROR : INVALID_REQUEST, detail)),
    errorType: 'application/json',
    operations: () => [{
      tag: 'capabilities',
      method: 'POST',
      path: '/',
      // Each operation asks for its own.
      scope: null,
      operationId: 'mcp',
      undescribed: true,
      limitsItself: true,
      summary: 'Model Context Protocol',
      success: { status: 200, description: 'The answer.' },
      bodyLimit: BATCH_BODY_MAX,
      codes: [],
      async handler ({ request, reply }) {
        try {
          requireOrigin(request)
          const message = await answer(request)
          if (message === null) return reply.code(202).send()
          return reply.type('application/json').send(JSON.stringify(message))
        } catch (error) {
          if (!(error instanceof RpcError)) throw error
          const { id } = Object(request.body)
          return reply.code(error.status).type('application/json').send(JSON.stringify(errorOf(id, error)))
        }
      }
    }]
  })
}

/** The plugin: `await app.register(mcp, { prefix: '/mcp' })`, after fastify-users and what adds operations to it. */
export const mcp = fp(plugin, { name: 'fastify-users-mcp', fastify: '5.x || 6.x' })
export default mcp
