import { createRequire } from 'node:module'
import type { FastifyRequest, FastifyServerOptions } from 'fastify'

/** True if the package for people's terminals is there: production goes without. */
function hasPretty (): boolean {
  try {
    return createRequire(import.meta.url).resolve('pino-pretty') !== ''
  } catch {
    return false
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
  return isTerminal && hasPretty()
    ? {
        level,
        serializers,
        transport: {
          target: 'pino-pretty',
          options: { destination: 2, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }
        }
      }
    : { level, serializers, stream: process.stderr }
}
