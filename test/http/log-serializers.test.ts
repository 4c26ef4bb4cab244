import { test } from 'tap'
import { SERIALIZERS } from '../../lib/http/fastify-internals.ts'
import { redacted, redactingSerializers } from '../../lib/http/logging/log-serializers.ts'

test('credentials are redacted by name and in texts, and queries are left out', async (t) => {
  const rows: Array<[given: unknown, shown: unknown]> = [
    // By name, in any case and depth.
    [{ Authorization: 'Basic dTpw' }, { Authorization: '[redacted]' }],
    [{ list: [{ 'PROXY-AUTHORIZATION': ['x'] }] }, { list: [{ 'PROXY-AUTHORIZATION': '[redacted]' }] }],
    [{ 'x-authorization': 'kept', authorizationUrl: 'kept' }, { 'x-authorization': 'kept', authorizationUrl: 'kept' }],
    // Bearer tokens in any text, as a whole word.
    ['Authorization: bEARER  abc.def, x', 'Authorization: Bearer [redacted] x'],
    ['the bearer', 'the bearer'],
    ['forbearer x', 'forbearer x'],
    // Paths and URLs lose their query, and other text keeps its question marks.
    ['GET /v1/users?q=ann HTTP/1.1', 'GET /v1/users HTTP/1.1'],
    ['https://example.org/a?b=/c?d', 'https://example.org/a'],
    ['/v1/users;q=ann', '/v1/users'],
    ['text/html;q=0.9,application/xml', 'text/html;q=0.9,application/xml'],
    ['really?', 'really?'],
    ['why?/how', 'why?/how'],
    // Parsed queries too.
    [{ url: '/a?b', query: { email: 'x' }, nested: { query: 'b', queryCount: 1 } },
      { url: '/a', nested: { queryCount: 1 } }]
  ]
  for (const [given, shown] of rows) {
    const before = JSON.stringify(given)
    t.strictSame(redacted(given), shown, before)
    t.equal(JSON.stringify(given), before, 'what was given is not changed')
  }
})

test('other values stay as they are, dates are their JSON, and what is too deep is not shown', async (t) => {
  for (const value of [5, true, null, undefined, 10n]) t.equal(redacted(value), value)
  t.strictSame(redacted({ at: new Date(0) }), { at: '1970-01-01T00:00:00.000Z' })
  t.strictSame(redacted({ toJSON: () => ({ authorization: 'x' }) }), { authorization: '[redacted]' })
  const nested = (value: unknown) => ({ a: { b: { c: { d: { e: { f: value } } } } } })
  t.strictSame(redacted(nested('shown')), nested('shown'))
  t.strictSame(redacted(nested({})), nested('[redacted]'))
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  t.match(JSON.stringify(redacted(circular)), '[redacted]', 'a circle ends')
})

const show = (name: string) => () => ({ by: name, authorization: 'x', url: '/a?b' })
const log = (serializers: object) => Object({ [SERIALIZERS]: serializers })

test('the serialisers of the plugin come before those of the logger, and both are redacted', async (t) => {
  const logger = log({ req: show('logger'), res: show('logger') })
  const serializers = redactingSerializers(logger, { req: Object(show('plugin')) })
  t.strictSame(serializers['req']?.({}), { by: 'plugin', authorization: '[redacted]', url: '/a' })
  t.strictSame(serializers['res']?.({}), { by: 'logger', authorization: '[redacted]', url: '/a' })
})

test('serialisers of other members are the host’s own, and a logger without any gets none', async (t) => {
  const err = () => 'err'
  t.strictSame(redactingSerializers(log({ err: show('logger') }), { err }), { err })
  t.strictSame(redactingSerializers(Object({}), undefined), {})
  t.equal(redactingSerializers(log({}), { req: () => 'GET /a?b' })['req']?.({}), 'GET /a', 'one may return text')
})
