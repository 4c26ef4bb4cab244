// The operations of contract §2, with their statuses, headers, bodies and errors, on every storage under every kind of prefix.
import { test, type Test } from 'tap'
import { errorTable, type ErrorCode } from '../lib/core/error-table.ts'
import { type Call, inject, testApp } from './helpers/app.ts'
import { stores } from './helpers/stores.ts'

const prefixes = ['/v1', '', '/api/users/v2', '/tenants/:tenant/v1']
const USER_ID = /^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UNKNOWN = 'usr_01h455vb4pex5vsknk084sn02q'
const JSON_TYPE = 'application/json; charset=utf-8'

interface Ann { id: string, name: string, email: string, createdAt: string, updatedAt: string }
interface Case {
  name: string
  method: string
  path: (ann: Ann) => string
  headers?: Record<string, string>
  body?: unknown
  status: number
  /** The whole body, or what of the problem details is not fixed by the code. */
  is?: (ann: Ann) => unknown
  code?: ErrorCode
  errors?: unknown
  has?: Record<string, string | undefined>
}

const list = () => '/users'
const one = ({ id }: Ann) => `/users/${id}`
const at = (id: string) => () => `/users/${id}`
const ann = { name: 'Ann', email: 'Ann@Example.org' }
const bob = { name: 'Bob', email: 'bob@example.org' }
const jsonHeaders = { 'content-type': 'application/json' }

