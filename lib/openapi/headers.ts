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
    'The latest token that the client received: the answer is at least as new. Without a token, it may be older.'
  ),
  'Last-Event-ID': text('For a stream: continue after this event. Overrides `after`.'),
  'Idempotency-Key': text(
    'A retry with the same key is not carried out a second time. Use a random UUID.',
    { pattern: IDEMPOTENCY_KEY.source }
  )
}

/** Response headers. */
export const HEADERS = {
  'Cache-Control': text('Users are personal data.', { enum: ['no-store'] }),
  'X-Content-Type-Options': text('The media type must not be guessed.', { enum: ['nosniff'] }),
  ETag: text('The user’s version, a strong entity tag.', { pattern: '^"[1-9][0-9]*"$' }),
  'Consistency-Token': text(
    'Marks what is stored now: send it with reads that must be at least as new. A read returns one if it was sent one.'
  ),
  Location: text('The path of what was created.'),
  'Content-Disposition': text('A name for the file.'),
  Link: text(
    'On a list: the `first`, `prev`, `next` and `last` pages, or only `next` with `after` or `cursor` (RFC 8288). ' +
    'On a deprecated version: a page about the deprecation.'
  ),
  Vary: text('The answer depends on `Accept`.', { enum: ['Accept'] }),
  Accept: text('The media types that a body may have.'),
  'Accept-Patch': text('The media types that a body may have (RFC 5789 section 2.2).'),
  'Accept-Encoding': text('A body must not have a content coding.'),
  'Idempotency-Replayed': text('This repeats the answer to the first request with this key.', { enum: ['true'] }),
  'WWW-Authenticate': text('The challenge (RFC 6750 section 3).'),
  Allow: text('The methods of this path.'),
  'Retry-After': text('Seconds to wait before the next try.', { pattern: '^[1-9][0-9]*$' }),
  RateLimit: text('Requests left, and seconds until the limit resets (draft-ietf-httpapi-ratelimit-headers-10).'),
  'RateLimit-Policy': text('How many requests the key may send per window, and the window in seconds.'),
  Deprecation: text('The date from which this version is deprecated (RFC 9745).'),
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
