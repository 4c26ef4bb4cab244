// Hosts behind a proxy that they were not told of.
import { test, type Test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'

/** The warnings of a server, after requests over a socket that were forwarded. */
async function warningsOf (t: Test, server: object): Promise<unknown[]> {
  const log = captureLog()
  const { app, key } = await testApp(t, { server: { ...server, logger: { stream: log.stream } } })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const get = async (more: Record<string, string>) =>
    (await fetch(`${origin}/v1/users`, { headers: { authorization: `Bearer ${key}`, ...more } })).status
  t.equal(await get({}), 200)
  t.strictSame(log.entries().filter(({ level, msg }) => level === 40 && /X-Forwarded-For/.test(String(msg))), [])
  for (let i = 0; i < 3; i++) t.equal(await get({ 'x-forwarded-for': '203.0.113.7' }), 200)
  return log.entries().filter(({ level }) => level === 40).map(({ prefix, msg }) => [prefix, msg])
}

test('a server that trusts no proxy warns once of a request that came through one', async (t) => {
  t.strictSame(await warningsOf(t, {}), [['/v1', 'a request has X-Forwarded-For, but the server trusts no proxy, so ' +
    'all clients of a proxy have its address: limits.failures then refuses all if one sends wrong keys, and ' +
    'addresses of keys do not match. Name the proxy in the option trustProxy of Fastify (TRUST_PROXY of the ' +
    'standalone service)']])
  t.strictSame(await warningsOf(t, { trustProxy: '127.0.0.1' }), [])
  t.strictSame(await warningsOf(t, { trustProxy: () => true }), [])
})

test('a server whose trustProxy is a number is told at the start that it trusts nobody', async (t) => {
  t.strictSame(await warningsOf(t, { trustProxy: 1 }), [['/v1', 'the server’s trustProxy is a number, and Fastify ' +
    '5.12 and later then trust no proxy, so every client has the address of the last proxy: set it to the addresses ' +
    'or networks of your proxies instead']])
})
