// Tests of contract §2 from tables of requests and answers, under every kind of prefix, and on every storage.
import { test, type Test } from 'tap'
import { errorTable, type ErrorCode } from '../../lib/core/error-table.ts'
import { type Call, testApp } from './app.ts'
import { from } from './level.ts'
import { stores } from './stores.ts'

export const prefixes = ['/v1', '', '/api/users/v2', '/tenants/:tenant/v1']
export const UNKNOWN = 'usr_01h455vb4pex5vsknk084sn02q'
export const JSON_TYPE = 'application/json; charset=utf-8'

/** The only user of a host. */
interface Ann {
  id: string
  name: string
  email: string
  version: number
  createdAt: string
  updatedAt: string
}
/** A request on the only user of a host, Ann, and its whole answer. */
export interface Case {
  name: string
  method: string
  path: (ann: Ann) => string
  headers?: Record<string, string>
  body?: unknown
  status: number
  /** The whole body, if it is no problem. */
  is?: (ann: Ann) => unknown
  /** The code of the problem, which decides its type, title and detail. */
  code?: ErrorCode
  /** The detail, if it is not that of the code. */
  detail?: string
  errors?: unknown
  /** Headers of the answer. */
  has?: Record<string, string | undefined>
}

export const list = () => '/users'
export const one = ({ id }: Ann) => `/users/${id}`
export const at = (id: string) => () => `/users/${id}`
export const ann = { name: 'Ann', email: 'Ann@Example.org' }
export const bob = { name: 'Bob', email: 'bob@example.org' }
/** The status of a user that nothing was said of. */
export const active = { status: 'active', statusReason: null }
export const jsonHeaders = { 'content-type': 'application/json' }

async function runCase (t: Test, call: Call, user: Ann, given: Case): Promise<void> {
  const { name, method, path, headers = {}, body, status, is, code, detail, errors, has = {} } = given
  const payload = typeof body === 'object' && body !== null && !Buffer.isBuffer(body)
    ? JSON.parse(JSON.stringify(body).replace('"self"', `"${user.id}"`))
    : body
  const response = await call(method, path(user), { headers, ...(payload !== undefined && { payload }) })
  const { requestId, ...problem } = code === undefined ? {} : response.json()
  const row = code === undefined ? undefined : errorTable[code]
  const type = `urn:problem:fastify-users:${code}`
  const expected = row === undefined
    ? is?.(user)
    : { type, title: row.title, status, code, detail: detail ?? row.detail, ...(errors !== undefined && { errors }) }
  const actual = row !== undefined ? problem : response.body === '' ? '' : response.json()
  const common = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(row !== undefined && { 'content-type': 'application/problem+json; charset=utf-8' })
  }
  const wanted = { ...common, ...has }
  const received = Object.fromEntries(Object.keys(wanted).map((header) => [header, response.headers[header]]))
  t.strictSame(
    [response.statusCode, actual, received, typeof requestId],
    [status, expected, wanted, row === undefined ? 'undefined' : 'string'],
    `${method}: ${name}`
  )
}

/**
 * Runs the cases in memory under one prefix, and at night under every prefix and on every storage: what they are about
 * knows neither.
 */
export function testCases (behaviour: string, cases: readonly Case[]): void {
  for (const store of stores) {
    for (const prefix of store.name === 'memory' ? prefixes : ['/v1']) {
      const skip = (store.name !== 'memory' || prefix !== '/v1') && from('nightly')
      test(`${behaviour} on ${store.name} under '${prefix}'`, { skip }, async (t) => {
        const { call } = await testApp(t, { storage: await store.create(t), prefix })
        const created = await call('POST', '/users', { payload: { name: '  Ann\t', email: ' Ann@Example.org ' } })
        t.equal(created.statusCode, 201)
        // At the root unknown paths are the host's.
        for (const item of cases.filter(({ code }) => prefix !== '' || code !== 'not_found')) {
          await runCase(t, call, created.json(), item)
        }
        const read = await call('GET', one(created.json()))
        t.strictSame([read.body, read.headers.etag], [created.body, '"1"'], 'no case changed the user')
      })
    }
  }
}
