import { IDEMPOTENCY_KEY } from '../users/idempotency.ts'
import type { Schema } from './component-parts.ts'

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more })

/** Request headers. Examples are in words: pages that send requests would fill in an `example` everywhere. */
export const REQUEST_HEADERS = {
  'If-Match': text(
    'The version that the user must have: its ETag, such as `"1"`, or `*` (RFC 9110 section 13.1.1).'
  ),
  'If-None-Match': text('Versions that the user must not have, such as `"1", "2"` (RFC 9110 section 13.1.2).'),
  'Consistency-Token': text(
    'The latest token that the client was given: the answer is no older. Without it a standby may answer.'
  ),
  'Last-Event-ID': text('In a stream: continue after this event; instead of `after`.'),
  'Idempotency-Key': text(
    'A creation repeated with the same key gets the first answer again; use a random UUID.',
    { pattern: IDEMPOTENCY_KEY.source }
  )
}

/** Response headers. */
export const HEADERS = {
  'Cache-Control': text('Users are personal data.', { enum: ['no-store'] }),
  'X-Content-Type-Options': text('The media type must not be guessed.', { enum: ['nosniff'] }),
  ETag: text('The user’s version, a strong entity tag.', { pattern: '^"[1-9][0-9]*"$' }),
  'Consistency-Token': text(
    'Stands for what is stored now, for reads that must not be older. A read gives one if it was sent one.'
  ),
  Location: text('The path of what was created.'),
  'Content-Disposition': text('A name for the file.'),
  Link: text(
    'On a list: its `first`, `prev`, `next` and `last` page, or only `next` in a walk by `after` (RFC 8288). ' +
    'On a deprecated version: a page about the deprecation.'
  ),
  Vary: text('The answer depends on `Accept`.', { enum: ['Accept'] }),
  Accept: text('The media types that a body may have.'),
  'Accept-Patch': text('The media types that a body may have (RFC 5789 section 2.2).'),
  'Accept-Encoding': text('A body has no content coding.'),
  'Idempotency-Replayed': text('The answer is that of the first request with this key.', { enum: ['true'] }),
  'WWW-Authenticate': text('The challenge (RFC 6750 section 3).'),
  Allow: text('The methods of this path.'),
  'Retry-After': text('Seconds to wait before the next try.', { pattern: '^[1-9][0-9]*$' }),
  RateLimit: text('How many requests are left, and for how long (draft-ietf-httpapi-ratelimit-headers-10).'),
  'RateLimit-Policy': text('How many requests the key may send in which time.'),
  Deprecation: text('Since when this version is deprecated (RFC 9745).'),
  Sunset: text('When this version ends (RFC 8594).')
}

export type HeaderName = keyof typeof HEADERS

/** Headers of error responses, by status. */
export const ERROR_HEADERS = new Map<number, readonly HeaderName[]>([
  [401, ['WWW-Authenticate']],
  [403, ['WWW-Authenticate']],
  [405, ['Allow']],
  [410, ['Link']],
  [412, ['ETag']],
  [415, ['Accept', 'Accept-Patch', 'Accept-Encoding']],
  [429, ['Retry-After']],
  [503, ['Retry-After']]
])
