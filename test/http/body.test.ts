import type { FastifyRequest } from 'fastify'
import { test } from 'tap'
import { parseJsonBytes } from '../../lib/core/strict-json.ts'
import { checkMediaType, emptyShape } from '../../lib/http/body.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')
const ACCEPTED = ['application/merge-patch+json', 'application/json']

/** A request with these header lines; `stream` is that of HTTP/2. */
function requestOf (rawHeaders: string[], method = 'POST', stream?: object): FastifyRequest {
  return Object({ method, raw: { rawHeaders, ...(stream !== undefined && { stream }) } })
}

const withType = (...types: string[]) =>
  requestOf(['content-length', '2', ...types.flatMap((type) => ['Content-Type', type])])
const refused = (headers: object) => ({ code: 'unsupported_media_type', statusCode: 415, headers })

test('accepts the media types of the route in any case, and UTF-8 alone', async (t) => {
  for (const type of [
    'application/json', 'Application/JSON', 'application/merge-patch+json', 'application/json; charset=utf-8',
    'application/json;charset="UTF-8"', 'application/json; charset=utf8', 'application/json; profile=x'
  ]) t.doesNotThrow(() => checkMediaType(withType(type), ACCEPTED), type)
})

test('refuses every other media type, and says what it accepts', async (t) => {
  for (const type of [
    'text/plain', 'application/json+x', 'application/jsonx', 'json', '', 'application/json; charset=utf-16',
    'application/json, text/plain', '*/*'
  ]) t.throws(() => checkMediaType(withType(type), ACCEPTED), refused({ accept: ACCEPTED.join(', ') }), type)
  t.throws(() => checkMediaType(withType('application/json'), ['text/csv']), refused({ accept: 'text/csv' }))
  const twice = withType('application/json', 'application/json')
  t.throws(() => checkMediaType(twice, ACCEPTED), refused({}), 'two lines are none')
  t.throws(() => checkMediaType(withType(), ACCEPTED), refused({}), 'a body needs a media type')
})

test('names the types of a patch in Accept-Patch (RFC 5789 section 2.2)', async (t) => {
  const patch = requestOf(['content-length', '2', 'content-type', 'text/plain'], 'PATCH')
  t.throws(() => checkMediaType(patch, ACCEPTED), refused({ 'accept-patch': ACCEPTED.join(', ') }))
})

test('refuses a content coding, and says that there is none (RFC 9110 section 15.5.16)', async (t) => {
  const coded = requestOf(['content-length', '2', 'content-type', 'application/json', 'Content-Encoding', 'gzip'])
  t.throws(() => checkMediaType(coded, ACCEPTED), refused({ 'accept-encoding': 'identity' }))
})

test('a request that announces no body needs no media type', async (t) => {
  t.doesNotThrow(() => checkMediaType(requestOf([]), ACCEPTED))
  t.doesNotThrow(() => checkMediaType(requestOf(['content-length', '0']), ACCEPTED))
  t.doesNotThrow(() => checkMediaType(requestOf([], 'POST', { endAfterHeaders: true }), ACCEPTED), 'HTTP/2')
  const empty = requestOf(['content-length', '0', 'content-type', 'text/plain'])
  t.doesNotThrow(() => checkMediaType(empty, ACCEPTED), 'a media type is that of a content')
})

test('a body is announced by its length, a transfer coding, or an open stream of HTTP/2', async (t) => {
  for (const request of [
    requestOf(['Content-Length', '1']),
    requestOf(['Transfer-Encoding', 'chunked']),
    requestOf([], 'POST', { endAfterHeaders: false })
  ]) t.throws(() => checkMediaType(request, ACCEPTED), refused({ accept: ACCEPTED.join(', ') }))
})

test('an empty body is undefined, and JSON is its value', async (t) => {
  t.equal(parseJsonBytes(Buffer.alloc(0)), undefined)
  const rows: Array<[text: string, value: unknown]> = [
    ['null', null],
    ['0', 0],
    ['"ä😀"', 'ä😀'],
    [' [1, {"a": {}}] ', [1, { a: {} }]],
    ['{"constructor":1}', { constructor: 1 }]
  ]
  for (const [text, value] of rows) t.strictSame(parseJsonBytes(bytes(text)), value, text)
})

test('refuses a member that is there twice, however it is written', async (t) => {
  const duplicate = { errors: [{ pointer: '', code: 'duplicate', detail: 'must not have a member twice' }] }
  for (const text of [
    '{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"a" :1,"b":{"c":[{"d":1,"d":null}]}}', '[{"":1,"":2}]',
    '{"1":0,"a":{},"1":0}', '{"a\\"":":","a\\"":1}'
  ]) t.throws(() => parseJsonBytes(bytes(text)), duplicate, text)
  for (const text of [
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":":","b":"\\":\\\\","c:":1,"A":"{\\"a\\":1,\\"a\\":2}"}'
  ]) t.strictSame(parseJsonBytes(bytes(text)), JSON.parse(text), text)
})

test('refuses what is not JSON, or not UTF-8', async (t) => {
  for (const text of [' ', '{', '{"a":1,}', "{'a':1}", '1 2', 'undefined', 'NaN', '{"a":"\n"}']) {
    t.throws(() => parseJsonBytes(bytes(text)), { code: 'malformed_json' }, text)
  }
  t.throws(() => parseJsonBytes(Buffer.from([0x22, 0xff, 0x22])), { code: 'malformed_json' }, 'an invalid byte')
  t.throws(() => parseJsonBytes(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), { code: 'malformed_json' }, 'a surrogate')
})

test('refuses members that would poison a prototype, at any depth and in any spelling', async (t) => {
  const detail = 'must not have members named __proto__ or constructor.prototype'
  for (const text of [
    '{"__proto__":{}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":null}', '{"constructor":{"prototype":{}}}'
  ]) {
    const errors = [{ pointer: '', code: 'forbidden', detail }]
    t.throws(() => parseJsonBytes(bytes(text)), { code: 'validation_failed', errors }, text)
  }
  t.throws(() => parseJsonBytes(bytes('{"__proto__":')), { code: 'malformed_json' })
  t.strictSame(parseJsonBytes(bytes('"__proto__"')), '__proto__', 'a value may be that text')
})

test('a body without members may be {} alone', async (t) => {
  t.strictSame(emptyShape({}), [])
  t.strictSame(emptyShape({ a: 1 }), [{ pointer: '/a', code: 'unknown', detail: 'is not a known member' }])
  for (const value of [null, [], 'x', 5]) {
    t.strictSame(emptyShape(value), [{ pointer: '', code: 'type', detail: 'must be an object' }])
  }
})
