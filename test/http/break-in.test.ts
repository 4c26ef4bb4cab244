// Every route is tried in every way that lacks a valid key. The answer is a refusal, no user is looked up, and no body
// is read.
import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { generateKey, keyText } from '../../lib/api-keys/key-text.ts'
import { ALL_SCOPES, inject, mistyped, testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { listen, nextEvent, rawRequest } from '../helpers/raw.ts'
import { until } from '../helpers/until.ts'

const ID = 'usr_01h455vb4pex5vsknk084sn02q'
const PLAIN = 'Bearer realm="users"'
const INVALID = 'Bearer realm="users", error="invalid_token"'
const STATIC = 'a-static-key-of-more-than-32-characters!'

/** The ways that are tried on every route and with every method, not at night alone. */
const EVERYWHERE = ['nothing', 'an unknown key']
const SOME = [
  'GET /v1/users', 'HEAD /v1/users/:id', 'POST /v1/users/import', 'DELETE /v1/api-keys/:id', 'OPTIONS /v1/events'
]

type Way = { headers?: Record<string, string>; query?: string; payload?: string }

test('refuses requests without a valid key on every route, in the same words', async (t) => {
  let queries: string[] = []
  const storage = memory()
  // All but the look-up of a key by the beginning of its text.
  const isQuery = (name: string, [keys, by]: unknown[]): boolean =>
    !(name === 'find' && keys === 'apiKeys' && Array.isArray(by) && by.every((key) => 'start' in key))
  for (const [part, names] of [
    [storage, ['commit', 'find', 'list', 'listTenants']],
    [storage.users, Object.keys(storage.users)],
    [storage.log, ['read', 'history', 'find', 'before', 'rewrite', 'prune', 'pruned']]
  ] as const) {
    for (const name of names) {
      const method: unknown = Reflect.get(part, name)
      if (typeof method !== 'function') throw new Error(`the store has no ${name}`)
      Reflect.set(part, name, (...args: unknown[]): unknown => {
        if (isQuery(name, args)) queries.push(name)
        return Reflect.apply(method, part, args)
      })
    }
  }
  const routes: Array<{ method: string; url: string }> = []
  const { app, key } = await testApp(t, {
    storage,
    eventLog: true,
    trash: true,
    apiKeys: { routes: true, static: [{ key: STATIC, scopes: ALL_SCOPES }] },
    authenticate: async (token) => (token === 'known to the host' ? { id: 'host', scopes: ALL_SCOPES } : null),
    before: (app) => {
      app.addHook('onRoute', ({ method, url }) => {
        for (const each of [method].flat()) routes.push({ method: each, url })
      })
    }
  })
  const { apiKeys } = app.users
  const revoked = await apiKeys.create({ name: 'revoked', scopes: ALL_SCOPES })
  await apiKeys.revoke(revoked.id)
  const unknown = generateKey('uk')
  const bearer = (text: string): Way => ({ headers: { authorization: text } })
  const none: Record<string, Way> = {
    nothing: {},
    'the key in the query': { query: `?access_token=${key}&api_key=${key}&key=${key}` },
    'the key in a cookie': { headers: { cookie: `access_token=${key}; authorization=Bearer ${key}` } },
    'the key in other fields': {
      headers: { 'x-api-key': key, 'proxy-authorization': `Bearer ${key}`, 'x-authorization': `Bearer ${key}` }
    },
    'the key in the body': {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `access_token=${key}`
    },
    'another method behind this one': {
      headers: { 'x-http-method-override': 'GET', 'x-method-override': 'GET' }, query: '?_method=GET'
    },
    'identity headers of proxies': {
      headers: { 'x-forwarded-user': 'admin', 'x-user-id': ID, 'x-real-ip': '127.0.0.1', 'x-original-url': '/health' }
    },
    'another scheme': bearer(`Basic ${Buffer.from(`x:${key}`).toString('base64')}`),
    'no scheme': bearer(key),
    'an empty key': bearer('Bearer '),
    'a scheme that begins with Bearer': bearer(`BearerToken ${key}`)
  }
  const wrong: Record<string, Way> = {
    'an unknown key': bearer(`Bearer ${unknown.text}`),
    'a revoked key': bearer(`Bearer ${revoked.key}`),
    'the secret of another key': bearer(`Bearer ${keyText({ start: unknown.start, secret: key.slice(16, -6) })}`),
    'another secret': bearer(`Bearer ${keyText({ start: key.slice(0, 15), secret: unknown.secret })}`),
    'a wrong checksum': bearer(`Bearer ${mistyped(key)}`),
    'a key with more behind it': bearer(`Bearer ${key}0`),
    'two keys': bearer(`Bearer ${key} ${key}`),
    'a key in other letters': bearer(`Bearer ${key.toUpperCase()}`),
    'a key of another prefix': bearer(`Bearer ${generateKey('xk').text}`),
    'half a static key': bearer(`Bearer ${STATIC.slice(0, -1)}`),
    'an unsigned token': bearer('Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'),
    'the name of a prototype': bearer('Bearer __proto__'),
    'an SQL injection': bearer("Bearer '||'1'='1"),
    'a very long token': bearer(`Bearer ${'x'.repeat(8000)}`)
  }
  t.equal(routes.length, 15 * (METHODS.length - 1), 'each path with every method but CONNECT')
  // One hook looks at keys, whatever the route, so a few routes will do for most ways.
  const some = routes.filter(({ method, url }) => SOME.includes(`${method} ${url}`))
  t.equal(some.length, SOME.length)
  queries = []
  const open: string[] = []
  for (const [ways, challenge, code] of [
    [none, PLAIN, 'unauthorized'],
    [wrong, INVALID, 'invalid_api_key']
  ] as const) {
    for (const [name, { headers = {}, query = '', payload = '{"name":' }] of Object.entries(ways)) {
      const bodies = new Set<string>()
      for (const { method, url } of EVERYWHERE.includes(name) || from('nightly') === false ? routes : some) {
        const response = await inject(app, method, url.replace(':id', ID) + query, {
          headers: { 'content-type': 'application/json', ...headers },
          payload
        })
        const body = method === 'HEAD' ? { code } : response.json()
        if (
          response.statusCode !== 401 ||
          response.headers['www-authenticate'] !== challenge ||
          response.headers['cache-control'] !== 'no-store' ||
          body.code !== code
        ) { open.push(`${name}: ${method} ${url} ${response.statusCode}`) }
        if (method !== 'HEAD') bodies.add(JSON.stringify({ ...body, requestId: '' }))
      }
      if (bodies.size !== 1) open.push(`${name}: answers differ`)
    }
  }
  t.strictSame(open, [])
  t.strictSame([...new Set(queries)], [], 'no user and no list of keys was looked up')
})

test('refuses repeated, folded, broken and smuggled header fields', async (t) => {
  const { app, key } = await testApp(t, { apiKeys: { routes: true } })
  const port = await listen(app)
  const unknown = generateKey('uk').text
  const send = (lines: readonly string[], body = '') =>
    rawRequest(
      port,
      ['POST /v1/users HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/json', ...lines],
      body
    )
  const good = `Authorization: Bearer ${key}`
  const INVALID_KEY = /^HTTP\/1\.1 401 .*invalid_api_key/s
  const REFUSED = /^HTTP\/1\.1 (?:400|401) /
  const refused: Array<readonly [lines: readonly string[], answer: RegExp]> = [
    [[good, good], INVALID_KEY],
    [['Authorization: Basic x', good], INVALID_KEY],
    [[`${good}\xe9`], INVALID_KEY],
    [[`Proxy-${good}`], /^HTTP\/1\.1 401 .*"unauthorized"/s],
    [[good, `authorization: Bearer ${unknown}`], REFUSED],
    [[`Authorization: Bearer ${unknown}`, good], REFUSED],
    [[good, 'Authorization: '], REFUSED],
    [[`X-A: 1\r\n ${good}`], REFUSED],
    [[`Authorization: Bearer\r\n ${key}`], REFUSED],
    [[`Authorization: Bearer ${key.slice(0, 20)}\0${key.slice(20)}`], REFUSED],
    [[`X-A: 1\n${good}\rX-B: 2`], REFUSED],
    [[`Auth\u00f6rization: Bearer ${key}`], REFUSED],
  ]
  for (const [lines, expected] of refused) {
    const answer = await send([...lines, 'Content-Length: 2'], '{}')
    t.match(answer, expected, JSON.stringify(lines).replaceAll(key, 'KEY').replaceAll(unknown, 'ANOTHER'))
    t.notMatch(answer, /validation_failed/, 'the body was not read')
  }
  const spaced = await send([`AUTHORIZATION:\t Bearer ${key}  `, 'Content-Length: 2'], '{}')
  t.match(spaced, /validation_failed/, 'white space around a field is no part of it')
  // Without a key, the request is refused by its headers, however they announce the body.
  for (const lines of [
    ['Content-Length: 10000000'],
    ['Transfer-Encoding: chunked'],
    ['Expect: 100-continue', 'Content-Length: 10000000']
  ]) {
    t.match(await send(lines, '1\r\n{\r\n0\r\n\r\n'), /^HTTP\/1\.1 401 /, lines.join())
  }
  const both = await send(
    [good, 'Content-Length: 2', 'Transfer-Encoding: chunked'],
    '0\r\n\r\nGET /v1/users HTTP/1.1\r\nHost: x\r\n\r\n'
  )
  t.match(both, /^HTTP\/1\.1 400 /, 'a request with two lengths is malformed')
  t.equal((await app.users.list()).meta.total, 0)
})

test('refuses a request whose key is revoked while its body is arriving', async (t) => {
  const { app } = await testApp(t, { apiKeys: { routes: true } })
  const port = await listen(app)
  const { id: other } = await app.users.apiKeys.create({ name: 'other', scopes: ['users:read'] })
  const length = (body: string) => [`Content-Length: ${body.length}`, body.slice(0, 5), body.slice(5)] as const
  const rows: Array<readonly [path: string, field: string, first: string, rest: string]> = [
    ['/v1/api-keys', ...length('{"name":"x","scopes":["keys:write"],"expiresAt":null}')],
    ['/v1/users', ...length('{"name":"A","email":"a@example.org"}')],
    // An empty body whose last chunk has not arrived.
    [`/v1/api-keys/${other}/rotate`, 'Transfer-Encoding: chunked', '0\r\n', '\r\n']
  ]
  for (const [path, field, first, rest] of rows) {
    const { id, key } = await app.users.apiKeys.create({ name: 'leaked', scopes: ALL_SCOPES })
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ` +
        `${key}\r\nContent-Type: application/json\r\n${field}\r\n\r\n${first}`
    )
    // The use is recorded after the key was accepted.
    await until('recording the use of the key', async () => {
      return (await app.users.apiKeys.get(id)).lastUsedAt !== undefined
    })
    await app.users.apiKeys.revoke(id)
    socket.write(rest)
    t.match(await nextEvent(socket, 'data'), /^HTTP\/1\.1 401 /, path)
    socket.destroy()
  }
  t.strictSame([(await app.users.list()).meta.total, (await app.users.apiKeys.list()).meta.total], [0, 5])
})
