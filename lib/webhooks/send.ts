import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { BUSY } from './resolve.ts'
import { NOT_ALLOWED, type Target, type Targets } from './targets.ts'

/** Milliseconds of an attempt, from the resolution of the name to the end of the answer. */
export const ATTEMPT_MS = 15_000
// Bytes of an answer's body that are read, so that the receiver can end it, and those that are kept.
const ANSWER_MAX = 64 * 1024
const KEPT_MAX = 1024
const HEADERS_MAX = 16 * 1024

/** The error of an attempt that others kept from beginning: it says nothing about the receiver. */
export const NOT_TRIED = 'busy'

/** What came of one attempt. */
export interface Answer {
  /** The status; null: there was no answer. */
  status: number | null
  /** A word for what went wrong without a status; null: nothing. */
  error: string | null
  milliseconds: number
  /** `Retry-After` as it came. */
  retryAfter: string | null
  /** How the body begins, as people can read it. Absent: it is empty. */
  response?: string
}

export interface Message {
  url: string
  /** Whose turn it takes when its name is resolved. */
  caller: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** Sends one attempt; it does not throw. An aborted signal ends it. */
export type Send = (message: Message, signal: AbortSignal) => Promise<Answer>

const WORDS: ReadonlyArray<readonly [RegExp, string]> = [
  [new RegExp(`^${NOT_ALLOWED}$`), 'url_not_allowed'],
  [new RegExp(`^${BUSY}$`), NOT_TRIED],
  [/^(?:ENOTFOUND|EAI_\w+|ENODATA)$/, 'dns'],
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/, 'unreachable'],
  [/^(?:ECONNRESET|EPIPE)$/, 'connection_closed'],
  [/^(?:EPROTO|ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/, 'tls'],
  [/^HPE_/, 'no_http']
]

function wordFor (error: unknown): string {
  const code = String(Object(error).code)
  return WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'network'
}

/** True for the address of a URL, which has brackets if it is one of IPv6. */
function isAddress (hostname: string): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0
}

/** Reads an answer to its end, or its first part, and returns how it begins. */
function readBeginning (response: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve) => {
    const kept: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      if (bytes < KEPT_MAX) kept.push(chunk.subarray(0, KEPT_MAX - bytes))
      bytes += chunk.length
      if (bytes > ANSWER_MAX) response.destroy()
    })
    response.on('error', () => {})
    response.on('close', () => resolve(Buffer.concat(kept)))
  })
}

/**
 * The beginning of a body as one line of text: without control and format characters, which could change how the rest
 * is shown, and without half a character at its end.
 */
function readable (body: Buffer): string {
  return new TextDecoder().decode(body, { stream: true }).replace(/[\p{C}\s]+/gu, ' ').trim()
}

/** Makes the function that sends attempts: to checked addresses alone, and without following redirects. */
export function createSend ({ open }: Targets, attemptMs = ATTEMPT_MS): Send {
  function exchange (
    { url, lookup }: Target, { headers, body }: Message, signal: AbortSignal
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        lookup,
        signal,
        // A connection of its own: each attempt judges the addresses again.
        agent: false,
        maxHeaderSize: HEADERS_MAX
      } as const
      // The name for TLS has no trailing dot (RFC 6066 section 3), and an address is no name.
      const servername = url.hostname.replace(/\.$/, '')
      const request = url.protocol === 'https:'
        ? httpsRequest(url, { ...options, ...(!isAddress(servername) && { servername }) })
        : httpRequest(url, options)
      request.on('response', (response) => {
        // Node.js takes any three digits, and RFC 9110 section 15 has none below.
        if (Number(response.statusCode) >= 100) return resolve(response)
        response.destroy()
        reject(Object.assign(new Error('no status of HTTP'), { code: 'HPE_INVALID_STATUS' }))
      }).on('error', reject)
      // Without a listener Node.js closes an upgraded connection without a word, and an abort does nothing any more.
      request.on('upgrade', (_response, socket) => {
        socket.destroy()
        reject(Object.assign(new Error('no answer of HTTP'), { code: 'HPE_UPGRADE' }))
      })
      // In any other case that ends without an answer; after one it changes nothing.
      request.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
      request.end(body)
    })
  }

  return async (message, signal) => {
    const start = performance.now()
    const answer = (
      status: number | null, error: string | null, retryAfter: string | null = null, response = ''
    ): Answer => ({
      status,
      error,
      milliseconds: Math.round(performance.now() - start),
      retryAfter,
      ...(response !== '' && { response })
    })
    if (signal.aborted) return answer(null, 'closed')
    const target = open(message.url, message.caller)
    if (target === null) return answer(null, 'url_not_allowed')
    // Not AbortSignal.any(): on Node.js 20 each leaves something behind in a signal that lives as long as the server.
    const ending = new AbortController()
    const end = (): void => ending.abort()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      end()
    }, attemptMs)
    signal.addEventListener('abort', end)
    try {
      const response = await exchange(target, message, ending.signal)
      const body = readable(await readBeginning(response))
      return answer(response.statusCode ?? null, null, response.headers['retry-after'] ?? null, body)
    } catch (error) {
      if (isLate) return answer(null, 'timeout')
      return answer(null, signal.aborted ? 'closed' : wordFor(error))
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    }
  }
}
