// Contract §2: requests on users, and their whole answers.
import { METHODS } from 'node:http'
import type { ErrorCode } from '../../lib/core/error-table.ts'
import {
  ann, at, bob, type Case, JSON_TYPE, jsonHeaders, list, one, testCases, UNKNOWN
} from '../helpers/contract.ts'

type Path = Case['path']
type Headers = Record<string, string>
type Answer = Pick<Case, 'status' | 'is' | 'code' | 'detail' | 'errors' | 'has'>

const refused = (status: number, code: ErrorCode, has: Case['has'] = {}): Answer => ({ status, code, has })
const invalid = (...errors: object[]): Answer => ({ status: 400, code: 'validation_failed', errors })
const fault = (pointer: string, code: string, detail: string) => ({ pointer, code, detail })
const ofParameter = (parameter: string) => ({ parameter, code: 'unknown', detail: 'is not a known parameter' })
const unknown = (pointer: string) => fault(pointer, 'unknown', 'is not a known member')
const required = (pointer: string) => fault(pointer, 'required', 'is required')
const noText = (pointer: string) => fault(pointer, 'type', 'must be a string')
const immutable = (pointer: string) =>
  fault(pointer, 'immutable', 'must equal the stored value, or be left out: it can’t be set')
const noTags = (header: string) => ({ header, code: 'format', detail: 'must be * or a list of entity tags' })

const NO_OBJECT = invalid(fault('', 'type', 'must be an object'))
const POISONED = invalid(fault('', 'forbidden', 'must not have members named __proto__ or constructor.prototype'))
const NOBODY = refused(404, 'user_not_found')
const OTHER_VERSION = refused(412, 'precondition_failed')
const typed = (detail: string, has: Case['has'] = {}): Answer =>
  ({ ...refused(415, 'unsupported_media_type', has), detail })
const SEND = 'Send the request body in UTF-8, with Content-Type:'
const NO_MEDIA_TYPE = typed(`${SEND} application/json.`)
const MALFORMED = refused(400, 'malformed_json')
/** The user, whom nothing has changed. */
const SAME: Answer = { status: 200, is: (user) => user, has: { etag: '"1"' } }
const NOT_MODIFIED: Answer = { status: 304, is: () => '', has: { etag: '"1"', 'content-type': undefined } }

const get = (name: string, path: Path, headers: Headers, answer: Answer): Case =>
  ({ name, method: 'GET', path, headers, ...answer })
const post = (name: string, headers: Headers, body: unknown, answer: Answer): Case =>
  ({ name, method: 'POST', path: list, headers, body, ...answer })
const write = (method: string) => (name: string, path: Path, headers: Headers, body: unknown, answer: Answer): Case =>
  ({ name, method, path, headers, body, ...answer })
const patch = write('PATCH')
const put = write('PUT')
const remove = write('DELETE')

const withType = (type: string): Headers => ({ 'content-type': type })
const ifMatch = (tags: string): Headers => ({ 'if-match': tags })
const ifNoneMatch = (tags: string): Headers => ({ 'if-none-match': tags })
const MERGE_PATCH = 'application/merge-patch+json'

/** Every other method that Node.js parses, refused. CONNECT opens tunnels, and never reaches a router. */
const notAllowed = (path: Path, allowed: string): Case[] =>
  METHODS.filter((method) => ![...allowed.split(', '), 'CONNECT'].includes(method)).map((method): Case =>
    ({ name: 'a method that is not allowed', method, path, ...refused(405, 'method_not_allowed', { allow: allowed }) }))

