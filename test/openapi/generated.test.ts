// Requests generated from the OpenAPI description. Valid ones never get a 5xx; invalid ones, with one fault each, get
// the status that the contract names.
import swagger from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { test } from 'tap'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { requestsOf } from '../helpers/requests.ts'

const fields = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free' }),
  seats: Type.Integer({ minimum: 1, maximum: 1000 }),
  score: Type.Optional(Type.Number({ minimum: -1, maximum: 1 })),
  active: Type.Optional(Type.Boolean()),
  nickname: Type.Optional(Type.Union([Type.String({ maxLength: 30 }), Type.Null()])),
  address: Type.Optional(
    Type.Object({
      city: Type.String({ minLength: 1 }),
      zip: Type.Optional(Type.String({ maxLength: 9 })),
      lines: Type.Optional(Type.Array(Type.String(), { maxItems: 4 }))
    })
  ),
  anything: Type.Optional(Type.Unknown())
})

const RUNS = Number(process.env['REQUESTS'] ?? 400)
const timeout = 250_000 + RUNS * 20

test('answers requests generated from the description as the contract says', { timeout }, async (t) => {
  const { app } = await testApp(t, {
    apiKeys: { routes: true },
    before: async (app) => { await app.register(swagger, { openapi: { openapi: '3.1.0' } }) },
    fields: { schema: fields, filterable: ['plan', 'seats', 'score', 'active'] }
  })
  const { key: admin } = await app.users.apiKeys.create({ name: 'admin', scopes: ALL_SCOPES, expiresAt: null })
  await app.ready()
  const ids = {
    users: new Set([(await app.users.create(Object({ name: 'Ann', email: 'ann@example.org', seats: 1 }))).id]),
    keys: new Set<string>()
  }
  const idsAt = (path: string) => (path.includes('api-keys') ? ids.keys : ids.users)
  const { valid, invalid } = requestsOf(Object(app.swagger()), (path) => [...idsAt(path)].slice(-20))
  const seen = new Set<string>()
  const faults = new Set<string>()
  let sent = 0
  const result = await fc.check(
    fc.asyncProperty(fc.oneof(valid, invalid), async ({ method, path, query, headers, body, wrong, status }) => {
      const isText = typeof body === 'string' && wrong === 'no JSON'
      const payload = body === undefined || isText ? body : JSON.stringify(body)
      // A valid request to /current revokes its key, so it gets one of its own.
      const own =
        path.endsWith('/current') && wrong === undefined
          ? (await app.users.apiKeys.create({ name: 'own', scopes: ALL_SCOPES })).key
          : admin
      const search = query.length === 0 ? '' : `?${new URLSearchParams(query)}`
      const answer = await inject(app, method, path + search, {
        headers: { authorization: `Bearer ${own}`, ...headers }, ...(payload !== undefined && { payload })
      })
      sent++
      const { statusCode } = answer
      if (method === 'POST' && statusCode === 201) idsAt(path).add(answer.json().id)
      if (method === 'DELETE' && statusCode === 204) idsAt(path).delete(path.split('/').at(-1) ?? '')
      if (wrong !== undefined) faults.add(`${method} ${path.split('/')[2]} ${wrong}`)
      else seen.add(`${method} ${path.replace(/[a-z]+_[0-9a-hjkmnp-tv-z]{26}/, '{id}')} ${statusCode}`)
      if (statusCode >= 500) throw new Error(`${statusCode}: ${answer.body}`)
      if (status !== undefined && statusCode !== status) {
        throw new Error(`${wrong} must be ${status} and is ${statusCode}: ${answer.body}`)
      }
    }),
    // Others each night: which answers come is a matter of chance.
    { numRuns: RUNS, endOnFailure: true, ...(from('nightly') !== false && { seed: 1 }) }
  )
  t.notOk(result.failed, `${String(result.errorInstance)} ${fc.defaultReportMessage(result)}`)
  t.ok(sent >= RUNS || result.failed, `${sent} requests were sent`)
  const all = [
    'GET /v1/users 200', 'POST /v1/users 201', 'GET /v1/users/{id} 200', 'GET /v1/users/{id} 404',
    'PATCH /v1/users/{id} 200', 'PUT /v1/users/{id} 200', 'DELETE /v1/users/{id} 204', 'POST /v1/api-keys 201',
    'GET /v1/api-keys/{id} 200', 'POST /v1/api-keys/{id}/rotate 201', 'DELETE /v1/api-keys/{id} 204',
    'DELETE /v1/api-keys/current 204'
  ]
  t.strictSame(all.filter((each) => !seen.has(each)), [], 'each was among them')
  t.ok(faults.size > 80, `${faults.size} kinds of faults`)
  t.comment(
    `seed ${result.seed}, ${sent} requests: ${seen.size} kinds of answers to valid ones, ` +
      `${faults.size} kinds of faults`
  )
})
