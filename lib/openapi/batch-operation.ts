import { BATCH_BODY_MAX } from '../core/limits.ts'
import type { Operation } from './operation.ts'

/** The batch of operations on users, for descriptions. */
export const batchOperation: Operation = {
  tag: 'users',
  operationId: 'writeUsers',
  summary: 'Create, update and delete users',
  description: 'Operations are made in their order and answered each for itself, as they would be alone: each needs ' +
    'its scope, and counts for the limits. Nobody sees only some of them. `atomic`: all or none. An ' +
    '`Idempotency-Key` covers the whole. ' +
    `The body has at most ${BATCH_BODY_MAX / 1024} KiB.`,
  reads: ['Idempotency-Key'],
  body: { types: ['application/json'], is: 'Batch' },
  success: {
    status: 200,
    description: 'What became of each operation.',
    is: 'BatchResults',
    headers: ['Idempotency-Replayed', 'Retry-After']
  },
  counted: 'deletions',
  codes: [
    'validation_failed', 'malformed_json', 'batch_failed', 'idempotency_in_progress', 'body_too_large',
    'unsupported_media_type', 'idempotency_key_reused'
  ]
}
