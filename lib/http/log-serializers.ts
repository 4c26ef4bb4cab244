import type { FastifyBaseLogger, RegisterOptions } from 'fastify'
import { SERIALIZERS } from './fastify-internals.ts'

type Serializers = NonNullable<RegisterOptions['logSerializers']>

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const CREDENTIALS = /^(?:proxy-)?authorization$/i
const REDACTED = '[redacted]'
// How deep a serialiser may nest what it shows; what lies deeper is not shown.
const MOST_DEPTH = 6

/** A word without its query, if it is a path or a URL. */
function withoutQuery (word: string): string {
  const at = word.indexOf('?')
  return at > 0 && word.lastIndexOf('/', at) !== -1 ? word.slice(0, at) : word
}

/** What a serialiser shows, without credentials wherever they stand, and without the query of a URL, taken apart or not. */
export function cleaned (value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replace(/\bbearer\s+\S+/gi, `Bearer ${REDACTED}`).split(' ').map(withoutQuery).join(' ')
  if (!isObject(value)) return value
  if (depth === MOST_DEPTH) return REDACTED
  // Dates and the like are what they show as JSON.
  if (typeof value['toJSON'] === 'function') return cleaned(value['toJSON'](), depth + 1)
  if (Array.isArray(value)) return value.map((each) => cleaned(each, depth + 1))
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'query').map(([name, each]) => [name, CREDENTIALS.test(name) ? REDACTED : cleaned(each, depth + 1)]))
}

/**
 * The serialisers of our routes: the host's own, but of a request without the query of its URL and without its credentials. `email` and `q` are personal data,
 * and Fastify logs every request's URL. Loggers that know no serialisers are looked after by `guardLoggers`.
 */
export function withoutSecrets (log: FastifyBaseLogger, given: Serializers | undefined): Serializers {
  const { [SERIALIZERS]: known } = Object(log)
  const all: Serializers = { ...given }
  // A reply knows its request.
  for (const name of ['req', 'res']) {
    const serialize: unknown = given?.[name] ?? known?.[name]
    // Fastify's type of a serialiser wants text; pino takes any value, and hosts give objects.
    if (typeof serialize === 'function') all[name] = (value: unknown) => Object(cleaned(serialize(value))).valueOf()
  }
  return all
}
