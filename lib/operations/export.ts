import type { FastifyRequest } from 'fastify'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import type { Breakables } from '../http/break-off.ts'
import type { ReadFor } from '../http/consistency.ts'
import { readingStream } from '../http/streams/paced-stream.ts'
import type { HoldPlace } from '../http/streams/stream-places.ts'
import { type ExportFormat, exportParameters, type OpenExport } from '../transfer/export.ts'
import type { Operation, OperationCall } from './operation.ts'

const TYPES: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present'
}

export interface ExportOperationOptions {
  /** The host's own fields. */
  fields: FieldsSchema
  /** True if users have a tenant. */
  ofTenants: boolean
  /** True if users can be in groups. */
  groups: boolean
  /** Refuses a filter that the caller may not use. */
  checkFilter: (call: OperationCall) => void
  /** Takes the caller's place for it. */
  hold: HoldPlace
  readFor: ReadFor
  /** Throws once the caller of a request may no longer read users. */
  recheck: (request: FastifyRequest) => Promise<void>
}

/**
 * The export of users. A request has its place under the limit until the first users are there: what follows is read
 * beside the storage's other work.
 */
export function exportOperation (
  begin: Breakables,
  open: OpenExport,
  { fields, ofTenants, groups, checkFilter, hold, readFor, recheck }: ExportOperationOptions
): Operation {
  return {
    tag: 'users',
    method: 'GET',
    path: '/users/export',
    scope: 'users:read',
    operationId: 'exportUsers',
    summary: 'Export users',
    description: 'All users that match, from one snapshot: a line of JSON for each, or a CSV table. The response is ' +
      'streamed, and is complete if it ends as its framing says. HEAD works too.',
    query: exportParameters(fields, ofTenants, groups),
    success: {
      status: 200,
      description: 'The users.',
      media: { 'application/x-ndjson': { type: 'string' }, 'text/csv': { type: 'string' } },
      headers: ['Content-Disposition']
    },
    codes: ['validation_failed', 'rate_limited'],
    // Not for all of the handler: that ends with the response.
    limitsItself: true,
    async handler (call) {
      const { request, reply, query, faults, tenant } = call
      checkFilter(call)
      const { format, texts } = open(query, { priorFaults: faults, tenant })
      if (request.method !== 'HEAD') hold(request, reply)
      // Fastify sends null as JSON text where the type is one of JSON.
      const body = request.method === 'HEAD'
        ? undefined
        : await readFor({ request, reply }, (reads) =>
          readingStream(begin(reply), texts(reads), () => recheck(request)))
      reply.type(TYPES[format]).header('content-disposition', `attachment; filename="users.${format}"`)
      return reply.send(body)
    }
  }
}
