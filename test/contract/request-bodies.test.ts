// Contract §2: request bodies that cannot be read.
import { jsonHeaders, list, testCases } from '../helpers/contract.ts'

testCases('refuses unreadable bodies', [
  {
    name: 'malformed JSON',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":',
    status: 400,
    code: 'malformed_json'
  },
  {
    name: 'bytes that are not UTF-8',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: Buffer.from('{"name":"\xff","email":"b@c.de"}', 'latin1'),
    status: 400,
    code: 'malformed_json'
  },
  {
    name: 'a poisoned prototype',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":"B","email":"b@c.de","__proto__":{"x":1}}',
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '', code: 'forbidden', detail: 'must not have members named __proto__ or constructor.prototype' }
    ]
  },
  {
    name: 'a poisoned constructor',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":"B","email":"b@c.de","constructor":{"prototype":{}}}',
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '', code: 'forbidden', detail: 'must not have members named __proto__ or constructor.prototype' }
    ]
  },
  {
    name: 'a member twice',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":"Ann","email":"b@c.de","name":"Bob"}',
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '', code: 'duplicate', detail: 'must not have a member twice' }]
  },
  {
    name: 'a body of 16 KiB and a byte',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: ' '.repeat(16 * 1024 + 1),
    status: 413,
    code: 'body_too_large'
  },
  {
    name: 'another media type',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'text/plain' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
    has: { accept: 'application/json' }
  },
  {
    name: 'a merge patch as a creation',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'no media type',
    method: 'POST',
    path: list,
    body: Buffer.from('{}'),
    headers: {},
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'a malformed media type',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'json' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'another charset',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'application/json; charset=utf-16' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'a content coding',
    method: 'POST',
    path: list,
    headers: { ...jsonHeaders, 'content-encoding': 'gzip' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
    has: { 'accept-encoding': 'identity' }
  }
])