const READS = [
  get('a user', one, {}, { ...SAME, has: { etag: '"1"', 'content-type': JSON_TYPE, link: undefined } }),
  get('an unknown user', at(UNKNOWN), {}, refused(404, 'user_not_found', { etag: undefined })),
  get('a malformed id', at('42'), {}, NOBODY),
  get('an id in upper case', ({ id }) => `/users/${id.toUpperCase()}`, {}, NOBODY),
  get('an id with NUL', at('usr_%00'), {}, NOBODY),
  get('a query parameter on one user', ({ id }) => `/users/${id}?x=1`, {}, invalid(ofParameter('x'))),
  get('an unknown path', () => '/users/a/b', {}, refused(404, 'not_found')),
  get('not modified', one, ifNoneMatch('"7", W/"1"'), NOT_MODIFIED),
  get('not modified, any', one, ifNoneMatch('*'), NOT_MODIFIED),
  get('modified', one, ifNoneMatch('"2", "abc", "01"'), SAME),
  get('a read under another version', one, ifMatch('"2"'), OTHER_VERSION),
  get('a read under its version', one, ifMatch('"1"'), SAME),
  get('a read if it exists', one, ifMatch('*'), SAME),
  get('a malformed precondition', one, ifNoneMatch('1'), invalid(noTags('if-none-match'))),
  ...[',', '"1" "2"', '"1"x', '"a b"', '*, "1"', 'w/"1"'].map((tags) =>
    get(`the precondition ${tags}`, one, ifMatch(tags), invalid(noTags('if-match')))),
  get('the list', list, {}, {
    status: 200,
    is: (user) => ({ data: [user], meta: { page: 1, limit: 20, total: 1 } }),
    has: { 'content-type': JSON_TYPE, etag: undefined }
  })
]

const CREATIONS = [
  post('a taken address', {}, { name: 'Other', email: 'aNN@eXAMPLE.ORG' },
    { status: 409, code: 'email_taken', errors: [fault('/email', 'taken', 'must be unique')] }),
  post('a creation without members', {}, {}, invalid(required('/name'), required('/email'))),
  post('a creation with wrong types', {}, { name: 5, email: ['a@b.co'] }, invalid(noText('/name'), noText('/email'))),
  post('a creation with a mistyped member', {}, { ...bob, satus: 'active' },
    invalid(fault('/satus', 'unknown', 'is not a known member; the nearest is status'))),
  post('a creation with a member too many', {}, { ...bob, 'ro/le~': 1 }, invalid(unknown('/ro~1le~0'))),
  {
    ...post('every fault together', {}, { name: ' ', email: 'b@', id: UNKNOWN }, invalid(
      ofParameter('x'), unknown('/id'), fault('/name', 'too_short', 'must not be empty'),
      fault('/email', 'format', 'must be an e-mail address: it has nothing after its @')
    )),
    path: () => '/users?x=1'
  },
  post('a creation that is no object', {}, [bob], NO_OBJECT),
  post('a creation without a body', {}, undefined, NO_OBJECT),
  post('a creation with an empty body', jsonHeaders, '', NO_OBJECT)
]

const UNREADABLE = [
  post('malformed JSON', jsonHeaders, '{"name":', MALFORMED),
  post('bytes that are not UTF-8', jsonHeaders, Buffer.from('{"name":"\xff","email":"b@c.de"}', 'latin1'), MALFORMED),
  post('a poisoned prototype', jsonHeaders, '{"name":"B","email":"b@c.de","__proto__":{"x":1}}', POISONED),
  post('a poisoned constructor', jsonHeaders, '{"name":"B","email":"b@c.de","constructor":{"prototype":{}}}', POISONED),
  post('a member twice', jsonHeaders, '{"name":"Ann","email":"b@c.de","name":"Bob"}',
    invalid(fault('', 'duplicate', 'must not have a member twice'))),
  post('a body of 16 KiB and a byte', jsonHeaders, ' '.repeat(16 * 1024 + 1), refused(413, 'body_too_large')),
  post('another media type', withType('text/plain'), '{}',
    typed(`${SEND} application/json.`, { accept: 'application/json' })),
  post('a merge patch as a creation', withType(MERGE_PATCH), '{}', NO_MEDIA_TYPE),
  post('no media type', {}, Buffer.from('{}'), NO_MEDIA_TYPE),
  post('a malformed media type', withType('json'), '{}', NO_MEDIA_TYPE),
  post('another charset', withType('application/json; charset=utf-16'), '{}', NO_MEDIA_TYPE),
  post('a content coding', { ...jsonHeaders, 'content-encoding': 'gzip' }, '{}',
    typed('Send the request body without a Content-Encoding.', { 'accept-encoding': 'identity' }))
]

