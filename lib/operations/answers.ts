import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../api-keys/authenticator.ts'
import type { KeyOwner } from '../api-keys/key-owner.ts'
import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { type ListedPage, listMeta } from '../core/paging.ts'
import { emptyShape, JSON_TYPE } from '../http/body.ts'
import { callerOf, contextOf } from '../http/caller.ts'
import type { Call, ReadCall } from '../core/context.ts'
import { header } from '../http/header-fields.ts'
import { linksOf } from '../http/responses/links.ts'
import type { UserRecord } from '../storage/storage.ts'
import type { SentKey } from '../users/claims.ts'
import type { OperationCall } from './operation.ts'

/** Finds whose `Idempotency-Key` a caller sends. */
export type OwnerOf = (caller: Caller) => Promise<KeyOwner>

/** The `Idempotency-Key` of a request; null: it has none. Two lines are joined, which no valid key is. */
export function sentKeyOf (request: FastifyRequest, ownerOf: OwnerOf): SentKey | null {
  const key = header(request, 'idempotency-key')
  return key === undefined ? null : { key, ownerOf: () => ownerOf(callerOf(request)) }
}

/** Sends a user after a write, as much of it as the caller may read. */
export type SendUser = (call: OperationCall, user: UserRecord) => FastifyReply

/** Where a request comes from, for a service. */
export function serviceCallOf ({ request, faults, tenant }: OperationCall): Call {
  return { context: contextOf(request), priorFaults: faults, tenant }
}

/** The same of a request that only reads. */
export function readCallOf ({ faults, tenant }: OperationCall): ReadCall {
  return { priorFaults: faults, tenant }
}

/** @throws UsersError `validation_failed`, if there are faults */
export function requireNoFaults (faults: readonly Fault[]): void {
  if (faults.length > 0) throw validationFailed(faults)
}

/** The faults of content where there must be none. An empty object is none. */
export function contentFaults ({ body }: FastifyRequest): Fault[] {
  return body === undefined ? [] : emptyShape(body)
}

/** Refuses parameters, and content. @throws UsersError `validation_failed` */
export function requireBare ({ request, faults }: OperationCall): void {
  requireNoFaults([...faults, ...contentFaults(request)])
}

export function sendJson (reply: FastifyReply, body: object, status = 200): FastifyReply {
  return reply.code(status).type(JSON_TYPE).send(JSON.stringify(body))
}

/** Sends what was made, with its `Location`. */
export function sendCreated ({ reply, collection }: OperationCall, id: string, body: object): FastifyReply {
  return sendJson(reply.header('location', `${collection}/${id}`), body, 201)
}

/** Sends a page of a list, with its `Link`. `path`: that of the list. */
export function sendPage (
  { reply, pairs, collection }: OperationCall,
  page: ListedPage<{ id: string }>,
  { path = collection, text = JSON.stringify({ data: page.items, meta: listMeta(page) }) } = {}
): FastifyReply {
  const links = linksOf(path, pairs, page)
  if (links !== '') reply.header('link', links)
  return reply.type(JSON_TYPE).send(text)
}
