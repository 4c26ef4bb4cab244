import { test } from 'tap'
import { SERIALIZERS } from '../../lib/http/fastify-internals.ts'
import { redacted, redactingSerializers } from '../../lib/http/logging/log-serializers.ts'

test('credentials are redacted by name in any case and depth, and others are kept', async (t) => {
  const given = {
    Authorization: 'Basic dTpw',
    headers: { 'PROXY-AUTHORIZATION': ['x'], 'x-authorization': 'kept', authorizationUrl: 'kept' },
    list: [{ authorization: null }]
  }
  t.strictSame(redacted(given), {
    Authorization: '[redacted]',
    headers: { 'PROXY-AUTHORIZATION': '[redacted]', 'x-authorization': 'kept', authorizationUrl: 'kept' },
    list: [{ authorization: '[redacted]' }]
  })
})

test('bearer tokens are redacted in any text', async (t) => {
  t.equal(redacted('Authorization: bEARER  abc.def, x'), 'Authorization: Bearer [redacted] x')
  t.equal(redacted('Bearer a Bearer b'), 'Bearer [redacted] Bearer [redacted]')
  t.equal(redacted('the bearer'), 'the bearer')
  t.equal(redacted('forbearer x'), 'forbearer x', 'only the whole word')
})

test('paths and URLs lose their query, and other text keeps its question marks', async (t) => {
  const rows: Array<[given: string, shown: string]> = [
    ['/v1/users?q=ann', '/v1/users'],
    ['GET /v1/users?q=ann HTTP/1.1', 'GET /v1/users HTTP/1.1'],
    ['https://example.org/a?b=/c?d', 'https://example.org/a'],
    ['/v1/users;q=ann', '/v1/users'],
    ['https://example.org/a;b=c', 'https://example.org/a'],
    ['text/html;q=0.9,application/xml', 'text/html;q=0.9,application/xml'],
    ['really?', 'really?'],
    ['?a=/b', '?a=/b'],
    ['why?/how', 'why?/how'],
    ['/v1/users', '/v1/users']
  ]
  for (const [given, shown] of rows) t.equal(redacted(given), shown, given)
})

test('members named query are left out, parsed or not', async (t) => {
  t.strictSame(redacted({ url: '/a?b', query: { email: 'x' }, nested: { query: 'b', queryCount: 1 } }),
    { url: '/a', nested: { queryCount: 1 } })
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

test('what was given is not changed', async (t) => {
  const given = { authorization: 'x', query: {}, list: ['/a?b'] }
  redacted(given)
  t.strictSame(given, { authorization: 'x', query: {}, list: ['/a?b'] })
})

const show = (name: string) => () => ({ by: name, authorization: 'x', url: '/a?b' })
const log = (serializers: object) => Object({ [SERIALIZERS]: serializers })

test('the serialisers of the plugin come before those of the logger, and both are redacted', async (t) => {
  const logger = log({ req: show('logger'), res: show('logger') })
  const serializers = redactingSerializers(logger, { req: Object(show('plugin')) })
  t.strictSame(serializers['req']?.({}), { by: 'plugin', authorization: '[redacted]', url: '/a' })
  t.strictSame(serializers['res']?.({}), { by: 'logger', authorization: '[redacted]', url: '/a' })
})

test('a serialiser may return text', async (t) => {
  t.equal(redactingSerializers(log({}), { req: () => 'GET /a?b' })['req']?.({}), 'GET /a')
})

test('serialisers of other members are the host’s own, and a logger without any gets none', async (t) => {
  const err = () => 'err'
  t.strictSame(redactingSerializers(log({ err: show('logger') }), { err }), { err })
  t.strictSame(redactingSerializers(Object({}), undefined), {})
})
