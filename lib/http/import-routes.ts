import type { Readable } from 'node:stream'
import contentType from 'fast-content-type-parse'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parameterFaults } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { importOperation } from '../openapi/import-operation.ts'
import { createReporter, importRouteParameters, summaryLine } from '../transfer/import-answer.ts'
import { IMPORT_TYPES } from '../transfer/import-types.ts'
import type { Import, ImportResult, OpenImport } from '../transfer/import.ts'
import type { RouteAccess } from './admission.ts'
import { bodyBrokenOff, breakables } from './break-off.ts'
import { callerOf, contextOf, hasScope } from './caller.ts'
import { NO_LIMITS } from './concurrency-limit.ts'
import { header } from './header-fields.ts'
import { pacedStream, RECHECK_MS } from './paced-stream.ts'
import {
  type Handler, handlersUnder, parsedQuery, refuseOtherMethods, type RouteSettings, typedParameters
} from './routing.ts'
import { type BodyOf, streamBodies } from './streamed-bodies.ts'

const NDJSON = 'application/x-ndjson'

export interface ImportRoutesOptions extends RouteSettings {
  /** The host's own fields. */
  fields: FieldsSchema
  /** How many refused lines an answer names at most. */
  maxRefused: number
  /** Throws once the caller of a request may no longer write users. */
  recheck: (request: FastifyRequest) => Promise<void>
}

type Results = AsyncGenerator<ImportResult[], void, undefined>
type Reporter = ReturnType<typeof createReporter>

/**
 * Adds the import of users. A request waits for a place under the limit at its start, and does not keep it: what it
 * sends may take any time.
 */
export function importRoutes (scope: FastifyInstance, open: OpenImport, options: ImportRoutesOptions): void {
  const { fields, maxRefused: most, recheck, describe, limits, ...settings } = options
  const parameters = importRouteParameters(fields, most)
  const begin = breakables(scope)

  async function answer (
    request: FastifyRequest,
    gone: AbortController,
    { results, named, summary }: { results: Results, named: Reporter, summary: Import['summary'] }
  ): Promise<Readable> {
    // While lines are awaited nothing else asks.
    const checking = setInterval(() => { recheck(request).catch(() => gone.abort()) }, RECHECK_MS).unref()
    gone.signal.addEventListener('abort', () => clearInterval(checking))
    // A header that does not fit is an ordinary error.
    const first = await results.next().catch((error: unknown) => {
      clearInterval(checking)
      throw error
    })
    const stream = pacedStream(gone, async function * (_signal, pace) {
      for (let next = first; next.done !== true; next = await results.next()) {
        const lines = named(next.value).map((result) => `${JSON.stringify(result)}\n`).join('')
        if (lines !== '') yield * pace(lines)
      }
      yield * pace(summaryLine(summary))
    })
    stream.once('close', () => {
      if (!stream.readableEnded) request.log.warn({ summary }, 'an import was broken off: what it has done stays done')
      results.return().catch(() => {})
    })
    return stream
  }

  const importHandler = (bodyOf: BodyOf): Handler => handlersUnder(NO_LIMITS)(async (request, reply) => {
    const query = parsedQuery(request, settings)
    const { report = 'faults', maxRefused = most, ...given } = typedParameters(query, parameters)
    const reportFaults = parameterFaults(parameters, { report, maxRefused })
    const { summary, results, fileRows } = open(given, [...query.faults, ...reportFaults])
    await limits.writes(async () => {})
    const { type } = contentType.safeParse(header(request, 'content-type') ?? '')
    const rows = fileRows(bodyOf(request), IMPORT_TYPES.get(type) ?? 'ndjson')
    // A server that closes breaks it off even while its first lines are awaited.
    const gone = begin(reply)
    const mayGoOn = async (): Promise<void> => {
      // A stored key is looked up in a cache. The host is asked about its own token every 15 seconds, as of any stream.
      if (callerOf(request).record !== null) await recheck(request)
      // A client may end its body and then break the request off immediately: that of Node.js does over HTTP/2.
      if (gone.signal.aborted) throw bodyBrokenOff()
    }
    const stream = await answer(request, gone, {
      results: results(rows, contextOf(request), mayGoOn),
      named: createReporter(String(report), Number(maxRefused), hasScope(request, 'users:read')),
      summary
    })
    return reply.type(NDJSON).send(stream)
  })

  scope.register(async function fastifyUsersImport (inner) {
    const handler = importHandler(streamBodies(inner))
    const fastifyUsers: RouteAccess = { scope: 'users:write', accepts: [...IMPORT_TYPES.keys()] }
    const config = { fastifyUsers, ...describe(importOperation(fields, most)) }
    inner.route({ method: 'POST', url: '/users/import', config, handler })
  })
  refuseOtherMethods(scope, '/users/import', ['POST'])
}
