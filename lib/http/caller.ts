import type { FastifyRequest } from 'fastify'
import { clientAddress } from '../api-keys/addresses.ts'
import type { Caller } from '../api-keys/authenticator.ts'
import type { Scope } from '../api-keys/scopes.ts'
import type { Context } from '../core/context.ts'
import { memberOf } from './member-of.ts'

/** Where a request of our scope keeps its caller. A symbol can't collide with a decorator of the host's. */
export const CALLER: unique symbol = Symbol('fastify-users.caller')

/** Where it keeps what let it in: a server may have several mounts, with callers of their own. */
export const ADMITTED_BY: unique symbol = Symbol('fastify-users.admittedBy')

declare module 'fastify' {
  interface FastifyRequest {
    [CALLER]?: Caller | null
    [ADMITTED_BY]?: object | null
  }
}

/** The caller of a request that was authenticated. */
export function callerOf (request: FastifyRequest): Caller {
  const caller = request[CALLER]
  if (caller === undefined || caller === null) throw new Error('this request has lost its caller')
  return caller
}

/** True if the caller of a request has a scope. */
export function hasScope (request: FastifyRequest, scope: Scope): boolean {
  return callerOf(request).principal.scopes.includes(scope)
}

/** The id of a request, as text: a host's `genReqId` may return a number or a bigint, which Fastify keeps. */
export const requestIdOf = ({ id }: Pick<FastifyRequest, 'id'>): string => String(id)

/** The context of the changes that a request makes. */
export function contextOf (request: FastifyRequest): Context {
  const principal = request[CALLER]?.principal
  const requestId = requestIdOf(request)
  if (principal === undefined) return { actor: null, requestId }
  const { type, id, name } = principal
  return { actor: { type, id, name }, requestId }
}

/**
 * The address of a client, as the host's `trustProxy` has it, in its one form; `unknown` for what is no address. null:
 * there is none, as through a Unix socket.
 */
export function addressOf (request: FastifyRequest): string | null {
  const ip = memberOf(request, 'ip')
  return typeof ip === 'string' && ip !== '' ? clientAddress(ip) : null
}

/** Who has a share of what all callers have in common: a tenant with all its keys, since it may make any number. */
export function shareOf (request: FastifyRequest): string {
  const { tenant } = callerOf(request).principal
  return tenant === undefined ? callerKey(request) : `tenant:${tenant}`
}

/** A name of the caller that no other caller has: those of two tenants may have the same id. */
export function callerKey (request: FastifyRequest): string {
  const { principal: { type, id, tenant } } = callerOf(request)
  return tenant === undefined ? `${type}:${id}` : `${type}:${id}@${tenant}`
}