const cases: Case[] = [
  { name: 'a user', method: 'GET', path: one, status: 200, is: (user) => user, has: { etag: '"1"', 'content-type': JSON_TYPE, link: undefined } },
  { name: 'an unknown user', method: 'GET', path: at(UNKNOWN), status: 404, code: 'user_not_found', has: { etag: undefined } },
  { name: 'an id of another form', method: 'GET', path: at('42'), status: 404, code: 'user_not_found' },
  { name: 'an id in upper case', method: 'GET', path: ({ id }) => `/users/${id.toUpperCase()}`, status: 404, code: 'user_not_found' },
  { name: 'an id with NUL', method: 'GET', path: at('usr_%00'), status: 404, code: 'user_not_found' },
  { name: 'a query parameter on one user', method: 'GET', path: ({ id }) => `/users/${id}?x=1`, status: 400, code: 'validation_failed', errors: [{ parameter: 'x', code: 'unknown', detail: 'is not a known parameter' }] },
  { name: 'an unknown path', method: 'GET', path: () => '/users/a/b', status: 404, code: 'not_found' },
  { name: 'not modified', method: 'GET', path: one, headers: { 'if-none-match': '"7", W/"1"' }, status: 304, is: () => '', has: { etag: '"1"', 'content-type': undefined } },
  { name: 'not modified, any', method: 'GET', path: one, headers: { 'if-none-match': '*' }, status: 304, is: () => '', has: { etag: '"1"' } },
  { name: 'modified', method: 'GET', path: one, headers: { 'if-none-match': '"2", "abc", "01"' }, status: 200, is: (user) => user },
  { name: 'a read under another version', method: 'GET', path: one, headers: { 'if-match': '"2"' }, status: 412, code: 'precondition_failed' },
  { name: 'a read under its version', method: 'GET', path: one, headers: { 'if-match': '"1"' }, status: 200, is: (user) => user },
  { name: 'a read if it exists', method: 'GET', path: one, headers: { 'if-match': '*' }, status: 200, is: (user) => user },
  { name: 'a precondition of another form', method: 'GET', path: one, headers: { 'if-none-match': '1' }, status: 400, code: 'validation_failed', errors: [{ header: 'if-none-match', code: 'format', detail: 'must be * or a list of entity tags' }] },
  ...[',', '"1" "2"', '"1"x', '"a b"', '*, "1"', 'w/"1"'].map((tags): Case => ({ name: `the precondition ${tags}`, method: 'GET', path: one, headers: { 'if-match': tags }, status: 400, code: 'validation_failed', errors: [{ header: 'if-match', code: 'format', detail: 'must be * or a list of entity tags' }] })),
  { name: 'the list', method: 'GET', path: list, status: 200, is: (user) => ({ data: [user], meta: { page: 1, limit: 20, total: 1 } }), has: { 'content-type': JSON_TYPE, etag: undefined } },

  { name: 'a taken address', method: 'POST', path: list, body: { name: 'Other', email: 'aNN@eXAMPLE.ORG' }, status: 409, code: 'email_taken', errors: [{ pointer: '/email', code: 'taken', detail: 'must be unique' }] },
  { name: 'a creation without members', method: 'POST', path: list, body: {}, status: 400, code: 'validation_failed', errors: [{ pointer: '/name', code: 'required', detail: 'is required' }, { pointer: '/email', code: 'required', detail: 'is required' }] },
  { name: 'a creation with wrong types', method: 'POST', path: list, body: { name: 5, email: ['a@b.co'] }, status: 400, code: 'validation_failed', errors: [{ pointer: '/name', code: 'type', detail: 'must be a string' }, { pointer: '/email', code: 'type', detail: 'must be a string' }] },
  { name: 'a creation with a member too many', method: 'POST', path: list, body: { ...bob, 'ro/le~': 1 }, status: 400, code: 'validation_failed', errors: [{ pointer: '/ro~1le~0', code: 'unknown', detail: 'is not a known member' }] },
  { name: 'every fault at once', method: 'POST', path: () => '/users?x=1', body: { name: ' ', email: 'b@', id: UNKNOWN }, status: 400, code: 'validation_failed', errors: [{ parameter: 'x', code: 'unknown', detail: 'is not a known parameter' }, { pointer: '/id', code: 'unknown', detail: 'is not a known member' }, { pointer: '/name', code: 'too_short', detail: 'must not be empty' }, { pointer: '/email', code: 'format', detail: 'must be an e-mail address' }] },
  { name: 'a creation that is no object', method: 'POST', path: list, body: [bob], status: 400, code: 'validation_failed', errors: [{ pointer: '', code: 'type', detail: 'must be an object' }] },
  { name: 'a creation without a body', method: 'POST', path: list, status: 400, code: 'validation_failed', errors: [{ pointer: '', code: 'type', detail: 'must be an object' }] },
  { name: 'a creation with an empty body', method: 'POST', path: list, headers: jsonHeaders, body: '', status: 400, code: 'validation_failed', errors: [{ pointer: '', code: 'type', detail: 'must be an object' }] },
  { name: 'malformed JSON', method: 'POST', path: list, headers: jsonHeaders, body: '{"name":', status: 400, code: 'malformed_json' },
  { name: 'bytes that are not UTF-8', method: 'POST', path: list, headers: jsonHeaders, body: Buffer.from('{"name":"\xff","email":"b@c.de"}', 'latin1'), status: 400, code: 'malformed_json' },
  { name: 'a poisoned prototype', method: 'POST', path: list, headers: jsonHeaders, body: '{"name":"B","email":"b@c.de","__proto__":{"x":1}}', status: 400, code: 'validation_failed', errors: [{ pointer: '', code: 'forbidden', detail: 'must not have members named __proto__ or constructor.prototype' }] },
  { name: 'a poisoned constructor', method: 'POST', path: list, headers: jsonHeaders, body: '{"name":"B","email":"b@c.de","constructor":{"prototype":{}}}', status: 400, code: 'validation_failed', errors: [{ pointer: '', code: 'forbidden', detail: 'must not have members named __proto__ or constructor.prototype' }] },
  { name: 'a body of 16 KiB and a byte', method: 'POST', path: list, headers: jsonHeaders, body: ' '.repeat(16 * 1024 + 1), status: 413, code: 'body_too_large' },
  { name: 'another media type', method: 'POST', path: list, headers: { 'content-type': 'text/plain' }, body: '{}', status: 415, code: 'unsupported_media_type', has: { accept: 'application/json' } },
  { name: 'merge patch where it has no meaning', method: 'POST', path: list, headers: { 'content-type': 'application/merge-patch+json' }, body: '{}', status: 415, code: 'unsupported_media_type' },
  { name: 'no media type', method: 'POST', path: list, body: Buffer.from('{}'), headers: {}, status: 415, code: 'unsupported_media_type' },
  { name: 'a media type that is none', method: 'POST', path: list, headers: { 'content-type': 'json' }, body: '{}', status: 415, code: 'unsupported_media_type' },
  { name: 'another charset', method: 'POST', path: list, headers: { 'content-type': 'application/json; charset=utf-16' }, body: '{}', status: 415, code: 'unsupported_media_type' },
  { name: 'a content coding', method: 'POST', path: list, headers: { ...jsonHeaders, 'content-encoding': 'gzip' }, body: '{}', status: 415, code: 'unsupported_media_type', has: { 'accept-encoding': 'identity' } },

  { name: 'an empty patch', method: 'PATCH', path: one, body: {}, status: 200, is: (user) => user, has: { etag: '"1"' } },
  { name: 'a patch that changes nothing', method: 'PATCH', path: one, body: ann, status: 200, is: (user) => user, has: { etag: '"1"' } },
  { name: 'a patch with the same id', method: 'PATCH', path: one, body: { ...ann, id: 'self' }, status: 200, is: (user) => user },
  { name: 'a patch with another id', method: 'PATCH', path: one, body: { id: UNKNOWN }, status: 400, code: 'validation_failed', errors: [{ pointer: '/id', code: 'mismatch', detail: 'must be the id of the path' }] },
  { name: 'a patch to null', method: 'PATCH', path: one, body: { name: null, email: null }, status: 400, code: 'validation_failed', errors: [{ pointer: '/name', code: 'type', detail: 'must be a string' }, { pointer: '/email', code: 'type', detail: 'must be a string' }] },
  { name: 'a patch of times', method: 'PATCH', path: one, body: { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '' }, status: 400, code: 'validation_failed', errors: [{ pointer: '/createdAt', code: 'unknown', detail: 'is not a known member' }, { pointer: '/updatedAt', code: 'unknown', detail: 'is not a known member' }] },
  { name: 'a patch that is no object', method: 'PATCH', path: one, body: 'null', headers: jsonHeaders, status: 400, code: 'validation_failed', errors: [{ pointer: '', code: 'type', detail: 'must be an object' }] },
  { name: 'a patch under another version', method: 'PATCH', path: one, headers: { 'if-match': '"2"' }, body: { name: 'X' }, status: 412, code: 'precondition_failed' },
  { name: 'an empty patch under another version', method: 'PATCH', path: one, headers: { 'if-match': '"2"' }, body: {}, status: 412, code: 'precondition_failed' },
  { name: 'a patch under a weak tag', method: 'PATCH', path: one, headers: { 'if-match': 'W/"1"' }, body: { name: 'X' }, status: 412, code: 'precondition_failed' },
  { name: 'a patch unless it exists', method: 'PATCH', path: one, headers: { 'if-none-match': '*' }, body: { name: 'X' }, status: 412, code: 'precondition_failed' },
  { name: 'a patch unless it has its version', method: 'PATCH', path: one, headers: { 'if-none-match': '"1"' }, body: { name: 'X' }, status: 412, code: 'precondition_failed' },
  { name: 'an empty patch under its version', method: 'PATCH', path: one, headers: { 'if-match': ', "9" ,, "1"', 'if-none-match': '"2"' }, body: {}, status: 200, is: (user) => user },
  { name: 'a patch of an unknown user', method: 'PATCH', path: at(UNKNOWN), headers: { 'if-match': '*' }, body: { name: 'X' }, status: 404, code: 'user_not_found' },
  { name: 'a patch of no id', method: 'PATCH', path: at('x'), body: { name: 'X' }, status: 404, code: 'user_not_found' },
  { name: 'a wrong patch of an unknown user', method: 'PATCH', path: at(UNKNOWN), body: { name: 5 }, status: 400, code: 'validation_failed', errors: [{ pointer: '/name', code: 'type', detail: 'must be a string' }] },
  { name: 'a patch with faults in every place', method: 'PATCH', path: ({ id }) => `/users/${id}?y`, headers: { 'if-match': 'x' }, body: { a: 1 }, status: 400, code: 'validation_failed', errors: [{ parameter: 'y', code: 'unknown', detail: 'is not a known parameter' }, { header: 'if-match', code: 'format', detail: 'must be * or a list of entity tags' }, { pointer: '/a', code: 'unknown', detail: 'is not a known member' }] },
  { name: 'a patch of another media type', method: 'PATCH', path: one, headers: { 'content-type': 'application/json-patch+json' }, body: '[]', status: 415, code: 'unsupported_media_type', has: { 'accept-patch': 'application/merge-patch+json, application/json' } },
  { name: 'a merge patch', method: 'PATCH', path: one, headers: { 'content-type': 'Application/Merge-Patch+JSON; charset="UTF-8"' }, body: '{}', status: 200, is: (user) => user },

  { name: 'a put without a member', method: 'PUT', path: one, body: { name: 'X' }, status: 400, code: 'validation_failed', errors: [{ pointer: '/email', code: 'required', detail: 'is required' }] },
  { name: 'a put that changes nothing', method: 'PUT', path: one, body: ann, status: 200, is: (user) => user, has: { etag: '"1"' } },
  { name: 'a put of an unknown user', method: 'PUT', path: at(UNKNOWN), body: bob, status: 404, code: 'user_not_found' },
  { name: 'a merge patch as a put', method: 'PUT', path: one, headers: { 'content-type': 'application/merge-patch+json' }, body: '{}', status: 415, code: 'unsupported_media_type' },

  { name: 'a deletion under another version', method: 'DELETE', path: one, headers: { 'if-match': '"2"' }, status: 412, code: 'precondition_failed' },
  { name: 'a deletion of an unknown user', method: 'DELETE', path: at(UNKNOWN), headers: { 'if-match': '"1"' }, status: 404, code: 'user_not_found' },
  { name: 'a deletion of no id', method: 'DELETE', path: at('x'), status: 404, code: 'user_not_found' },
  { name: 'a deletion with a body', method: 'DELETE', path: one, body: { soft: true }, status: 400, code: 'validation_failed', errors: [{ pointer: '/soft', code: 'unknown', detail: 'is not a known member' }] },
  { name: 'a deletion with a text', method: 'DELETE', path: one, headers: { 'content-type': 'text/plain' }, body: 'x', status: 415, code: 'unsupported_media_type' },
  { name: 'a deletion with a large body', method: 'DELETE', path: one, headers: jsonHeaders, body: ' '.repeat(20_000), status: 413, code: 'body_too_large' },

  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'].map((method): Case => ({ name: `${method} on the list`, method, path: list, status: 405, code: 'method_not_allowed', has: { allow: 'GET, HEAD, POST' } })),
  ...['POST', 'OPTIONS', 'TRACE', 'QUERY'].map((method): Case => ({ name: `${method} on a user`, method, path: one, status: 405, code: 'method_not_allowed', has: { allow: 'GET, HEAD, PATCH, PUT, DELETE' } }))
]

