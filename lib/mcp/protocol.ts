// JSON-RPC messages of the Model Context Protocol over Streamable HTTP, without sessions.

/** The newest version, in which each request says all that is needed. */
const MODERN = '2026-07-28'
/** Versions that begin with `initialize`. */
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26']
const VERSION_OF = 'io.modelcontextprotocol/protocolVersion'

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const UNKNOWN_METHOD = -32601
export const INVALID_PARAMS = -32602
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022

/** A request that can't be served, as JSON-RPC and HTTP say it. */
export class RpcError extends Error {
  readonly code: number
  readonly status: number
  readonly data: object | undefined

  constructor (code: number, message: string, { status = 200, data }: { status?: number, data?: object } = {}) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

/** A request after the check. */
export interface RpcRequest {
  /** Absent in a notification. */
  id: string | number | undefined
  method: string
  params: Readonly<Record<string, unknown>>
  isModern: boolean
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

const mismatch = (name: string): RpcError =>
  new RpcError(HEADER_MISMATCH, `Header mismatch: ${name} is missing, or not what the body says`, { status: 400 })

/** A header of visible characters, or what its Base64 form stands for. */
function decoded (value: unknown): unknown {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(String(value)) ?? []
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString()
}

/** Reads a message. @throws RpcError */
export function readRequest (body: unknown, headers: Headers): RpcRequest {
  const { jsonrpc, id, method, params = {} } = Object(body)
  const isWhole = jsonrpc === '2.0' && typeof method === 'string' && typeof params === 'object' && params !== null &&
    (id === undefined || typeof id === 'string' || Number.isInteger(id))
  if (!isWhole) throw new RpcError(INVALID_REQUEST, 'Not one JSON-RPC request', { status: 400 })
  const told = Object(params._meta)[VERSION_OF]
  const header = headers['mcp-protocol-version']
  const requested = told ?? header
  if (requested !== undefined && requested !== MODERN && !LEGACY.includes(String(requested))) {
    const data = { supported: [MODERN, ...LEGACY], requested }
    throw new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', { status: 400, data })
  }
  const isModern = requested === MODERN
  if (isModern && id !== undefined) {
    if (told !== MODERN || header !== MODERN) throw mismatch('MCP-Protocol-Version')
    if (headers['mcp-method'] !== method) throw mismatch('Mcp-Method')
    if (method === 'tools/call' && decoded(headers['mcp-name']) !== params.name) throw mismatch('Mcp-Name')
  }
  return { id, method, params, isModern }
}

/** The answer to what every version of the protocol begins with; null: it is another method. */
export function greeting ({ method, params }: RpcRequest, instructions: string): object | null {
  const capabilities = { tools: {} }
  const serverInfo = { name: 'fastify-users', version: '1' }
  if (method === 'ping') return {}
  if (method === 'initialize') {
    const asked = LEGACY.find((version) => version === params['protocolVersion'])
    return { protocolVersion: asked ?? LEGACY[0], capabilities, serverInfo, instructions }
  }
  if (method !== 'server/discover') return null
  const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo }
  return { supportedVersions: [MODERN, ...LEGACY], capabilities, instructions, _meta, ...FRESH }
}

/** How long a client may keep an answer: scopes of keys and a mount change seldom. */
export const FRESH = { ttlMs: 60_000, cacheScope: 'private' }

/** The message of a result. */
export const resultOf = ({ id }: RpcRequest, result: object) =>
  ({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } })

/** The message of an error. */
export const errorOf = (id: unknown, { code, message, data }: RpcError) => ({
  jsonrpc: '2.0', ...id !== undefined && { id }, error: { code, message, ...data !== undefined && { data } }
})
