// What the log says about keys: ids and reasons, at a bounded rate, and never a secret.
import { mock } from 'node:test'
import pino from 'pino'
import { test } from 'tap'
import { generateKey, keyText } from '../../lib/api-keys/key-text.ts'
import { createSecurityLog } from '../../lib/http/logging/security-log.ts'
import { inject, mistyped, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { until } from '../helpers/until.ts'
import '../helpers/watch-all.ts'

const JSON_BODY = { 'content-type': 'application/json' }

test('logs every refusal of a key with its reason and without a secret', async (t) => {
  const log = captureLog()
  const { app } = await testApp(t, { server: { logger: Object({ stream: log.stream }) } })
  const { key, id, start } = await app.users.apiKeys.create({ name: 'watched', expiresIn: 60 })
  const ended = await app.users.apiKeys.create({ name: 'ended' })
  await app.users.apiKeys.revoke(ended.id)
  const unknown = generateKey('uk')
  const malformed = mistyped(key)
  // The public start of one key and the secret of another.
  const mismatch = keyText({ start, secret: generateKey('uk').secret })
  const send = (token: string) => inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${token}` } })
  const rows: Array<[token: string, logged: object]> = [
    [ended.key, { reason: 'revoked', keyId: ended.id, start: ended.start }],
    [unknown.text, { reason: 'unknown', start: unknown.start }],
    [mismatch, { reason: 'mismatch', keyId: id, start }],
    [malformed, { reason: 'malformed' }],
    [`${key} ${key}`, { reason: 'malformed' }],
    ['nonsense-of-a-stranger', { reason: 'unrecognized' }]
  ]
  for (const [token, logged] of rows) {
    t.equal((await send(token)).statusCode, 401)
    const entry = log.entries().findLast(({ event }) => event === 'api_key.refused')
    t.match(entry, { level: 40, msg: 'an API key was refused', ...logged })
    t.type(entry?.['reqId'], 'string')
    t.equal('keyId' in Object(entry), 'keyId' in logged)
  }
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  await send(key)
  mock.timers.reset()
  const refused = () => log.entries().filter(({ event }) => event === 'api_key.refused')
  t.match(refused().at(-1), { reason: 'expired', keyId: id })
  t.equal((await inject(app, 'GET', '/v1/users')).statusCode, 401)
  t.equal(refused().length, rows.length + 1, 'a request without a key is not a refused key')
  for (const text of [key, ended.key, unknown.text, mismatch, malformed, 'nonsense-of-a-stranger', 'watched']) {
    t.notMatch(log.text(), text.slice(16))
  }
})

test('logs a missing scope and every change of a key', async (t) => {
  const log = captureLog()
  const { app, call } = await testApp(t, {
    apiKeys: { routes: true },
    server: { logger: Object({ stream: log.stream }) }
  })
  const [admin] = (await app.users.apiKeys.list()).data
  const reader = await app.users.apiKeys.create({ name: 'reader', scopes: ['users:read'] })
  t.match(log.entries().at(-1), {
    level: 30,
    event: 'api_key.created',
    keyId: reader.id,
    start: reader.start,
    actor: null,
    msg: 'an API key was changed'
  })
  await inject(app, 'DELETE', '/v1/users/x', { headers: { authorization: `Bearer ${reader.key}` } })
  t.match(
    log.entries().find(({ event }) => event === 'api_key.scope_denied'),
    { level: 40, actor: { type: 'api_key', id: reader.id }, scope: 'users:delete' }
  )
  const created = (await call('POST', '/api-keys', { headers: JSON_BODY, payload: '{"name":"x"}' })).json()
  const rotated = (await call('POST', `/api-keys/${created.id}/rotate`)).json()
  await call('DELETE', `/api-keys/${rotated.id}`)
  await call('DELETE', `/api-keys/${rotated.id}`)
  const actor = { type: 'api_key', id: admin?.id }
  const entries = log.entries().filter(({ event, actor }) =>
    String(event).startsWith('api_key.') && actor !== null && event !== 'api_key.scope_denied')
  t.match(entries, [
    { event: 'api_key.created', keyId: created.id, actor },
    { event: 'api_key.rotated', keyId: rotated.id, rotatedFrom: created.id, actor },
    { event: 'api_key.revoked', keyId: rotated.id, actor }
  ])
  t.equal(entries.length, 3, 'a revocation that changes nothing is not logged')
  const requests = log.entries().filter(({ req }) => req !== undefined).map(({ reqId }) => reqId)
  t.strictSame(entries.filter(({ reqId }) => !requests.includes(reqId)), [], 'the ids are those of their requests')
})

test('logs 20 refusals again in the next window', async (t) => {
  const log = captureLog()
  const logger = pino(log.stream)
  const securityLog = createSecurityLog(logger, 10)
  const refuse = () => securityLog.refused(Object({ log: logger }), { reason: 'unknown', keyId: null, start: null })
  for (let i = 0; i < 25; i++) refuse()
  await until('the end of the window', () => log.text().includes('"more":5'))
  refuse()
  t.equal(log.entries().filter(({ event }) => event === 'api_key.refused').length, 21)
  securityLog.close()
  t.equal(log.entries().filter(({ more }) => more !== undefined).length, 1, 'closing logs no second count')
})

test('logs 20 refusals of one reason in a window, and counts the others', async (t) => {
  const log = captureLog()
  const { app } = await testApp(t, { server: { logger: Object({ stream: log.stream }) } })
  const send = (token: string) => inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${token}` } })
  for (let i = 0; i < 50; i++) await send(generateKey('uk').text)
  for (let i = 0; i < 3; i++) await send('x')
  const of = (reason: string) =>
    log.entries().filter((entry) => entry['event'] === 'api_key.refused' && entry['reason'] === reason).length
  t.strictSame([of('unknown'), of('unrecognized')], [20, 3])
  await app.close()
  t.match(
    log.entries().filter(({ more }) => more !== undefined),
    [{ level: 40, reason: 'unknown', more: 30, msg: 'more requests were refused for the same reason' }]
  )
})

test('logs a key that tries to give scopes it lacks, and a key above its rate limit', async (t) => {
  const log = captureLog()
  const { app } = await testApp(t, {
    apiKeys: { routes: true },
    limits: { requests: { max: 1, window: 60 } },
    server: { logger: Object({ stream: log.stream }) }
  })
  const { id, key } = await app.users.apiKeys.create({ name: 'x', scopes: ['keys:write'] })
  const send = () =>
    inject(app, 'POST', '/v1/api-keys', {
      headers: { authorization: `Bearer ${key}`, ...JSON_BODY },
      payload: '{"name":"x","scopes":["users:delete"]}'
    })
  t.strictSame([(await send()).statusCode, (await send()).statusCode], [403, 429])
  const actor = { type: 'api_key', id }
  t.match(
    log.entries().filter(({ level }) => level === 40),
    [
      { event: 'api_key.grant_denied', actor },
      { event: 'api_key.rate_limited', actor }
    ]
  )
})
