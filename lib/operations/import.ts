import type { Readable } from 'node:stream'
import contentType from 'fast-content-type-parse'
import type { FastifyRequest } from 'fastify'
import { IMPORT_LINE_MAX } from '../core/limits.ts'
import { parameterFaults } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { bodyBrokenOff, type Breakables, isServerClosing } from '../http/break-off.ts'
import { callerOf, contextOf, hasScope, shareOf } from '../http/caller.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import { header } from '../http/header-fields.ts'
import { pacedStream, RECHECK_MS } from '../http/streams/paced-stream.ts'
import type { HoldPlace } from '../http/streams/stream-places.ts'
import { createReporter, importRouteParameters, summaryLine } from '../transfer/import-answer.ts'
import { IMPORT_TYPES } from '../transfer/import-source.ts'
import type { Import, OpenImport } from '../transfer/import.ts'
import type { ImportResult } from '../transfer/import-run.ts'
import type { Operation } from './operation.ts'

const NDJSON = 'application/x-ndjson'
const TEXT = { type: 'string' } as const
const OF_GROUPS = ', and `groups`, names of groups to join (needs the scope `groups:write`)'
// How many users that the storage refuses an import logs.
const FAULTS_LOGGED = 20

export interface ImportOperationOptions {
  /** The host's own fields. */
  fields: FieldsSchema
  /** The most refused lines that a response may name. */
  maxRefused: number
  /** True if users have a tenant. */
  ofTenants: boolean
  /** True if users can be in groups. */
  hasGroups: boolean
  limits: ConcurrencyLimits
  /** Takes the caller's place for it. */
  hold: HoldPlace
  /** Throws once the caller of a request may no longer write users. */
  recheck: (request: FastifyRequest) => Promise<void>
}

type Results = AsyncGenerator<ImportResult[], void, undefined>
type Reporter = ReturnType<typeof createReporter>

/** Makes the function that logs the first faults among results. */
function faultLog (request: FastifyRequest): (results: readonly ImportResult[]) => void {
  let left = FAULTS_LOGGED
  return (results) => {
    for (const result of results) {
      if (result.status !== 'refused' || result.cause === undefined || left-- <= 0) continue
      request.log.error({ err: result.cause, line: result.line }, 'the storage refused a user of an import')
    }
  }
}

/**
 * The import of users. A request waits for a place under the limit when it starts, and then releases the place,
 * because its upload may take any time.
 */
export function importOperation (
  begin: Breakables,
  open: OpenImport,
  { fields, maxRefused: most, ofTenants, hasGroups, limits, hold, recheck }: ImportOperationOptions
): Operation {
  const parameters = importRouteParameters(fields, most, ofTenants, hasGroups)

  async function answer (
    request: FastifyRequest,
    gone: AbortController,
    { results, named, opened: { summary, lastLine } }: { results: Results, named: Reporter, opened: Import }
  ): Promise<Readable> {
    // While the import waits for lines, nothing else rechecks the caller.
    const checking = setInterval(() => { recheck(request).catch(() => gone.abort()) }, RECHECK_MS).unref()
    gone.signal.addEventListener('abort', () => clearInterval(checking))
    // A header that does not fit fails before the stream starts: it becomes an ordinary error response.
    const first = await results.next().catch((error: unknown) => {
      clearInterval(checking)
      throw error
    })
    const logFaults = faultLog(request)
    const stream = pacedStream(gone, async function * (_signal, pace) {
      try {
        for (let next = first; next.done !== true; next = await results.next()) {
          logFaults(next.value)
          const lines = named(next.value).map((result) => `${JSON.stringify(result)}\n`).join('')
          if (lines !== '') yield * pace(lines)
        }
      } catch (error) {
        if (!isServerClosing(error)) throw error
        summary.stoppedAfter = lastLine()
        request.log.warn({ summary }, 'an import was stopped because the server is closing; the answer says where')
      }
      yield * pace(summaryLine(summary))
    })
    stream.once('close', () => {
      if (!stream.readableEnded) {
        request.log.warn({ summary }, 'an import was aborted; the rows imported so far are kept')
      }
      results.return().catch(() => {})
    })
    return stream
  }

  return {
    tag: 'users',
    method: 'POST',
    path: '/users/import',
    scope: 'users:write',
    operationId: 'importUsers',
    summary: 'Import users',
    description: 'A line of JSON for each user, or a table with a header (RFC 4180), of any length; a line has at ' +
      `most ${IMPORT_LINE_MAX / 1024} KiB. Members are those of a new user, plus \`id\`, \`createdAt\`, ` +
      `\`updatedAt\`${hasGroups ? OF_GROUPS : ''}. ` +
      'The response starts before all lines are sent: read it while you send. If the connection breaks, ' +
      'the rows imported so far are kept.',
    query: parameters,
    body: { types: [...IMPORT_TYPES.keys()], schema: TEXT },
    success: {
      status: 200,
      description: 'A line of JSON for each refused line, for every line, or for none: `line`, `status` ' +
        '(`created`, `updated`, `skipped`, `refused`), `id`, and `problem` (problem details). Without the scope ' +
        '`users:read`, only created users have an `id`. The last line has `summary`, with the number of rows of ' +
        'each status and `dryRun`. If the server closes before all lines have arrived, `stoppedAfter` is the line ' +
        'of the last imported row. Send the rest again.',
      media: { 'application/x-ndjson': TEXT }
    },
    codes: ['validation_failed', 'unsupported_media_type', 'rate_limited'],
    streamsBody: true,
    limitsItself: true,
    async handler ({ request, reply, query, faults, parts, tenant }) {
      const { report = 'faults', maxRefused = most, ...given } = query
      const priorFaults = [...faults, ...parameterFaults(parameters, { report, maxRefused })]
      const opened = await open(given, { priorFaults, tenant })
      hold(request, reply)
      await limits.writes(async () => {}, shareOf(request))
      const { type } = contentType.safeParse(header(request, 'content-type') ?? '')
      const rows = opened.fileRows(parts(), IMPORT_TYPES.get(type) ?? 'ndjson')
      // Before any row is read: a server that closes answers 503.
      const gone = begin(reply)
      const mayGoOn = async (): Promise<void> => {
        // Checking a stored key is cheap, because it is cached. A token of the host is rechecked every 15 seconds, as
        // for any stream.
        if (callerOf(request).record !== null) await recheck(request)
        // A client may end its body and then abort the request immediately, as the HTTP/2 client of Node.js does.
        if (gone.signal.aborted) throw bodyBrokenOff()
      }
      const stream = await answer(request, gone, {
        results: opened.results(rows, contextOf(request), {
          mayGoOn,
          choosesIds: callerOf(request).principal.tenant === undefined,
          changesGroups: hasScope(request, 'groups:write')
        }),
        named: createReporter(String(report), Number(maxRefused), hasScope(request, 'users:read')),
        opened
      })
      return reply.type(NDJSON).send(stream)
    }
  }
}
