// Contract §2: replacements, deletions and methods that are not allowed.
import { METHODS } from 'node:http'
import { ann, at, bob, type Case, jsonHeaders, list, one, testCases, UNKNOWN } from '../helpers/contract.ts'

/** Every other method that Node.js parses. CONNECT opens tunnels, and never reaches a router. */
const methodsBut = (...allowed: string[]) => METHODS.filter((method) => ![...allowed, 'CONNECT'].includes(method))

testCases('answers replacements, deletions and other methods', [
  {
    name: 'a put without a member',
    method: 'PUT',
    path: one,
    body: { name: 'X' },
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '/email', code: 'required', detail: 'is required' }]
  },
  {
    name: 'a put of a part',
    method: 'PUT',
    path: one,
    headers: { 'content-range': 'bytes 0-10/100' },
    body: bob,
    status: 400,
    code: 'validation_failed',
    errors: [{ header: 'content-range', code: 'forbidden', detail: 'must not be sent: a user is replaced whole' }]
  },
  {
    name: 'a put that changes nothing',
    method: 'PUT',
    path: one,
    body: ann,
    status: 200,
    is: (user) => user,
    has: { etag: '"1"' }
  },
  {
    name: 'a put of an unknown user',
    method: 'PUT',
    path: at(UNKNOWN),
    body: bob,
    status: 404,
    code: 'user_not_found'
  },
  {
    name: 'a merge patch as a put',
    method: 'PUT',
    path: one,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'a deletion under another version',
    method: 'DELETE',
    path: one,
    headers: { 'if-match': '"2"' },
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'a deletion of an unknown user',
    method: 'DELETE',
    path: at(UNKNOWN),
    headers: { 'if-match': '"1"' },
    status: 404,
    code: 'user_not_found'
  },
  { name: 'a deletion of a malformed id', method: 'DELETE', path: at('x'), status: 404, code: 'user_not_found' },
  {
    name: 'a deletion with a body',
    method: 'DELETE',
    path: one,
    body: { soft: true },
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '/soft', code: 'unknown', detail: 'is not a known member' }]
  },
  {
    name: 'a deletion with a text',
    method: 'DELETE',
    path: one,
    headers: { 'content-type': 'text/plain' },
    body: 'x',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'a deletion with a large body',
    method: 'DELETE',
    path: one,
    headers: jsonHeaders,
    body: ' '.repeat(20_000),
    status: 413,
    code: 'body_too_large'
  },
  ...methodsBut('GET', 'HEAD', 'POST').map((method): Case => ({
    name: `${method} on the list`,
    method,
    path: list,
    status: 405,
    code: 'method_not_allowed',
    has: { allow: 'GET, HEAD, POST' }
  })),
  ...methodsBut('GET', 'HEAD', 'PATCH', 'PUT', 'DELETE').map((method): Case => ({
    name: `${method} on a user`,
    method,
    path: one,
    status: 405,
    code: 'method_not_allowed',
    has: { allow: 'GET, HEAD, PATCH, PUT, DELETE' }
  }))
])
