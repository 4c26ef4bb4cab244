import { ClientError, errorOf } from './error.ts'

/** What holds for each call. */
export interface CallOptions {
  signal?: AbortSignal
  /** Milliseconds that a call may take with all its attempts; a stream, until it begins. Default: 30,000. */
  timeoutMs?: number
  /** How often a call is sent at most. Default: as often as the time allows. */
  triesMax?: number
}

/** Where and how requests are sent. */
export interface ClientOptions extends CallOptions {
  /** The address of the API with its prefix, such as `https://example.org/v1`; in a browser it may be relative. */
  baseUrl: string | URL
  /** The API key, or what gives it for each attempt. */
  key: string | (() => string | Promise<string>)
  /** Sends a request. Default: the global one. */
  fetch?: typeof globalThis.fetch
  /** The tenant that all calls are narrowed to. */
  tenant?: string
  /** How many users `iterate()` asks for in one request. Default: as many as the API gives. */
  pageSize?: number
  /** `events.after()` reads a page each so many milliseconds, where something cuts streams. Default: a stream. */
  pollMs?: number
}

/** A request of an operation. */
export interface Request extends CallOptions {
  /** Members that are undefined are left out, and lists are joined by commas. */
  query?: object
  /** Sent as JSON; as a merge patch with PATCH. */
  body?: unknown
  /** Sent as it is, instead of a body. */
  content?: Blob | ReadableStream<Uint8Array>
  headers?: Readonly<Record<string, string | undefined>>
  /** True if sending it twice does no harm. Default: for reads, and with an idempotency key. */
  isRepeatable?: boolean
}

/** A request with its method, and its path below the prefix, with a query or without. */
export interface Sent extends Request { method: string, path: string }

/** Sends a request, again if need be, and reads the answer, which is a success. @throws ClientError */
export type Transport = <Value>(sent: Sent, read: (response: Response) => Value | Promise<Value>) => Promise<Value>

const BUSY: readonly number[] = [429, 502, 503, 504]
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 10_000

/** The seconds of a `Retry-After`; null: it has none. */
export function secondsOf (text: string | null): number | null {
  const seconds = text === null || /^\d+$/.test(text) ? Number(text ?? NaN) : (Date.parse(text) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null
}

/** Waits. @throws the reason of the signal */
export async function wait (ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
  signal?.throwIfAborted()
}

/** How long to wait before the attempt after `tries` others: what the server says, or ever longer. */
export function backoff (tries: number, { retryAfter }: ClientError): number {
  const usual = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries)
  return retryAfter === null ? usual * (1 + Math.random()) / 2 : Math.max(retryAfter * 1000, FIRST_WAIT_MS)
}

function queryOf (query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
}

/** What a text in JSON says. @throws ClientError `unreadable`, with the text as its cause */
export function parsed (text: string, status: number) {
  try {
    return JSON.parse(text)
  } catch {
    throw new ClientError('unreadable', status, text)
  }
}

/** The JSON of an answer; undefined if it has none. @throws ClientError `network`, `unreadable` */
export async function jsonOf (response: Response) {
  const text = await response.text().catch((cause: unknown) => { throw new ClientError('network', 0, cause) })
  return text === '' ? undefined : parsed(text, response.status)
}

/** Whether an attempt that failed may be followed by another. */
function mayRepeat ({ code, statusCode }: ClientError, { method, headers, isRepeatable }: Sent): boolean {
  // These were refused before anything was done.
  if (statusCode === 429 || code === 'idempotency_in_progress') return true
  const isSafe = isRepeatable ?? (method === 'GET' || headers?.['idempotency-key'] !== undefined)
  return isSafe && (code === 'network' || BUSY.includes(statusCode))
}

export function createTransport (options: ClientOptions): Transport {
  const { baseUrl, key, fetch: send = globalThis.fetch, tenant } = options
  if (baseUrl === undefined) throw new TypeError('fastify-users/client: baseUrl must be the address of the API')
  const base = String(baseUrl).replace(/\/+$/, '')

  async function attempt (
    { method, path, query, body, content, headers: given }: Sent, signal: AbortSignal
  ): Promise<Response> {
    const token = typeof key === 'string' ? key : await key()
    // No header can hold it, and no key has such characters: fetch would say that the connection failed.
    if (!/^[\x20-\x7e]*$/.test(token)) throw new ClientError('invalid_api_key', 401)
    const headers = new Headers({ authorization: `Bearer ${token}` })
    if (body !== undefined) headers.set('content-type', `application/${method === 'PATCH' ? 'merge-patch+' : ''}json`)
    for (const [name, value] of Object.entries({ ...given })) if (value !== undefined) headers.set(name, value)
    const sent = content ?? (body === undefined ? null : JSON.stringify(body))
    const asked = queryOf({ tenant, ...query })
    const response = await send(`${base}${path}${asked === '' ? '' : path.includes('?') ? '&' : '?'}${asked}`, {
      // A redirection would take the key elsewhere.
      method, headers, body: sent, signal, redirect: 'manual', ...sent instanceof ReadableStream && { duplex: 'half' }
    }).catch((cause: unknown) => { throw new ClientError('network', 0, cause) })
    if (response.ok) return response
    const refused = await jsonOf(response).catch((error: unknown) => {
      if (error instanceof ClientError && error.code === 'unreadable') return error.cause
      throw error
    })
    throw errorOf(response.status, refused, secondsOf(response.headers.get('retry-after')))
  }

  return async (sent, read) => {
    const { signal, timeoutMs = 30_000, triesMax = Infinity } = { ...options, ...sent }
    signal?.throwIfAborted()
    const controller = new AbortController()
    const abort = (): void => controller.abort(signal?.reason)
    signal?.addEventListener('abort', abort)
    const end = Date.now() + timeoutMs
    const timer = timeoutMs === Infinity
      ? undefined
      : setTimeout(() => controller.abort(new ClientError('timeout')), timeoutMs)
    try {
      for (let tries = 0; ; tries++) {
        try {
          return await read(await attempt(sent, controller.signal))
        } catch (error) {
          controller.signal.throwIfAborted()
          if (!(error instanceof ClientError) || !mayRepeat(error, sent)) throw error
          const ms = backoff(tries, error)
          if (tries + 1 >= triesMax || Date.now() + ms > end) throw error
          await wait(ms, controller.signal)
        }
      }
    } finally {
      signal?.removeEventListener('abort', abort)
      clearTimeout(timer)
    }
  }
}
