import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Caller, Refusal } from '../../api-keys/authenticator.ts'
import type { ApiKey, KeyEventType } from '../../api-keys/record.ts'
import type { Scope } from '../../api-keys/scopes.ts'
import type { CallerId, Context } from '../../core/context.ts'
import type { UsersError } from '../../core/errors.ts'
import { contextOf } from '../caller.ts'

const WINDOW_MS = 60_000
const LINES_PER_WINDOW = 20

/** The log of what happens to API keys: ids and reasons, never a key's text, a digest, an address or a name. */
export interface SecurityLog {
  /** A key was created, rotated or revoked. */
  changed (event: KeyEventType, key: ApiKey, context: Context): void
  /** A key was refused. */
  refused (request: FastifyRequest, refusal: Refusal): void
  /** A valid key lacks the scope. */
  denied (request: FastifyRequest, caller: Caller, scope: Scope): void
  /** An error of ours is answered: rate limits, and keys that tried to give more than they have, are logged. */
  answered (error: UsersError, request: FastifyRequest): void
  /** Logs what the open windows have counted. */
  close (): void
}

/** Who somebody is, without the name: people may be called by theirs. */
function idOf (caller: CallerId | null): CallerId | null {
  return caller === null ? null : { type: caller.type, id: caller.id }
}

interface Window { lines: number, dropped: number, timer: NodeJS.Timeout }

/** Limits lines to 20 in a window for each reason; one more line at its end counts the others. */
function createLineLimit (log: FastifyBaseLogger, windowMs: number) {
  const windows = new Map<string, Window>()

  function end (reason: string, { dropped, timer }: Window): void {
    windows.delete(reason)
    clearTimeout(timer)
    if (dropped > 0) log.warn({ reason, more: dropped }, 'more requests were refused for the same reason')
  }

  function open (reason: string): Window {
    const timer = setTimeout(() => end(reason, window), windowMs).unref()
    const window: Window = { lines: 0, dropped: 0, timer }
    windows.set(reason, window)
    return window
  }

  return {
    write (reason: string, line: () => void): void {
      const window = windows.get(reason) ?? open(reason)
      if (window.lines === LINES_PER_WINDOW) {
        window.dropped++
        return
      }
      window.lines++
      line()
    },
    close (): void {
      for (const [reason, window] of [...windows]) end(reason, window)
    }
  }
}

/** Makes the log. Lines that a stranger can cause are limited. `windowMs`: another window than a minute, for tests. */
export function createSecurityLog (log: FastifyBaseLogger, windowMs = WINDOW_MS): SecurityLog {
  const limit = createLineLimit(log, windowMs)
  return {
    changed (event, { id, start, rotatedFrom }, { actor, requestId }) {
      const fields = {
        event,
        keyId: id,
        start,
        ...(rotatedFrom !== undefined && { rotatedFrom }),
        actor: idOf(actor),
        ...(requestId !== null && { reqId: requestId })
      }
      log.info(fields, 'an API key was changed')
    },
    refused (request, { reason, keyId, start }) {
      const fields = {
        event: 'api_key.refused',
        reason,
        ...(keyId !== null && { keyId }),
        ...(start !== null && { start })
      }
      limit.write(reason, () => request.log.warn(fields, 'an API key was refused'))
    },
    denied (request, { principal }, scope) {
      const fields = { event: 'api_key.scope_denied', actor: idOf(principal), scope }
      limit.write('scope', () => request.log.warn(fields, 'an API key lacks the scope of a request'))
    },
    answered ({ code, errors }, request) {
      const actor = idOf(contextOf(request).actor)
      if (code === 'rate_limited') {
        const fields = { event: 'api_key.rate_limited', actor }
        limit.write(fields.event, () => request.log.warn(fields, 'a rate limit was exceeded'))
      } else if (code === 'insufficient_scope' && errors !== undefined) {
        // A scope that the route requires is logged by `denied`.
        const fields = { event: 'api_key.grant_denied', actor }
        limit.write(fields.event, () => request.log.warn(fields, 'an API key tried to give or revoke more than it has'))
      }
    },
    close: limit.close
  }
}
