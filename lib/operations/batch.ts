import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../api-keys/authenticator.ts'
import type { KeyOwner } from '../api-keys/key-owner.ts'
import type { Scope } from '../api-keys/scopes.ts'
import { UsersError } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isObject } from '../core/json.ts'
import { BATCH_BODY_MAX, BODY_MAX } from '../core/limits.ts'
import { partProblem } from '../core/problem.ts'
import { requireScopes } from '../http/admission/authentication.ts'
import { JSON_TYPE } from '../http/body.ts'
import { callerOf, hasScope } from '../http/caller.ts'
import { entityTag, parseVersions } from '../http/responses/conditional.ts'
import { header } from '../http/header-fields.ts'
import type { RateLimits } from '../http/limits/rate-limits.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import type { BatchCall, OperationResult, WriteBatch } from '../users/batch.ts'
import type { BatchOperation } from '../users/batch-shape.ts'
import type { Presenter } from '../users/presenter.ts'
import { serviceCallOf } from './answers.ts'
import type { Operation } from './operation.ts'

export interface BatchOperationOptions {
  /** Finds the owner of the `Idempotency-Key` that a caller sends. */
  ownerOf: (caller: Caller) => Promise<KeyOwner>
  rateLimits: RateLimits | null
  securityLog: SecurityLog
}

const SCOPES: Record<BatchOperation['op'], Scope> = {
  create: 'users:write', update: 'users:write', restore: 'users:delete', delete: 'users:delete', purge: 'users:delete'
}

/** Converts the entity tags of the operations to versions, which the service expects. */
function withVersions (body: unknown, faults: Fault[]): unknown {
  if (!isObject(body) || !Array.isArray(body['operations'])) return body
  const operations = body['operations'].map((operation: unknown, i) => {
    if (!isObject(operation) || operation['ifMatch'] === undefined) return operation
    const { ifMatch, ...others } = operation
    const versions = typeof ifMatch === 'string' ? parseVersions(ifMatch, false) : null
    if (versions !== null) return { ...others, ifMatch: versions }
    const pointer = `/operations/${i}/ifMatch`
    faults.push({ pointer, code: 'format', detail: 'must be * or a list of entity tags' })
    return others
  })
  return { ...body, operations }
}

/** Refuses a body that would be too large for a request of its own. @throws UsersError `body_too_large` */
function requireSmall (body: unknown): void {
  let size = Infinity
  try {
    size = Buffer.byteLength(JSON.stringify(body))
  } catch {
    // Nested too deeply to be serialised.
  }
  if (size <= BODY_MAX) return
  throw new UsersError('body_too_large', { detail: `The body of an operation is larger than ${BODY_MAX / 1024} KiB.` })
}

/** Returns the check that each operation must pass, as a request of its own would before its body is read. */
function admission (
  request: FastifyRequest,
  reply: FastifyReply,
  { rateLimits, securityLog }: Pick<BatchOperationOptions, 'rateLimits' | 'securityLog'>
): NonNullable<BatchCall['admit']> {
  // The request itself was already counted for the first operation.
  let isCounted = true
  // A scope that is refused many times is logged once.
  const logged = new Set<Scope>()
  const denied: SecurityLog['denied'] = (of, caller, scope) => {
    if (!logged.has(scope)) securityLog.denied(of, caller, scope)
    logged.add(scope)
  }
  return async (operation) => {
    const { op } = operation
    if (!isCounted) await rateLimits?.countRequest(request, reply)
    isCounted = false
    requireScopes(request, callerOf(request), [SCOPES[op]], { denied })
    if (op === 'delete' || op === 'purge') await rateLimits?.countDeletion(request)
    if (op === 'create' || op === 'update') requireSmall(operation.body)
  }
}

/** The batch of operations on users. */
export function batchOperation (
  writeBatch: WriteBatch,
  { userJson, minimalJson }: Presenter,
  { ownerOf, rateLimits, securityLog }: BatchOperationOptions
): Operation {
  const textWith = (jsonOf: Presenter['userJson']) => ({ status, user, error }: OperationResult): string => {
    if (error !== null) return JSON.stringify({ status, body: partProblem(error) })
    if (user === null) return JSON.stringify({ status, body: null })
    return `{"status":${status},"etag":${JSON.stringify(entityTag(user.version))},"body":${jsonOf(user)}}`
  }

  return {
    tag: 'users',
    method: 'POST',
    path: '/users/batch',
    // Each operation needs its own scope.
    scope: null,
    operationId: 'writeUsers',
    summary: 'Create, update and delete users together',
    description: 'Runs the operations in order. Each gets the answer it would get alone, needs its scope, and counts ' +
      'towards the limits. No other request sees only some of them. With `atomic`, all succeed or none. An ' +
      '`Idempotency-Key` covers the whole batch. ' +
      `The body has at most ${BATCH_BODY_MAX / 1024} KiB.`,
    reads: ['Idempotency-Key'],
    body: { types: [JSON_TYPE], is: 'Batch' },
    bodyLimit: BATCH_BODY_MAX,
    success: {
      status: 200,
      description: 'The result of each operation.',
      is: 'BatchResults',
      headers: ['Idempotency-Replayed', 'Retry-After']
    },
    counted: 'deletions',
    codes: [
      'validation_failed', 'malformed_json', 'batch_failed', 'idempotency_in_progress', 'body_too_large',
      'unsupported_media_type', 'idempotency_key_reused'
    ],
    async handler (call) {
      const { request, reply, faults: priorFaults } = call
      const idempotencyKey = header(request, 'idempotency-key')
      const input = withVersions(request.body, priorFaults)
      const { results, replayed } = await writeBatch(input, idempotencyKey === undefined ? {} : { idempotencyKey }, {
        ...serviceCallOf(call),
        ownerOf: () => ownerOf(callerOf(request)),
        admit: admission(request, reply, { rateLimits, securityLog })
      })
      if (replayed) reply.header('idempotency-replayed', 'true')
      const rateLimited = results.find(({ error }) => error?.code === 'rate_limited')?.error ?? null
      // Log it once per batch, and not when its response is replayed.
      if (rateLimited !== null && !replayed) securityLog.answered(rateLimited, request)
      for (const { error } of results) {
        const seconds = error?.headers?.['retry-after']
        if (seconds !== undefined) reply.header('retry-after', seconds)
      }
      // A scope includes no other: a write must not be a way to read.
      const textOf = textWith(hasScope(request, 'users:read') ? userJson : minimalJson)
      return reply.type(JSON_TYPE).send(`{"data":[${results.map(textOf).join(',')}]}`)
    }
  }
}