async function runCase (t: Test, call: Call, user: Ann, { name, method, path, headers = {}, body, status, is, code, errors, has = {} }: Case): Promise<void> {
  const payload = typeof body === 'object' && body !== null && !Buffer.isBuffer(body) ? JSON.parse(JSON.stringify(body).replace('"self"', `"${user.id}"`)) : body
  const response = await call(method, path(user), { headers, ...(payload !== undefined && { payload }) })
  const { requestId, ...problem } = code === undefined ? {} : response.json()
  const row = code === undefined ? undefined : errorTable[code]
  const expected = row === undefined
    ? is?.(user)
    : { type: `urn:problem:fastify-users:${code}`, title: row.title, status, code, detail: row.detail, ...(errors !== undefined && { errors }) }
  const actual = row !== undefined ? problem : response.body === '' ? '' : response.json()
  const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...(row !== undefined && { 'content-type': 'application/problem+json; charset=utf-8' }) }
  const wanted = { ...common, ...has }
  const received = Object.fromEntries(Object.keys(wanted).map((header) => [header, response.headers[header]]))
  t.strictSame([response.statusCode, actual, received, typeof requestId], [status, expected, wanted, row === undefined ? 'undefined' : 'string'], `${method}: ${name}`)
}

for (const store of stores) {
  for (const pattern of prefixes) {
    test(`${store.name} under '${pattern}'`, async (t) => {
      const { call: request, app, prefix, key } = await testApp(t, { storage: await store.create(t), prefix: pattern })

      const created = await request('POST', '/users', { payload: { name: '  Ann\t', email: ' Ann@Example.org ' } })
      const user = created.json()
      t.equal(created.statusCode, 201)
      t.match(user, { id: USER_ID, name: 'Ann', email: 'Ann@Example.org', createdAt: TIME, updatedAt: user.createdAt })
      t.strictSame(Object.keys(user), ['id', 'name', 'email', 'createdAt', 'updatedAt'])
      t.equal(created.headers.location, `${prefix}/users/${user.id}`)
      t.equal(created.headers.etag, '"1"')
      t.equal((await inject(app, 'GET', String(created.headers.location), { headers: { authorization: `Bearer ${key}` } })).body, created.body, 'Location leads to the user')

      // At the root unknown paths are the host's.
      for (const item of cases.filter(({ code }) => pattern !== '' || code !== 'not_found')) await runCase(t, request, user, item)

      for (const path of ['/users', `/users/${user.id}`, `/users/${UNKNOWN}`]) {
        const [get, head] = [await request('GET', path), await request('HEAD', path)]
        const { date: _a, ...getHeaders } = get.headers
        const { date: _b, ...headHeaders } = head.headers
        t.strictSame([head.statusCode, head.body, headHeaders], [get.statusCode, '', getHeaders], `HEAD ${path} is GET without the body`)
      }

      const changed = await request('PATCH', `/users/${user.id}`, { payload: { name: 'Anna' }, headers: { 'if-match': '"1"' } })
      t.equal(changed.statusCode, 200)
      t.equal(changed.headers.etag, '"2"')
      t.match(changed.json(), { ...user, name: 'Anna', updatedAt: TIME })
      t.ok(changed.json().updatedAt >= user.updatedAt)
      const put = await request('PUT', `/users/${user.id}`, { payload: { name: 'Ann', email: 'ANN@example.org', id: user.id } })
      t.strictSame([put.statusCode, put.headers.etag, put.json().email], [200, '"3"', 'ANN@example.org'], 'a user may change the case of its own address')
      await request('POST', '/users', { payload: bob })
      t.equal((await request('PATCH', `/users/${user.id}`, { payload: { email: 'BOB@EXAMPLE.ORG' } })).json().code, 'email_taken')

      const gone = await request('DELETE', `/users/${user.id}`, { headers: { ...jsonHeaders, 'if-match': '"3"' }, payload: '{}' })
      t.strictSame([gone.statusCode, gone.body, gone.headers['content-type']], [204, '', undefined])
      t.equal((await request('DELETE', `/users/${user.id}`, { headers: jsonHeaders })).statusCode, 404, 'deleted for good')
      const again = await request('POST', '/users', { payload: ann })
      t.equal(again.statusCode, 201, 'the address is free again')
      t.not(again.json().id, user.id)
    })
  }
}
