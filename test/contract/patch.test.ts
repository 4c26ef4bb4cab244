// Contract §2: updates by PATCH.
import { ann, at, jsonHeaders, one, testCases, UNKNOWN } from '../helpers/contract.ts'

testCases('answers patches', [
  {
    name: 'an empty patch',
    method: 'PATCH',
    path: one,
    body: {},
    status: 200,
    is: (user) => user,
    has: { etag: '"1"' }
  },
  {
    name: 'a patch that changes nothing',
    method: 'PATCH',
    path: one,
    body: ann,
    status: 200,
    is: (user) => user,
    has: { etag: '"1"' }
  },
  {
    name: 'a patch with the same id',
    method: 'PATCH',
    path: one,
    body: { ...ann, id: 'self' },
    status: 200,
    is: (user) => user
  },
  {
    name: 'a patch with another id',
    method: 'PATCH',
    path: one,
    body: { id: UNKNOWN },
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '/id', code: 'immutable', detail: 'must be the id of the path' }]
  },
  {
    name: 'a patch to null',
    method: 'PATCH',
    path: one,
    body: { name: null, email: null },
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '/name', code: 'type', detail: 'must be a string' },
      { pointer: '/email', code: 'type', detail: 'must be a string' }
    ]
  },
  {
    name: 'a patch of times',
    method: 'PATCH',
    path: one,
    body: { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '' },
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '/createdAt', code: 'immutable', detail: 'must be as it is stored, or left out: it can’t be set' },
      { pointer: '/updatedAt', code: 'immutable', detail: 'must be as it is stored, or left out: it can’t be set' }
    ]
  },
  {
    name: 'a patch of another version',
    method: 'PATCH',
    path: one,
    body: { version: 2, name: 'X' },
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '/version', code: 'immutable', detail: 'must be as it is stored, or left out: it can’t be set' }
    ]
  },
  {
    name: 'a patch of another version under another version',
    method: 'PATCH',
    path: one,
    headers: { 'if-match': '"2"' },
    body: { version: 2, name: 'X' },
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'a patch of times of an unknown user',
    method: 'PATCH',
    path: at(UNKNOWN),
    body: { createdAt: '2026-01-01T00:00:00.000Z' },
    status: 404,
    code: 'user_not_found'
  },
  {
    name: 'a patch that is no object',
    method: 'PATCH',
    path: one,
    body: 'null',
    headers: jsonHeaders,
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '', code: 'type', detail: 'must be an object' }]
  },
  {
    name: 'a patch under another version',
    method: 'PATCH',
    path: one,
    headers: { 'if-match': '"2"' },
    body: { name: 'X' },
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'an empty patch under another version',
    method: 'PATCH',
    path: one,
    headers: { 'if-match': '"2"' },
    body: {},
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'a patch under a weak tag',
    method: 'PATCH',
    path: one,
    headers: { 'if-match': 'W/"1"' },
    body: { name: 'X' },
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'a patch unless it exists',
    method: 'PATCH',
    path: one,
    headers: { 'if-none-match': '*' },
    body: { name: 'X' },
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'a patch unless it has its version',
    method: 'PATCH',
    path: one,
    headers: { 'if-none-match': '"1"' },
    body: { name: 'X' },
    status: 412,
    code: 'precondition_failed'
  },
  {
    name: 'an empty patch under its version',
    method: 'PATCH',
    path: one,
    headers: { 'if-match': ', "9" ,, "1"', 'if-none-match': '"2"' },
    body: {},
    status: 200,
    is: (user) => user
  },
  {
    name: 'a patch of an unknown user',
    method: 'PATCH',
    path: at(UNKNOWN),
    headers: { 'if-match': '*' },
    body: { name: 'X' },
    status: 404,
    code: 'user_not_found'
  },
  {
    name: 'a patch of a malformed id',
    method: 'PATCH',
    path: at('x'),
    body: { name: 'X' },
    status: 404,
    code: 'user_not_found'
  },
  {
    name: 'a wrong patch of an unknown user',
    method: 'PATCH',
    path: at(UNKNOWN),
    body: { name: 5 },
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '/name', code: 'type', detail: 'must be a string' }]
  },
  {
    name: 'a patch with faults in every place',
    method: 'PATCH',
    path: ({ id }) => `/users/${id}?y`,
    headers: { 'if-match': 'x' },
    body: { a: 1 },
    status: 400,
    code: 'validation_failed',
    errors: [
      { parameter: 'y', code: 'unknown', detail: 'is not a known parameter' },
      { header: 'if-match', code: 'format', detail: 'must be * or a list of entity tags' },
      { pointer: '/a', code: 'unknown', detail: 'is not a known member' }
    ]
  },
  {
    name: 'a patch of another media type',
    method: 'PATCH',
    path: one,
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[]',
    status: 415,
    code: 'unsupported_media_type',
    has: { 'accept-patch': 'application/merge-patch+json, application/json' }
  },
  {
    name: 'a merge patch',
    method: 'PATCH',
    path: one,
    headers: { 'content-type': 'Application/Merge-Patch+JSON; charset="UTF-8"' },
    body: '{}',
    status: 200,
    is: (user) => user
  }
])
