// Contract §2: creations, and the faults of their members.
import { bob, jsonHeaders, list, testCases, UNKNOWN } from '../helpers/contract.ts'

testCases('answers creations', [
  {
    name: 'a taken address',
    method: 'POST',
    path: list,
    body: { name: 'Other', email: 'aNN@eXAMPLE.ORG' },
    status: 409,
    code: 'email_taken',
    errors: [{ pointer: '/email', code: 'taken', detail: 'must be unique' }]
  },
  {
    name: 'a creation without members',
    method: 'POST',
    path: list,
    body: {},
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '/name', code: 'required', detail: 'is required' },
      { pointer: '/email', code: 'required', detail: 'is required' }
    ]
  },
  {
    name: 'a creation with wrong types',
    method: 'POST',
    path: list,
    body: { name: 5, email: ['a@b.co'] },
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '/name', code: 'type', detail: 'must be a string' },
      { pointer: '/email', code: 'type', detail: 'must be a string' }
    ]
  },
  {
    name: 'a creation with a member too many',
    method: 'POST',
    path: list,
    body: { ...bob, 'ro/le~': 1 },
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '/ro~1le~0', code: 'unknown', detail: 'is not a known member' }]
  },
  {
    name: 'every fault together',
    method: 'POST',
    path: () => '/users?x=1',
    body: { name: ' ', email: 'b@', id: UNKNOWN },
    status: 400,
    code: 'validation_failed',
    errors: [
      { parameter: 'x', code: 'unknown', detail: 'is not a known parameter' },
      { pointer: '/id', code: 'unknown', detail: 'is not a known member' },
      { pointer: '/name', code: 'too_short', detail: 'must not be empty' },
      { pointer: '/email', code: 'format', detail: 'must be an e-mail address: nothing is behind its @' }
    ]
  },
  {
    name: 'a creation that is no object',
    method: 'POST',
    path: list,
    body: [bob],
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '', code: 'type', detail: 'must be an object' }]
  },
  {
    name: 'a creation without a body',
    method: 'POST',
    path: list,
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '', code: 'type', detail: 'must be an object' }]
  },
  {
    name: 'a creation with an empty body',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '',
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '', code: 'type', detail: 'must be an object' }]
  }
])
