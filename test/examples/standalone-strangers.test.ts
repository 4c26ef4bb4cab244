// What strangers can make the service do: look up so many unknown keys, and lock out nobody who is at work.
import { test, type Test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { readConfig } from '../../examples/standalone/config.ts'
import { generateKey } from '../../lib/api-keys/key-text.ts'

/** The service, and the status of a request with a key. */
async function service (t: Test, env: Record<string, string> = {}) {
  const app = await buildApp(readConfig({ DATABASE_URL: 'memory:', ...env }), false)
  t.teardown(() => app.close())
  const status = async (key: string, headers = {}) =>
    (await app.inject({ url: '/v1/users', headers: { authorization: `Bearer ${key}`, ...headers } })).statusCode
  return { app, status }
}

test('refused keys are limited without any setting, and keys at work go on', async (t) => {
  const { app, status } = await service(t)
  const { key } = await app.users.apiKeys.create({ name: 'at work', scopes: ['users:read'] })
  t.equal(await status(key), 200)
  const statuses: number[] = []
  for (let i = 0; i < 110; i++) statuses.push(await status(generateKey('uk').text))
  t.strictSame(statuses, [...Array(100).fill(401), ...Array(10).fill(429)])
  t.equal(await status(key), 200)
})

test('behind a trusted proxy each client is counted by itself', async (t) => {
  const { status } = await service(t, { AUTH_FAILURES: '2', TRUST_PROXY: '127.0.0.1, ::1' })
  const statuses: number[] = []
  for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
    statuses.push(await status('x', { 'x-forwarded-for': client }))
  }
  t.strictSame(statuses, [401, 401, 429, 401])
})

test('without a limit every refused key is 401', async (t) => {
  const { status } = await service(t, { AUTH_FAILURES: '0' })
  for (let i = 0; i < 120; i++) t.equal(await status('x'), 401)
})
