import type { FastifyBaseLogger, RegisterOptions } from 'fastify'
import { SERIALIZERS } from '../fastify-internals.ts'
import { type MaskedPath, maskedPath, NOTHING_MASKED, withoutMasked } from './masked-path.ts'

export type Serializers = NonNullable<RegisterOptions['logSerializers']>

/** True for an object or a list. */
export const isObjectOrList = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const CREDENTIALS = /^(?:proxy-)?authorization$/i
const REDACTED = '[redacted]'
// In place of what a serialiser of the host's could not read.
const UNREADABLE = '[unreadable]'
// Deeper values are not shown.
const DEPTH_MAX = 6

// A slash that begins a path, and not the second half of a media type.
const PATH = /(?<![\w.+-])\//

/** A path or URL without its query, which a host's router may let begin with `;`; any other word as it is. */
function withoutQuery (word: string): string {
  const at = word.search(PATH.test(word) ? /[?;]/ : /\?/)
  return at > 0 && word.lastIndexOf('/', at) !== -1 ? word.slice(0, at) : word
}

/**
 * A serialiser's output without credentials, wherever they are, without the query of a URL, parsed or not, and without
 * the masked parts of its path.
 */
export function redacted (value: unknown, masked: MaskedPath = NOTHING_MASKED, depth = 0): unknown {
  if (typeof value === 'string') {
    const text = value.replace(/\bbearer\s+\S+/gi, `Bearer ${REDACTED}`).split(' ').map(withoutQuery).join(' ')
    return withoutMasked(text, masked)
  }
  if (!isObjectOrList(value)) return value
  if (depth === DEPTH_MAX) return REDACTED
  // Dates and the like are logged as their JSON.
  if (typeof value['toJSON'] === 'function') return redacted(value['toJSON'](), masked, depth + 1)
  if (Array.isArray(value)) return value.map((each) => redacted(each, masked, depth + 1))
  const members = Object.entries(value).filter(([name]) => name !== 'query')
  return Object.fromEntries(members.map(([name, member]) =>
    [name, CREDENTIALS.test(name) ? REDACTED : redacted(member, masked, depth + 1)]))
}

/**
 * The serialisers of our routes: the host's own, but for a request without its credentials, the query of its URL, and
 * what stands in its path where an id is due. All of them can be personal data or secrets, and Fastify logs the URL of
 * every request. Loggers without serialisers: `guardLoggers`.
 */
export function redactingSerializers (log: FastifyBaseLogger, given: Serializers | undefined): Serializers {
  const { [SERIALIZERS]: known } = Object(log)
  const all: Serializers = { ...given }
  // A reply has its request.
  for (const name of ['req', 'res']) {
    const serialize: unknown = given?.[name] ?? known?.[name]
    // Fastify's type wants text; pino takes any value, and hosts return objects.
    if (typeof serialize !== 'function') continue
    const requestOf = (value: unknown): unknown => name === 'req' ? value : Object(value).request
    all[name] = (value: unknown) => {
      try {
        return Object(redacted(serialize(value), maskedPath(requestOf(value)))).valueOf()
      } catch {
        // Fastify logs when a response has ended, where an error would end the process.
        return UNREADABLE
      }
    }
  }
  return all
}
