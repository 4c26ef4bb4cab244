import { BODY_MAX } from './limits.ts'

/**
 * Every error that a client, or a caller in process, can get: its stable code, HTTP status, title and default detail.
 * `docs/errors.md` lists the same codes, and a test compares the two. A code is never renamed and never reused.
 */
export const errorTable = Object.freeze({
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    detail: 'The request is not valid; errors lists every problem.'
  },
  url_not_allowed: {
    status: 400,
    title: 'URL not allowed',
    detail: 'A webhook needs an https URL that leads only to public addresses.'
  },
  position_unknown: {
    status: 400,
    title: 'Position unknown',
    detail: 'The event log has no event with this id; a backup may have been restored. Continue from the oldest event.'
  },
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    detail: 'The request body is not well-formed JSON in UTF-8.'
  },
  unauthorized: {
    status: 401,
    title: 'Authentication required',
    detail: 'Send an API key: Authorization: Bearer <API_KEY>.'
  },
  invalid_api_key: {
    status: 401,
    title: 'Invalid API key',
    detail: 'The API key is malformed, unknown, expired or revoked.'
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    detail: 'The API key lacks the scope that this operation needs.'
  },
  tenant_forbidden: {
    status: 403,
    title: 'Tenant forbidden',
    detail: 'The request names a tenant that the API key does not belong to.'
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail: 'There is nothing at this path.'
  },
  user_not_found: {
    status: 404,
    title: 'User not found',
    detail: 'There is no user with this id.'
  },
  api_key_not_found: {
    status: 404,
    title: 'API key not found',
    detail: 'There is no API key with this id.'
  },
  webhook_not_found: {
    status: 404,
    title: 'Webhook not found',
    detail: 'There is no webhook with this id.'
  },
  group_not_found: {
    status: 404,
    title: 'Group not found',
    detail: 'There is no group with this id.'
  },
  delivery_not_found: {
    status: 404,
    title: 'Delivery not found',
    detail: 'This webhook has no delivery with this id.'
  },
  tenant_not_found: {
    status: 404,
    title: 'Tenant not found',
    detail: 'There is no tenant with this name.'
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'The Allow header names the methods of this path.'
  },
  email_taken: {
    status: 409,
    title: 'E-mail address already in use',
    detail: 'Another user has this e-mail address.'
  },
  field_taken: {
    status: 409,
    title: 'Value already in use',
    detail: 'Another user has the same value in a unique field.'
  },
  name_taken: {
    status: 409,
    title: 'Name already in use',
    detail: 'Another group has this name.'
  },
  revert_conflict: {
    status: 409,
    title: 'Revert conflict',
    detail: 'The user has changed since then: a member no longer has the value that the event gave it.'
  },
  batch_failed: {
    status: 409,
    title: 'Batch failed',
    detail: 'One operation of the batch failed, so none was applied; errors names the failed one.'
  },
  idempotency_in_progress: {
    status: 409,
    title: 'Request in progress',
    detail: 'The first request with this Idempotency-Key is still running.'
  },
  api_key_exists: {
    status: 409,
    title: 'API key already created',
    detail: 'The first request with this Idempotency-Key created an API key, which cannot be shown again.'
  },
  api_key_inactive: {
    status: 409,
    title: 'API key not active',
    detail: 'The API key has expired or was revoked.'
  },
  too_many_webhooks: {
    status: 409,
    title: 'Too many webhooks',
    detail: 'The maximum number of webhooks is reached. Delete one that is no longer needed.'
  },
  last_admin_key: {
    status: 409,
    title: 'Last administrative key',
    detail: 'No other active key can grant the scopes of this one.'
  },
  events_expired: {
    status: 410,
    title: 'Events expired',
    detail: 'Events after this one are no longer kept. Continue from the oldest event.'
  },
  precondition_failed: {
    status: 412,
    title: 'Precondition failed',
    detail: 'The user or group does not have the version that the request requires.'
  },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    detail: `The request body is larger than ${BODY_MAX / 1024} KiB.`
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'The request body must have a media type that the response lists, in UTF-8, without a content coding.'
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key was already used with a different request body.'
  },
  precondition_required: {
    status: 428,
    title: 'Precondition required',
    detail: 'This operation needs an If-Match header.'
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'The rate limit is reached; Retry-After says when to try again.'
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: 'An unexpected error occurred. The log shows it under the request id; in process, see its cause.'
  },
  storage_unavailable: {
    status: 503,
    title: 'Storage unavailable',
    detail: 'The storage cannot be reached at the moment. Try again later.'
  }
} as const)

/** The stable code of an error. */
export type ErrorCode = keyof typeof errorTable
