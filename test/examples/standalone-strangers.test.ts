// What strangers can make the service do: look up so many unknown keys, and lock out nobody who is at work.
import { test } from 'tap'
import { generateKey } from '../../lib/api-keys/key-text.ts'
import { KEY, startService } from '../helpers/service.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

test('refused keys are limited without any setting, and keys at work go on', async (t) => {
  const service = startService(t, await temporaryDirectory(t), { DATABASE_URL: 'memory:' })
  const url = await service.printed(/curl .* (\S+)\n/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  const status = async (token: string) =>
    (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status
  t.equal(await status(key), 200)
  const statuses: number[] = []
  for (let i = 0; i < 110; i++) statuses.push(await status(generateKey('uk').text))
  t.equal(statuses.filter((each) => each === 401).length, 100)
  t.equal(statuses.filter((each) => each === 429).length, 10)
  t.equal(await status(key), 200)
})

test('behind a trusted proxy each client is counted by itself', async (t) => {
  const service = startService(t, await temporaryDirectory(t), {
    DATABASE_URL: 'memory:', AUTH_FAILURES: '2', TRUST_PROXY: '127.0.0.1, ::1'
  })
  const url = await service.printed(/curl .* (\S+)\n/)
  const status = async (from: string) =>
    (await fetch(url, { headers: { authorization: 'Bearer x', 'x-forwarded-for': from } })).status
  const clients = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']
  const statuses: number[] = []
  for (const client of clients) statuses.push(await status(client))
  t.strictSame(statuses, [401, 401, 429, 401])
})

test('without a limit every refused key is 401; a wrong setting is named', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = startService(t, cwd, { DATABASE_URL: 'memory:', AUTH_FAILURES: '0' })
  const url = await service.printed(/curl .* (\S+)\n/)
  for (let i = 0; i < 120; i++) {
    const response = await fetch(url, { headers: { authorization: 'Bearer x' } })
    if (response.status !== 401) t.fail(String(response.status))
  }
  const wrong = startService(t, cwd, { AUTH_FAILURES: '-1', TRUST_PROXY: 'everybody' })
  t.equal(await wrong.exitCode(), 1)
  t.equal(wrong.stderr(), 'The configuration is wrong:\n  TRUST_PROXY must be addresses or networks of proxies, ' +
    'separated by commas\n  AUTH_FAILURES must be a number of refused keys, 0 for no limit\n')
})

test('the query of an unknown path, which may be an address or a key, is neither answered nor logged', async (t) => {
  const service = startService(t, await temporaryDirectory(t), { DATABASE_URL: 'memory:' })
  const url = await service.printed(/curl .* (\S+)\n/)
  const response = await fetch(new URL('/users?email=ann@example.org', url))
  t.strictSame([response.status, response.headers.get('content-type'), await response.json()], [
    404, 'application/problem+json; charset=utf-8', { type: 'about:blank', title: 'Not found', status: 404 }
  ])
  await until('the request was logged', () => service.stderr().includes('"statusCode":404'))
  t.notMatch(service.stderr(), /ann@example/)
})

test('a log that can’t be written ends no service', async (t) => {
  const service = startService(t, await temporaryDirectory(t), { DATABASE_URL: 'memory:' })
  const url = await service.printed(/curl .* (\S+)\n/)
  service.process.stderr.destroy()
  for (let i = 0; i < 5; i++) t.equal((await fetch(url)).status, 401)
})
