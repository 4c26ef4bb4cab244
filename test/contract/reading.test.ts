// Contract §2: reading users and their list.
import { at, type Case, JSON_TYPE, list, one, testCases, UNKNOWN } from '../helpers/contract.ts'

testCases('answers reads', [
  {
    name: 'a user',
    method: 'GET',
    path: one,
    status: 200,
    is: (user) => user,
    has: { etag: '"1"', 'content-type': JSON_TYPE, link: undefined }
  },
  {
    name: 'an unknown user',
    method: 'GET',
    path: at(UNKNOWN),
    status: 404,
    code: 'user_not_found',
    has: { etag: undefined }
  },
  { name: 'a malformed id', method: 'GET', path: at('42'), status: 404, code: 'user_not_found' },
  {
    name: 'an id in upper case',
    method: 'GET',
    path: ({ id }) => `/users/${id.toUpperCase()}`,
    status: 404,
    code: 'user_not_found'
  },
  { name: 'an id with NUL', method: 'GET', path: at('usr_%00'), status: 404, code: 'user_not_found' },
  {
    name: 'a query parameter on one user',
    method: 'GET',
    path: ({ id }) => `/users/${id}?x=1`,
    status: 400,
    code: 'validation_failed',
    errors: [{ parameter: 'x', code: 'unknown', detail: 'is not a known parameter' }]
  },
  { name: 'an unknown path', method: 'GET', path: () => '/users/a/b', status: 404, code: 'not_found' },
  {
    name: 'not modified',
    method: 'GET',
    path: one,
    headers: { 'if-none-match': '"7", W/"1"' },
    status: 304,
    is: () => '',
    has: { etag: '"1"', 'content-type': undefined }
  },
  {
    name: 'not modified, any',
    method: 'GET',
    path: one,
    headers: { 'if-none-match': '*' },
    status: 304,
    is: () => '',
    has: { etag: '"1"' }
  },
  {
    name: 'modified',
    method: 'GET',
    path: one,
    headers: { 'if-none-match': '"2", "abc", "01"' },
    status: 200,
    is: (user) => user
  },
  {
    name: 'a read under another version',
    method: 'GET',
    path: one,
    headers: { 'if-match': '"2"' },
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'a read under its version',
    method: 'GET',
    path: one,
    headers: { 'if-match': '"1"' },
    status: 200,
    is: (user) => user
  },
  {
    name: 'a read if it exists',
    method: 'GET',
    path: one,
    headers: { 'if-match': '*' },
    status: 200,
    is: (user) => user
  },
  {
    name: 'a malformed precondition',
    method: 'GET',
    path: one,
    headers: { 'if-none-match': '1' },
    status: 400,
    code: 'validation_failed',
    errors: [{ header: 'if-none-match', code: 'format', detail: 'must be * or a list of entity tags' }]
  },
  ...[',', '"1" "2"', '"1"x', '"a b"', '*, "1"', 'w/"1"'].map((tags): Case => ({
    name: `the precondition ${tags}`,
    method: 'GET',
    path: one,
    headers: { 'if-match': tags },
    status: 400,
    code: 'validation_failed',
    errors: [{ header: 'if-match', code: 'format', detail: 'must be * or a list of entity tags' }]
  })),
  {
    name: 'the list',
    method: 'GET',
    path: list,
    status: 200,
    is: (user) => ({ data: [user], meta: { page: 1, limit: 20, total: 1 } }),
    has: { 'content-type': JSON_TYPE, etag: undefined }
  }
])
