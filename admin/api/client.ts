import { ClientError } from '../../client/error.ts'
import { createTransport, jsonOf, type Request, secondsOf, type Transport } from '../../client/transport.ts'
import type { Json } from './types.ts'

export { bytesOf, linesIn, linesOf } from '../../client/streams.ts'
export { wait } from '../../client/transport.ts'

export interface RequestOptions extends Pick<Request, 'signal' | 'headers' | 'content'> {
  /** Sent as JSON; as a merge patch with PATCH. */
  body?: Json
  /** Waits and asks again while the server says that it is too busy. For work on many users. */
  isPatient?: boolean
  /** Asks for all tenants, whichever the page is narrowed to. */
  isOfAll?: boolean
}

export interface Answer<Body> {
  body: Body
  etag: string | null
  /** Seconds until the server wants to be asked again, such as for what it has refused of a batch. */
  retryAfter: number | null
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** Sends requests to the API with the key of the person who is signed in. Every method throws ClientError. */
export interface Client {
  get: <Body>(path: string, options?: RequestOptions) => Promise<Answer<Body>>
  send: <Body>(method: Method, path: string, options?: RequestOptions) => Promise<Answer<Body>>
  /** An answer whose body is read as it comes. */
  open: (method: Method, path: string, options?: RequestOptions) => Promise<Response>
  transport: Transport
}

/** How often work on many users asks again, and how many seconds it waits at most. */
export const PATIENCE = 5
export const LONGEST_WAIT = 120

interface ClientOptions {
  /** The path of the API, relative to the page. */
  base: string
  /** Gives what is sent as Bearer token. */
  token: () => string
  /** The tenant that requests are narrowed to, or null. */
  tenant: () => string | null
  /** Called for each answer 401. */
  onUnauthorized: () => void
}

export function createClient ({ base, token, tenant, onUnauthorized }: ClientOptions): Client {
  const inner = createTransport({
    baseUrl: base, key: token, fetch: (url, init) => fetch(url, { ...init, cache: 'no-store' })
  })
  const transport: Transport = (sent, read) =>
    inner({ ...sent, query: { tenant: tenant() ?? undefined, ...sent.query } }, read).catch((error: unknown) => {
      if (error instanceof ClientError && error.statusCode === 401) onUnauthorized()
      throw error
    })

  function request<Value> (
    method: Method, path: string, { isPatient = false, isOfAll = false, ...sent }: RequestOptions = {},
    read: (response: Response) => Value | Promise<Value>
  ): Promise<Value> {
    const [seconds, triesMax] = isPatient ? [LONGEST_WAIT, PATIENCE] : [Infinity, 1]
    const query = isOfAll ? { tenant: undefined } : {}
    return transport({ method, path, query, timeoutMs: seconds * 1000, triesMax, ...sent }, read)
  }

  function send<Body> (method: Method, path: string, options?: RequestOptions): Promise<Answer<Body>> {
    return request(method, path, options, async (response) => {
      const { headers } = response
      const body = await jsonOf(response) ?? {}
      return { body, etag: headers.get('etag'), retryAfter: secondsOf(headers.get('retry-after')) }
    })
  }

  return {
    get: (path, options) => send('GET', path, options),
    send,
    open: (method, path, options) => request(method, path, options, (response) => response),
    transport
  }
}
