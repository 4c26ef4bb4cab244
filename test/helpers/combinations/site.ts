// What a contract is asked of: a host that listens, its client, and a transcript of what was answered.
import type { FastifyInstance } from 'fastify'
import type { Exchange, Transport } from '../transports.ts'
import type { Answer, Client, Headers } from './client.ts'

/** What a step sends. An object is sent as JSON. */
export interface Sent {
  headers?: Headers
  body?: string | Buffer | object
  /** The text of another key; null: none. */
  key?: string | null
}

/** Sends a request and writes the answer down. `status`: what it must have. */
export type Step = (name: string, status: number, method: string, path: string, sent?: Sent) => Promise<Answer>

export interface Site {
  app: FastifyInstance
  step: Step
  /** Writes something else down. */
  note: (name: string, seen: unknown) => void
  /** Begins a request on a connection of its own. */
  open: (method: string, path: string, headers?: Headers) => Exchange
  /** Whether a hook of the host's reads a body to its end before we get any of it. */
  buffersBodies: boolean
}

/** What was seen at each step, in their order. */
export type Transcript = Map<string, unknown>

/** Answers that differ between connections or hosts of every kind. */
const OF_CONNECTIONS = ['connection', 'keep-alive', 'date', 'transfer-encoding', 'content-length']

/** Makes a function that replaces ids, times and keys in a text, each id by its number. */
function createNames (base: string): (text: string) => string {
  const ids = new Map<string, string>()
  const nameOf = (id: string): string => {
    const name = ids.get(id) ?? `${id.slice(0, 4)}${ids.size}`
    ids.set(id, name)
    return name
  }
  return (text) => (base === '' ? text : text.replaceAll(base, ''))
    .replaceAll(/\b(?:usr|key|evt)_[0-9a-z]{26}/g, nameOf)
    .replaceAll(/\buk_[0-9A-Za-z_]+/g, 'KEY')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"requestId":"[^"]*"/g, '"requestId":"R"')
    .replaceAll(',"lastUsedAt":"TIME"', '')
}

export interface SiteOptions {
  app: FastifyInstance
  client: Client
  transport: Transport
  port: number
  key: string
  base: string
  buffersBodies: boolean
}

// A proxy of the host's would send these, and a browser.
const OF_EVERY_REQUEST: Headers = {
  'x-forwarded-for': '192.0.2.7, 198.51.100.4',
  'x-forwarded-host': 'accounts.example',
  'x-forwarded-proto': 'https',
  'x-request-id': 'of-a-proxy',
  origin: 'https://app.example'
}

export function createSite (
  options: SiteOptions
): { site: Site, transcript: Transcript, cancelAll: () => void } {
  const { app, client, transport, port, key, base, buffersBodies } = options
  const transcript: Transcript = new Map()
  const named = createNames(base)
  const credentials = (own: string | null): Headers => own === null ? {} : { authorization: `Bearer ${own}` }

  const note: Site['note'] = (name, seen) => {
    if (transcript.has(name)) throw new Error(`two steps are named ${name}`)
    transcript.set(name, typeof seen === 'string' ? named(seen) : seen)
  }

  const step: Step = async (name, status, method, path, { headers = {}, body, key: own = key } = {}) => {
    const isJson = typeof body === 'object' && !Buffer.isBuffer(body)
    const all = {
      ...OF_EVERY_REQUEST,
      'accept-encoding': 'gzip',
      ...credentials(own),
      ...(isJson && { 'content-type': 'application/json' }),
      ...headers
    }
    const answer = await client.send(method, path, all, isJson ? JSON.stringify(body) : body)
    const seen = Object.entries(answer.headers).filter(([field]) => !OF_CONNECTIONS.includes(field))
    const fields = Object.fromEntries(seen.map(([field, value]) => [field, named(value)]))
    note(name, { due: status, status: answer.status, headers: fields, body: named(answer.body) })
    return answer
  }

  const exchanges: Exchange[] = []
  const open: Site['open'] = (method, path, headers = {}) => {
    const all = { ...OF_EVERY_REQUEST, ...credentials(key), ...headers }
    const exchange = transport.open({ port, method, path, headers: all })
    exchanges.push(exchange)
    return exchange
  }
  const cancelAll = (): void => { for (const exchange of exchanges) exchange.cancel() }
  return { site: { app, step, note, open, buffersBodies }, transcript, cancelAll }
}
