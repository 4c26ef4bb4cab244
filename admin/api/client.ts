import { ApiError } from './error.ts'
import type { Json } from './types.ts'

export interface RequestOptions {
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
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

export interface Upload {
  file: Blob
  type: string
  signal: AbortSignal
  /** Called with each part of the answer. */
  onText: (part: string) => void
}

type Method = 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** Sends requests to the API with the key of the person who is signed in. */
export interface Client {
  get: <Body>(path: string, options?: RequestOptions) => Promise<Answer<Body>>
  send: <Body>(method: Method, path: string, options?: RequestOptions) => Promise<Answer<Body>>
  /** Sends a file as it is, and gives the text of the answer. */
  upload: (path: string, options: Upload) => Promise<string>
  /** The bytes of an answer, as they come. */
  stream: (path: string, options?: RequestOptions) => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>
}

/** How often work on many users asks again, and how many seconds it waits at most. */
export const PATIENCE = 5
export const LONGEST_WAIT = 120

function secondsOf (text: string | null): number | null {
  if (text === null) return null
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null
}

export function wait (seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    }, { once: true })
  })
}

async function readAnswer<Body> (response: Response): Promise<Answer<Body>> {
  const text = await response.text()
  try {
    const retryAfter = secondsOf(response.headers.get('retry-after'))
    return { body: text === '' ? Object({}) : JSON.parse(text), etag: response.headers.get('etag'), retryAfter }
  } catch {
    throw new ApiError(response.status, { code: 'unreadable' }, null)
  }
}

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

/** Every method of the client throws ApiError for an answer that is no success. */
export function createClient ({ base, token, tenant, onUnauthorized }: ClientOptions): Client {
  function urlOf (path: string, isOfAll: boolean): URL {
    const url = new URL(`${base}${path}`, document.baseURI)
    const narrowed = isOfAll ? null : tenant()
    if (narrowed !== null) url.searchParams.set('tenant', narrowed)
    return url
  }

  async function once (method: string, path: string, options: RequestOptions & Partial<Upload>): Promise<Response> {
    const { signal, headers, body, file, isOfAll = false } = options
    // A header can't hold it, and no key has such characters: the browser would report a failed connection.
    if (!/^[\x20-\x7e]*$/.test(token())) throw new ApiError(401, { code: 'invalid_api_key' }, null)
    const { type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' } = options
    const content = body === undefined ? file : JSON.stringify(body)
    let response: Response
    try {
      response = await fetch(urlOf(path, isOfAll), {
        method,
        cache: 'no-store',
        redirect: 'error',
        headers: {
          ...headers,
          authorization: `Bearer ${token()}`,
          ...(content !== undefined && { 'content-type': type })
        },
        ...(content !== undefined && { body: content }),
        ...(signal !== undefined && { signal })
      })
    } catch (error) {
      if (signal?.aborted === true) throw error
      throw new ApiError(0, undefined, null)
    }
    if (response.ok) return response
    const text = await response.text()
    let problem: Json | undefined
    try {
      problem = JSON.parse(text)
    } catch { /* Not ours: a proxy has answered. */ }
    const error = new ApiError(response.status, problem, secondsOf(response.headers.get('retry-after')))
    if (error.isUnauthorized) onUnauthorized()
    throw error
  }

  async function request (method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    for (let tries = 1; ; tries++) {
      try {
        return await once(method, path, options)
      } catch (error) {
        const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503)
        if (!isBusy || options.isPatient !== true || tries >= PATIENCE) throw error
        const seconds = error.retryAfter ?? tries
        if (seconds > LONGEST_WAIT) throw error
        await wait(Math.max(1, seconds), options.signal)
      }
    }
  }

  return {
    get: async (path, options) => readAnswer(await request('GET', path, options)),
    send: async (method, path, options) => readAnswer(await request(method, path, options)),
    async upload (path, options) {
      const { body } = await once('POST', path, options)
      const reader = (body ?? new ReadableStream<Uint8Array>()).getReader()
      const decoder = new TextDecoder()
      let text = ''
      try {
        for (;;) {
          const { done, value } = await reader.read()
          const part = decoder.decode(value, { stream: !done })
          text += part
          options.onText(part)
          if (done) return text
        }
      } catch (error) {
        // The connection may break while the answer comes.
        throw options.signal.aborted ? error : new ApiError(0, undefined, null)
      }
    },
    stream: async (path, options) => (await request('GET', path, options)).body ?? new ReadableStream()
  }
}
