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

/**
 * The service's logger. It writes to standard error, so that standard output carries nothing but where the service is
 * and its first key: lines for people on a terminal, JSON elsewhere. Query strings stay out of the log: `email` and `q`
 * are personal data.
 */
export function loggerOptions (level: string, isTerminal: boolean): NonNullable<FastifyServerOptions['logger']> {
  const serializers = {
    req: ({ method, url, ip }: FastifyRequest) => ({ method, path: url.replace(/\?.*/, ''), remoteAddress: ip })
  }
  return { level, serializers, stream: (isTerminal ? prettyStream() : undefined) ?? process.stderr }
}