const PATCHES = [
  patch('an empty patch', one, {}, {}, SAME),
  patch('a patch that changes nothing', one, {}, ann, SAME),
  patch('a patch with the same id', one, {}, { ...ann, id: 'self' }, SAME),
  patch('a patch with another id', one, {}, { id: UNKNOWN },
    invalid(fault('/id', 'immutable', 'must be the id in the path'))),
  patch('a patch to null', one, {}, { name: null, email: null }, invalid(noText('/name'), noText('/email'))),
  patch('a patch of times', one, {}, { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '' },
    invalid(immutable('/createdAt'), immutable('/updatedAt'))),
  patch('a patch of another version', one, {}, { version: 2, name: 'X' }, invalid(immutable('/version'))),
  patch('a patch of another version under another version', one, ifMatch('"2"'), { version: 2, name: 'X' },
    OTHER_VERSION),
  patch('a patch of times of an unknown user', at(UNKNOWN), {}, { createdAt: '2026-01-01T00:00:00.000Z' }, NOBODY),
  patch('a patch that is no object', one, jsonHeaders, 'null', NO_OBJECT),
  patch('a patch under another version', one, ifMatch('"2"'), { name: 'X' }, OTHER_VERSION),
  patch('an empty patch under another version', one, ifMatch('"2"'), {}, OTHER_VERSION),
  patch('a patch under a weak tag', one, ifMatch('W/"1"'), { name: 'X' }, OTHER_VERSION),
  patch('a patch unless it exists', one, ifNoneMatch('*'), { name: 'X' }, OTHER_VERSION),
  patch('a patch unless it has its version', one, ifNoneMatch('"1"'), { name: 'X' }, OTHER_VERSION),
  patch('an empty patch under its version', one, { ...ifMatch(', "9" ,, "1"'), ...ifNoneMatch('"2"') }, {}, SAME),
  patch('a patch of an unknown user', at(UNKNOWN), ifMatch('*'), { name: 'X' }, NOBODY),
  patch('a patch of a malformed id', at('x'), {}, { name: 'X' }, NOBODY),
  patch('a wrong patch of an unknown user', at(UNKNOWN), {}, { name: 5 }, invalid(noText('/name'))),
  patch('a patch with faults in every place', ({ id }) => `/users/${id}?y`, ifMatch('x'), { a: 1 },
    invalid(ofParameter('y'), noTags('if-match'), unknown('/a'))),
  patch('a patch of another media type', one, withType('application/json-patch+json'), '[]',
    typed(`${SEND} application/merge-patch+json or application/json.`,
      { 'accept-patch': 'application/merge-patch+json, application/json' })),
  patch('a merge patch', one, withType('Application/Merge-Patch+JSON; charset="UTF-8"'), '{}', SAME)
]

const REPLACEMENTS_AND_DELETIONS = [
  put('a put without a member', one, {}, { name: 'X' }, invalid(required('/email'))),
  put('a put of a part', one, { 'content-range': 'bytes 0-10/100' }, bob,
    invalid({
      header: 'content-range', code: 'forbidden', detail: 'must not be sent: a user can only be replaced completely'
    })),
  put('a put that changes nothing', one, {}, ann, SAME),
  put('a put of an unknown user', at(UNKNOWN), {}, bob, NOBODY),
  put('a merge patch as a put', one, withType(MERGE_PATCH), '{}', NO_MEDIA_TYPE),
  remove('a deletion under another version', one, ifMatch('"2"'), undefined, OTHER_VERSION),
  remove('a deletion of an unknown user', at(UNKNOWN), ifMatch('"1"'), undefined, NOBODY),
  remove('a deletion of a malformed id', at('x'), {}, undefined, NOBODY),
  remove('a deletion with a body', one, {}, { soft: true }, invalid(unknown('/soft'))),
  remove('a deletion with a text', one, withType('text/plain'), 'x', NO_MEDIA_TYPE),
  remove('a deletion with a large body', one, jsonHeaders, ' '.repeat(20_000), refused(413, 'body_too_large'))
]

testCases('answers reads, creations, patches, replacements, deletions and other methods', [
  ...READS, ...CREATIONS, ...UNREADABLE, ...PATCHES, ...REPLACEMENTS_AND_DELETIONS,
  ...notAllowed(list, 'GET, HEAD, POST'), ...notAllowed(one, 'GET, HEAD, PATCH, PUT, DELETE')
])
