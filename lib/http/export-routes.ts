import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { exportOperation } from '../openapi/export-operation.ts'
import { type ExportFormat, exportParameters, type OpenExport } from '../transfer/export.ts'
import { breakables } from './break-off.ts'
import { NO_LIMITS } from './concurrency-limit.ts'
import { pacedStream, RECHECK_MS } from './paced-stream.ts'
import {
  handlersUnder, parsedQuery, refuseOtherMethods, routeReads, type RouteSettings, typedParameters
} from './routing.ts'

const TYPES: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present'
}

export interface ExportRoutesOptions extends RouteSettings {
  /** The host's own fields. */
  fields: FieldsSchema
  /** Throws once the caller of a request may no longer read users. */
  recheck: (request: FastifyRequest) => Promise<void>
}

type Texts = AsyncGenerator<string, void, undefined>

/**
 * Adds the export of users. A request has its place under the limit until the first users are there: what follows is
 * read beside the storage's other work.
 */
export function exportRoutes (scope: FastifyInstance, open: OpenExport, options: ExportRoutesOptions): void {
  const { fields, recheck, describe, limits, ...settings } = options
  const parameters = exportParameters(fields)
  const begin = breakables(scope)

  async function streamed (request: FastifyRequest, reply: FastifyReply, texts: Texts): Promise<Readable> {
    const gone = begin(reply)
    // What can't be read at all is an ordinary error.
    const first = await texts.next()
    const stream = pacedStream(gone, async function * (_signal, pace) {
      let checked = performance.now()
      for (let next = first; next.done !== true; next = await texts.next()) {
        if (performance.now() - checked >= RECHECK_MS) {
          await recheck(request)
          checked = performance.now()
        }
        yield * pace(next.value)
      }
    })
    // Also of a stream that nobody has begun to read.
    stream.once('close', () => { texts.return().catch(() => {}) })
    return stream
  }

  // Not for all of the handler: that ends with the response.
  const handler = handlersUnder(NO_LIMITS)(async (request, reply) => {
    const query = parsedQuery(request, settings)
    const { format, texts } = open(typedParameters(query, parameters), query.faults)
    // Fastify sends null as JSON text where the type is one of JSON.
    const body = request.method === 'HEAD' ? undefined : await limits.reads(() => streamed(request, reply, texts()))
    reply.type(TYPES[format]).header('content-disposition', `attachment; filename="users.${format}"`)
    return reply.send(body)
  })

  routeReads(scope, '/users/export', 'users:read', describe(exportOperation(fields)), handler)
  refuseOtherMethods(scope, '/users/export', ['GET', 'HEAD'])
}
