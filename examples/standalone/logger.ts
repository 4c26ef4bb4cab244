import { createRequire } from 'node:module'
import type { FastifyRequest, FastifyServerOptions } from 'fastify'

const require = createRequire(import.meta.url)

/**
 * Lines for people, written before the next thing is done: not by a thread, whose lines would come after what the
 * person is to see last. Undefined: production goes without the package.
 */
function prettyStream (): NodeJS.WritableStream | undefined {
  try {
    const pretty = require('pino-pretty')
    return pretty({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' })
  } catch {
    return undefined
  }
}

// What the log shows of a path that the service does not have. Anything else may be a key, an address or a name.
const SHOWN = new Set(['', 'v1', 'users', 'api-keys', 'groups', 'events', 'webhooks', 'admin', 'docs', 'favicon.ico'])
const PARTS_MAX = 6

/** The path of a request, without its query. */
function pathOf ({ url, is404 }: FastifyRequest): string {
  const path = url.replace(/\?.*/s, '')
  if (!is404) return path
  return path.split('/', PARTS_MAX).map((part) => SHOWN.has(part) ? part : '*').join('/')
}

/**
 * The service's logger. It writes to standard error, so that standard output carries nothing but where the service is
 * and its first key: lines for people on a terminal, JSON elsewhere. Query strings stay out of the log: `email` and `q`
 * are personal data.
 */
export function loggerOptions (
  level: string, isTerminal: boolean, stream: NodeJS.WritableStream = process.stderr
): NonNullable<FastifyServerOptions['logger']> {
  const serializers = {
    req: (request: FastifyRequest) => ({ method: request.method, path: pathOf(request), remoteAddress: request.ip })
  }
  return { level, serializers, stream: (isTerminal ? prettyStream() : undefined) ?? stream }
}
