import type { FastifyRequest } from 'fastify'
import type { Caller } from '../api-keys/authenticator.ts'
import type { Scope } from '../api-keys/scopes.ts'
import type { Context } from '../core/context.ts'

/** Where a request of our scope keeps its caller. A symbol can't collide with a decorator of the host's. */
export const CALLER: unique symbol = Symbol('fastify-users.caller')

declare module 'fastify' {
  interface FastifyRequest {
    [CALLER]?: Caller | null
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

/** The context of the changes that a request makes. */
export function contextOf (request: FastifyRequest): Context {
  const principal = request[CALLER]?.principal
  return { actor: principal === undefined ? null : { type: principal.type, id: principal.id }, requestId: request.id }
}

/** A name of the caller that no other caller has. */
export function callerKey (request: FastifyRequest): string {
  const { principal: { type, id } } = callerOf(request)
  return `${type}:${id}`
}
