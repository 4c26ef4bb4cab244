import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import type { Fault } from '../errors.ts'
import type { FilterKind } from '../fields/schema.ts'
import { type Describe, hide } from '../openapi/describe.ts'
import { type Limits, unknownParameters } from '../paging.ts'
import { toUsersError } from '../storage-errors.ts'
import type { Gate } from './gate.ts'
import { decimal, type ParsedQuery, parseQuery, queryOf, typed } from './query.ts'

export const JSON_TYPE = 'application/json'
const NO_FILTERS: ReadonlyMap<string, FilterKind> = new Map()

/** What our routes have to know of the host's router, what lets their work through, and what describes them. */
export interface RouteSettings {
  useSemicolonDelimiter: boolean
  gate: Gate
  limits: Limits
  describe: Describe
}

export type Handler = (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => Promise<FastifyReply>

/** Makes handlers ours: they pass the gate, and throw UsersError alone, so that the error handler can tell our errors from the host's. */
export const handlersBehind = (gate: Gate) => (handler: Handler): Handler => {
  return async (request, reply) => {
    try {
      return await gate(() => handler(request, reply))
    } catch (error) {
      throw toUsersError(error)
    }
  }
}

/** Routes GET, and HEAD by the same handler: Fastify's own gives a 304 a Content-Length of 0 (RFC 9110 section 8.6). Descriptions tell of HEAD in words. */
export function routeReads (scope: FastifyInstance, url: string, needs: Scope, description: ReturnType<Describe>, handler: Handler): void {
  const fastifyUsers = { scope: needs, accepts: [] }
  scope.route({ method: 'GET', url, exposeHeadRoute: false, config: { fastifyUsers, ...description }, handler })
  scope.route({ method: 'HEAD', url, config: { fastifyUsers, ...hide }, handler })
}

/** The faults of the query of a request that has no parameters. */
export function strayParameters ({ pairs, faults }: ParsedQuery): Fault[] {
  return [...faults, ...unknownParameters(pairs.map(([parameter]) => parameter))]
}

/** The parameters of a list, as the services take them: numbers as such, and what filters compare by its kind. */
export function listParameters ({ pairs }: ParsedQuery, filters: ReadonlyMap<string, FilterKind> = NO_FILTERS): Record<string, unknown> {
  return Object.fromEntries(pairs.map(([name, value]) => [name, name === 'page' || name === 'limit' ? decimal(value) : typed(value, filters.get(name))]))
}

/** The query of a request, taken apart. */
export function queryFrom (request: FastifyRequest, { useSemicolonDelimiter }: Pick<RouteSettings, 'useSemicolonDelimiter'>): ParsedQuery {
  return parseQuery(queryOf(request.url, useSemicolonDelimiter))
}

/**
 * Tells the path of a collection of the scope, such as `/v1/users`. Under a prefix with parameters it is taken from the path that was asked for, which goes on for
 * `below` segments, made a path of RFC 3986 again: what no path may hold is escaped, and slashes are single, since a leading `//` (or `/\\`, to a browser) would
 * name a host.
 */
export function pathsOf (scope: FastifyInstance, name: string, { useSemicolonDelimiter }: Pick<RouteSettings, 'useSemicolonDelimiter'>): (request: FastifyRequest, below?: number) => string {
  const collection = `${scope.prefix}/${name}`
  if (!/[:*]/.test(scope.prefix)) return () => collection
  return (request, below = 0) => {
    const path = request.url.replace(useSemicolonDelimiter ? /[?;].*/ : /\?.*/, '')
    const whole = path.toWellFormed().replace(/[^A-Za-z0-9._~!$&'()*+,;=:@/%-]/gu, encodeURIComponent).replace(/\/{2,}/g, '/').replace(/\/$/, '')
    return below === 0 ? whole : whole.split('/').slice(0, -below).join('/')
  }
}
