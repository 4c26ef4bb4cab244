import type { FastifyRequest } from 'fastify'
import type { Caller } from '../api-keys/authenticator.ts'
import type { Context } from '../context.ts'

const callers = new WeakMap<FastifyRequest, Caller>()

/** Notes who sent a request. */
export function setCaller (request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller)
}

/** Who sent a request, once that is known. */
export function callerOf (request: FastifyRequest): Caller | undefined {
  return callers.get(request)
}

/** The context of the changes that a request makes. */
export function contextOf (request: FastifyRequest): Context {
  const principal = callers.get(request)?.principal
  return { actor: principal === undefined ? null : { type: principal.type, id: principal.id }, requestId: request.id }
}
