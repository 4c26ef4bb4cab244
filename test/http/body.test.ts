// Media types and JSON, as far as test/contract/answers.test.ts does not send them.
import type { FastifyRequest } from 'fastify'
import { test } from 'tap'
import { parseJsonBytes } from '../../lib/core/strict-json.ts'
import { checkMediaType } from '../../lib/http/body.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')
const ACCEPTED = ['application/merge-patch+json', 'application/json']

/** A request with these header lines; `stream` is that of HTTP/2. */
function requestOf (rawHeaders: string[], stream?: object): FastifyRequest {
  return Object({ method: 'POST', raw: { rawHeaders, ...(stream !== undefined && { stream }) } })
}

const withType = (...types: string[]) =>
  requestOf(['content-length', '2', ...types.flatMap((type) => ['Content-Type', type])])
const refused = { code: 'unsupported_media_type', statusCode: 415, headers: { accept: ACCEPTED.join(', ') } }

test('accepts the media types of the route in any case, and UTF-8 alone', async (t) => {
  for (const type of ['Application/JSON', 'application/json; charset=utf8', 'application/json; profile=x']) {
    t.doesNotThrow(() => checkMediaType(withType(type), ACCEPTED), type)
  }
  for (const type of ['application/jsonx', '', 'application/json, text/plain', '*/*']) {
    t.throws(() => checkMediaType(withType(type), ACCEPTED), refused, type)
  }
  t.throws(() => checkMediaType(withType('application/json', 'application/json'), ACCEPTED), refused, 'two are none')
})

test('a body is announced by its length, a transfer coding, or an open stream of HTTP/2', async (t) => {
  for (const request of [
    requestOf(['Content-Length', '1']),
    requestOf(['Transfer-Encoding', 'chunked']),
    requestOf([], { endAfterHeaders: false })
  ]) t.throws(() => checkMediaType(request, ACCEPTED), refused)
  t.doesNotThrow(() => checkMediaType(requestOf([]), ACCEPTED))
  t.doesNotThrow(() => checkMediaType(requestOf([], { endAfterHeaders: true }), ACCEPTED))
})

test('an empty body is undefined, and JSON is its value', async (t) => {
  t.equal(parseJsonBytes(Buffer.alloc(0)), undefined)
  for (const text of [
    'null', '"ä😀"', ' [1, {"a": {}}] ', '{"constructor":1}', '"__proto__"', '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":1}]', '{"a":":","b":"\\":\\\\","c:":1,"A":"{\\"a\\":1,\\"a\\":2}"}'
  ]) t.strictSame(parseJsonBytes(bytes(text)), JSON.parse(text), text)
})

test('refuses a member that is there twice, however it is written', async (t) => {
  const duplicate = { errors: [{ pointer: '', code: 'duplicate', detail: 'must not have a member twice' }] }
  for (const text of [
    '{"a":1,"\\u0061":2}', '{"a" :1,"b":{"c":[{"d":1,"d":null}]}}', '[{"":1,"":2}]', '{"1":0,"a":{},"1":0}',
    '{"a\\"":":","a\\"":1}'
  ]) t.throws(() => parseJsonBytes(bytes(text)), duplicate, text)
})

test('refuses what is not JSON, or not UTF-8', async (t) => {
  for (const text of [' ', '{"a":1,}', '1 2', '{"__proto__":']) {
    t.throws(() => parseJsonBytes(bytes(text)), { code: 'malformed_json' }, text)
  }
  t.throws(() => parseJsonBytes(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), { code: 'malformed_json' }, 'a surrogate')
})

test('refuses members that would poison a prototype, at any depth and in any spelling', async (t) => {
  const detail = 'must not have members named __proto__ or constructor.prototype'
  for (const text of ['{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":null}']) {
    const errors = [{ pointer: '', code: 'forbidden', detail }]
    t.throws(() => parseJsonBytes(bytes(text)), { code: 'validation_failed', errors }, text)
  }
})
