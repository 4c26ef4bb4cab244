import type { FastifyInstance, FastifyServerOptions } from 'fastify'

/** A line that a host's logger was given. */
export interface Logged {
  level: string
  text: string
}

/** How a host is made in one of its respects. */
export interface Level {
  /** Options of its server; `log` takes what its logger was given. */
  server?: (log: (line: Logged) => void) => object
  /** Where everything is mounted. */
  base?: string
  /** Settings that are made before every route. */
  prepare?: (app: FastifyInstance) => void | Promise<void>
  /** Plugins and hooks, which the factor `order` has before or after ours. */
  plug?: (app: FastifyInstance) => unknown
  /** Headers that it adds to answers. */
  adds?: readonly string[]
  /** The steps of the contract that the host answers itself. */
  answers?: readonly string[]
  /** Lines that it has the host log. */
  logs?: RegExp
  /** Bodies come to us when all of them has come. */
  buffersBodies?: true
}

/** The levels of a setting that is made or not. */
export const onOff = (on: Level, off: Level = {}): Record<string, Level> => ({ off, on })

/** Options of a server; not all of them are in its type together. */
export function serverOptions (levels: readonly Level[], log: (line: Logged) => void): FastifyServerOptions {
  return Object.assign({}, ...levels.map(({ server }) => server?.(log) ?? {}))
}
