import type { FieldsSchema } from '../fields/fields-schema.ts'
import { exportParameters } from '../transfer/export.ts'
import type { Operation } from './operation.ts'

/** The export of users, for descriptions. */
export function exportOperation (fields: FieldsSchema): Operation {
  return {
    tag: 'users',
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
    codes: ['validation_failed']
  }
}
