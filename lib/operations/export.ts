import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import type { Breakables } from '../http/break-off.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import { pacedStream, RECHECK_MS } from '../http/streams/paced-stream.ts'
import { type ExportFormat, exportParameters, type OpenExport } from '../transfer/export.ts'
import type { Operation } from './operation.ts'

const TYPES: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present'
}

export interface ExportOperationOptions {
  /** The host's own fields. */
  fields: FieldsSchema
  limits: ConcurrencyLimits
  /** Throws once the caller of a request may no longer read users. */
  recheck: (request: FastifyRequest) => Promise<void>
}

type Texts = AsyncGenerator<string, void, undefined>

/**
 * The export of users. A request has its place under the limit until the first users are there: what follows is read
 * beside the storage's other work.
 */
export function exportOperation (
  begin: Breakables,
  open: OpenExport,
  { fields, limits, recheck }: ExportOperationOptions
): Operation {
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

  return {
    tag: 'users',
    method: 'GET',
    path: '/users/export',
    scope: 'users:read',
    operationId: 'exportUsers',
    summary: 'Export users',
    description: 'Every user that matches, as they all are at one moment: a line of JSON for each, or a table. It is ' +
      'streamed, and is whole if the response ends as its framing says. HEAD works too.',
    query: exportParameters(fields),
    success: {
      status: 200,
      description: 'The users.',
      media: { 'application/x-ndjson': { type: 'string' }, 'text/csv': { type: 'string' } },
      headers: ['Content-Disposition']
    },
    codes: ['validation_failed'],
    // Not for all of the handler: that ends with the response.
    limitsItself: true,
    async handler ({ request, reply, query, faults }) {
      const { format, texts } = open(query, faults)
      // Fastify sends null as JSON text where the type is one of JSON.
      const body = request.method === 'HEAD' ? undefined : await limits.reads(() => streamed(request, reply, texts()))
      reply.type(TYPES[format]).header('content-disposition', `attachment; filename="users.${format}"`)
      return reply.send(body)
    }
  }
}
