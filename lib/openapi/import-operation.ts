import { IMPORT_LINE_MAX } from '../core/limits.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { importRouteParameters } from '../transfer/import-answer.ts'
import { IMPORT_TYPES } from '../transfer/import-types.ts'
import type { Operation } from './operation.ts'

const TEXT = { type: 'string' } as const

/** The import of users, for descriptions. `maxRefused`: the option. */
export function importOperation (fields: FieldsSchema, maxRefused: number): Operation {
  return {
    tag: 'users',
    operationId: 'importUsers',
    summary: 'Import users',
    description: 'A line of JSON for each user, or a table with a header (RFC 4180), of any length; a line has at ' +
      `most ${IMPORT_LINE_MAX / 1024} KiB. Members are those of a creation, and \`id\`, \`createdAt\` and ` +
      '`updatedAt`. Lines are answered while others are being sent: the answer has to be read meanwhile. What was ' +
      'done stays done if the connection breaks.',
    query: importRouteParameters(fields, maxRefused),
    body: { types: [...IMPORT_TYPES.keys()], schema: TEXT },
    success: {
      status: 200,
      description: 'A line of JSON for each line that was refused, for each, or for none: `line`, `status` ' +
        '(`created`, `updated`, `skipped`, `refused`), `id`, and `problem`, which are problem details. Without the ' +
        'scope `users:read` only those that were created have an `id`. The last line has `summary`, with the numbers ' +
        'of each status and `dryRun`.',
      media: { 'application/x-ndjson': TEXT }
    },
    codes: ['validation_failed', 'unsupported_media_type']
  }
}
