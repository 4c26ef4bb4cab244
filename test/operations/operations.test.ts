import { test } from 'tap'
import { integerParameter } from '../../lib/core/parameters.ts'
import { CALLER } from '../../lib/http/caller.ts'
import { NO_LIMITS } from '../../lib/http/limits/concurrency-limit.ts'
import { collectionPath, handlerOf, queryFaults, typedParameters } from '../../lib/operations/route.ts'
import type { Operation } from '../../lib/operations/operation.ts'

const BELOW = ['', '/:id', '/:id/rotate']

/** The path of `users` under a prefix, for a request of this URL. */
function pathOf (prefix: string, url: string, below = 0, useSemicolonDelimiter = false): string {
  return collectionPath(prefix, `/users${BELOW[below]}`, useSemicolonDelimiter)({ url })
}

test('under a fixed prefix the path of a collection does not depend on the request', async (t) => {
  t.equal(pathOf('/v1', '//evil.example/users'), '/v1/users')
  t.equal(pathOf('/v1', '/V1/users/x', 1), '/v1/users')
  t.equal(pathOf('', '/users'), '/users')
})

test('under a prefix with parameters it is that of the request, without query and lower segments', async (t) => {
  const rows: Array<[url: string, below: number, path: string]> = [
    ['/t/acme/users', 0, '/t/acme/users'],
    ['/t/acme/users?page=2', 0, '/t/acme/users'],
    ['/t/acme/users?a=/b/c', 0, '/t/acme/users'],
    ['/t/acme/users/', 0, '/t/acme/users'],
    ['/t/acme/users/usr_1', 1, '/t/acme/users'],
    ['/t/acme/users/usr_1/', 1, '/t/acme/users'],
    ['/t/acme/users/usr_1/rotate?x', 2, '/t/acme/users'],
    ['/t/a%2Fb%20c/users', 0, '/t/a%2Fb%20c/users']
  ]
  for (const [url, below, path] of rows) t.equal(pathOf('/t/:tenant', url, below), path, url)
  t.equal(pathOf('/*', '/t/users?x'), '/t/users', 'a wildcard is a parameter too')
})

test('a semicolon ends the path only where the host made it the delimiter', async (t) => {
  t.equal(pathOf('/:tenant', '/a;b/users;page=2'), '/a;b/users;page=2')
  t.equal(pathOf('/:tenant', '/a/users;page=2', 0, true), '/a/users')
})

test('slashes are single, so that no path leads to another host', async (t) => {
  t.equal(pathOf('/:tenant', '//evil.example//users'), '/evil.example/users')
  t.equal(pathOf('/:tenant', '/\\evil.example/users'), '/%5Cevil.example/users')
})

test('characters that a path may not have are escaped (RFC 3986 section 3.3)', async (t) => {
  t.equal(pathOf('/:tenant', '/a"<>\\^`{|} ä😀/users'), '/a%22%3C%3E%5C%5E%60%7B%7C%7D%20%C3%A4%F0%9F%98%80/users')
  const allowed = "/-._~!$&'()*+,;=:@%41/users"
  t.equal(pathOf('/:tenant', allowed), allowed)
  t.equal(pathOf('/:tenant', '/a\r\nlink: x/users'), '/a%0D%0Alink:%20x/users', 'no header can be added')
  t.equal(pathOf('/:tenant', '/\ud800/users'), '/%EF%BF%BD/users', 'a lone surrogate does not throw')
})

test('handlers throw nothing but UsersError', async (t) => {
  const operation = {
    method: 'GET',
    path: '/users',
    scope: null,
    tag: 'users',
    operationId: 'x',
    summary: '',
    codes: [],
    success: { status: 200, description: '' }
  } as const
  const under = (handler: Operation['handler']) =>
    handlerOf({ ...operation, handler }, () => '', {
      useSemicolonDelimiter: false, limits: NO_LIMITS, tenants: false
    })
  const caller = { principal: { type: 'static_key', id: 'static:1', name: null, scopes: [] } }
  const [request, reply] = [Object({ url: '/users', [CALLER]: caller }), Object({ raw: {} })]
  const failing = under(async () => { throw new TypeError('a bug') })
  await t.rejects(failing(request, reply), { name: 'UsersError', code: 'internal', cause: { message: 'a bug' } })
  const throwing = under(() => { throw new TypeError('a bug') })
  await t.rejects(throwing(request, reply), { name: 'UsersError', code: 'internal' })
  t.equal(await under(async ({ reply }) => reply)(request, reply), reply)
})

test('an operation without parameters refuses each one, after the faults of the query itself', async (t) => {
  const faults = [{ parameter: 'b', code: 'duplicate', detail: 'x' }]
  t.strictSame(queryFaults({ pairs: [['b', '1'], ['a', '']], faults }, undefined), [
    ...faults,
    { parameter: 'b', code: 'unknown', detail: 'is not a known parameter' },
    { parameter: 'a', code: 'unknown', detail: 'is not a known parameter' }
  ])
  t.strictSame(queryFaults({ pairs: [], faults: [] }, undefined), [])
  t.strictSame(queryFaults({ pairs: [['a', '']], faults }, {}), faults, 'where there are parameters the service judges')
})

test('declared parameters get their type, and others stay text, whatever their name', async (t) => {
  const declared = { limit: integerParameter(1, 5, 1, '') }
  const pairs: Array<[string, string]> = [['limit', '2'], ['other', '3'], ['toString', '4'], ['__proto__', '5']]
  const query = typedParameters({ pairs, faults: [] }, declared)
  t.strictSame(Object.entries(query), [['limit', 2], ['other', '3'], ['toString', '4'], ['__proto__', '5']])
})
