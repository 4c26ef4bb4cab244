// The comparison of answers with their descriptions, which tests of routes rely on: it finds each kind of difference.
import { test } from 'tap'
import { type Answer, faultsOf } from '../helpers/described.ts'
import { active } from '../helpers/contract.ts'
import { describe } from '../helpers/description.ts'

test('the comparison that every answer of every test passes finds each kind of difference', async (t) => {
  const { description } = await describe(t)
  const operation = Object(description.paths['/v1/users/{id}']?.['get'])
  const user = {
    id: 'usr_01h455vb4pex5vsknk084sn02q',
    name: 'Ann',
    email: 'ann@example.org',
    ...active,
    version: 1,
    createdAt: '2026-01-31T09:30:00.000Z',
    updatedAt: '2026-01-31T09:30:00.000Z'
  }
  const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  const right: Answer = {
    status: 200,
    headers: { ...always, etag: '"1"', date: 'x', 'x-own': 'y' },
    type: 'application/json',
    body: JSON.stringify(user),
    head: false
  }
  const faults = (changes: Partial<Answer> = {}) => faultsOf(description, operation, { ...right, ...changes })
  t.strictSame(faults(), [])
  t.match(faults({ status: 201 }), ['status 201 is not described'])
  t.match(faults({ headers: { ...always, etag: 'W/"1"' } }), ['header etag of 200 is not as described'])
  t.match(faults({ headers: { ...right.headers, location: '/' } }), ['header location is not described for 200'])
  const incomplete = { 'cache-control': 'no-store', etag: '"1"' }
  t.match(faults({ headers: incomplete }), ['header x-content-type-options of 200 is missing'])
  t.match(faults({ type: 'text/plain' }), ['type text/plain of 200 is not described'])
  for (const wrong of [{ secret: 1 }, { name: '' }, { createdAt: 'today' }, { email: undefined }]) {
    t.match(faults({ body: JSON.stringify({ ...user, ...wrong }) }), ['body of 200 is not as described'])
  }
  t.strictSame(faults({ body: '{}', head: true }), [], 'an answer to HEAD has no body')
  t.match(faults({ status: 304 }), ['304 has a body'])
  t.strictSame(faults({ status: 304, body: '' }), [])
})
