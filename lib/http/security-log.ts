import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Caller, Refusal } from '../api-keys/authenticator.ts'
import type { ApiKey } from '../api-keys/record.ts'
import type { Scope } from '../api-keys/scopes.ts'
import type { Context } from '../context.ts'
import type { UsersError } from '../errors.ts'
import type { KeyEventType } from '../events.ts'
import { contextOf } from './callers.ts'

const WINDOW_MS = 60_000
const LINES_IN_WINDOW = 20

/** What is logged for whoever watches over the keys: ids and reasons, never a text, a digest, an address or a name. */
export interface SecurityLog {
  /** A key was made, rotated or revoked. */
  changed (event: KeyEventType, key: ApiKey, context: Context): void
  /** A key was refused. */
  refused (request: FastifyRequest, refusal: Refusal): void
  /** A good key lacks the scope. */
  denied (request: FastifyRequest, caller: Caller, scope: Scope): void
  /** An error of ours is answered: the log tells of what a good key was not allowed, and of those who come too often. */
  answered (error: UsersError, request: FastifyRequest): void
  /** Says what is left to say. */
  close (): void
}

interface Window { lines: number, more: number, timer: NodeJS.Timeout }

/**
 * Makes the log. Lines that a stranger can cause come at a bounded rate: twenty a minute of each reason, then one that counts the others. `windowMs`: another minute, for tests.
 */
export function createSecurityLog (log: FastifyBaseLogger, windowMs = WINDOW_MS): SecurityLog {
  const windows = new Map<string, Window>()

  function end (reason: string, { more, timer }: Window): void {
    windows.delete(reason)
    clearTimeout(timer)
    if (more > 0) log.warn({ reason, more }, 'more requests were refused for the same reason')
  }

  function open (reason: string): Window {
    const window: Window = { lines: 0, more: 0, timer: setTimeout(() => end(reason, window), windowMs).unref() }
    windows.set(reason, window)
    return window
  }

  function bounded (reason: string, write: () => void): void {
    const window = windows.get(reason) ?? open(reason)
    if (window.lines === LINES_IN_WINDOW) {
      window.more++
      return
    }
    window.lines++
    write()
  }

  return {
    changed (event, { id, start, rotatedFrom }, { actor, requestId }) {
      log.info({ event, keyId: id, start, ...(rotatedFrom !== undefined && { rotatedFrom }), actor, ...(requestId !== null && { reqId: requestId }) }, 'an API key was changed')
    },
    refused (request, { reason, keyId, start }) {
      bounded(reason, () => request.log.warn({ event: 'api_key.refused', reason, ...(keyId !== null && { keyId }), ...(start !== null && { start }) }, 'an API key was refused'))
    },
    denied (request, { principal: { type, id } }, scope) {
      bounded('scope', () => request.log.warn({ event: 'api_key.scope_denied', actor: { type, id }, scope }, 'an API key lacks the scope of a request'))
    },
    answered ({ code, errors }, request) {
      // A scope that the route asks for is told where that is judged.
      if (code !== 'rate_limited' && (code !== 'insufficient_scope' || errors === undefined)) return
      const event = code === 'rate_limited' ? 'api_key.rate_limited' : 'api_key.grant_denied'
      bounded(event, () => request.log.warn({ event, actor: contextOf(request).actor }, code === 'rate_limited' ? 'a request came too often' : 'an API key may not give what was asked of it'))
    },
    close () {
      for (const [reason, window] of [...windows]) end(reason, window)
    }
  }
}
