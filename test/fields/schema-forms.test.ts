// The forms of the option `fields`: typebox 1, @sinclair/typebox 0.34, Zod 4, and plain JSON Schema.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import Type1 from 'typebox'
import { z } from 'zod'
import type { FieldsJsonSchema } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { ann, codesOf } from '../helpers/fields.ts'

interface Given {
  plan: 'free' | 'pro'
  seats?: number
  address?: { city: string, zip?: string }
  tags?: string[]
  quotas?: Record<string, number>
  note?: string | null
}

const plain: FieldsJsonSchema<Given> = {
  type: 'object',
  required: ['plan'],
  properties: {
    plan: { enum: ['free', 'pro'], default: 'free', type: 'string' },
    seats: { type: 'integer', minimum: 1 },
    address: {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' }, zip: { type: 'string' } }
    },
    tags: { type: 'array', items: { type: 'string' } },
    quotas: { type: 'object', patternProperties: { '^.*$': { type: 'number' } } },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] }
  }
}

const sinclair = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free' }),
  seats: Type.Optional(Type.Integer({ minimum: 1 })),
  address: Type.Optional(Type.Object({ city: Type.String(), zip: Type.Optional(Type.String()) })),
  tags: Type.Optional(Type.Array(Type.String())),
  quotas: Type.Optional(Type.Record(Type.String(), Type.Number())),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()]))
})

const typebox = Type1.Object({
  plan: Type1.Union([Type1.Literal('free'), Type1.Literal('pro')], { default: 'free' }),
  seats: Type1.Optional(Type1.Integer({ minimum: 1 })),
  address: Type1.Optional(Type1.Object({ city: Type1.String(), zip: Type1.Optional(Type1.String()) })),
  tags: Type1.Optional(Type1.Array(Type1.String())),
  quotas: Type1.Optional(Type1.Record(Type1.String(), Type1.Number())),
  note: Type1.Optional(Type1.Union([Type1.String(), Type1.Null()]))
})

const zod = z.object({
  plan: z.enum(['free', 'pro']).default('free'),
  seats: z.int().min(1).optional(),
  address: z.object({ city: z.string(), zip: z.string().optional() }).optional(),
  tags: z.array(z.string()).optional(),
  quotas: z.record(z.string(), z.number()).optional(),
  note: z.string().nullable().optional()
})

const forms = [
  ['JSON Schema', plain], ['@sinclair/typebox', sinclair], ['typebox 1', typebox], ['Zod 4', z.toJSONSchema(zod)],
  ['Zod 4, of its input', z.toJSONSchema(zod, { io: 'input' })]
] as const

for (const [name, fields] of forms) {
  test(`a schema in ${name} accepts, refuses and filters as in the other forms`, async (t) => {
    const { call } = await testApp(t, { fields: { schema: fields, filterable: ['plan', 'seats'] } })
    const sent = { seats: 2, address: { city: 'Oslo' }, tags: ['a'], quotas: { a: 1 }, note: null }
    const created = await call('POST', '/users', { payload: { ...ann, ...sent } })
    t.match([created.statusCode, created.json()], [201, { plan: 'free', ...sent }])
    const wrong = {
      name: 'B',
      email: 'b@example.org',
      plan: 'gold',
      seats: 0,
      address: { zip: 1, street: 'x' },
      tags: 'a',
      quotas: { a: 'b' },
      note: 5
    }
    const refused = await call('POST', '/users', { payload: wrong })
    t.equal(refused.statusCode, 400)
    t.strictSame(codesOf(refused.json().errors).sort(), [
      '/address/city required',
      '/address/street unknown',
      '/address/zip type',
      // Zod has one schema of two types, the others have two schemas.
      `/note ${name.startsWith('Zod') ? 'type' : 'choice'}`,
      '/plan choice',
      '/quotas/a type',
      '/seats range',
      '/tags type'
    ])
    t.equal((await call('GET', '/users?plan=free&seats=2')).json().meta.total, 1)
  })
}

test('`nullable` says whether null is a value, and never keeps an optional field from being removed', async (t) => {
  const { call } = await testApp(t, {
    fields: {
      schema: {
        type: 'object',
        required: ['must', 'may'],
        properties: {
          must: { type: 'string', nullable: false },
          may: { type: 'string', nullable: true },
          optional: { type: 'string', nullable: false },
          inner: { type: 'object', properties: { a: { type: 'string', nullable: false } } }
        }
      }
    }
  })
  const send = async (method: string, path: string, payload: object) => {
    const response = await call(method, path, { payload })
    return [response.statusCode, ...codesOf(response.json().errors ?? [])]
  }
  const own = { must: 'x', may: null, optional: 'y', inner: { a: 'z' } }
  t.strictSame(await send('POST', '/users', { ...ann, ...own, optional: null }), [400, '/optional type'])
  const { id } = (await call('POST', '/users', { payload: { ...ann, ...own } })).json()
  for (const name of ['must', 'may']) {
    t.strictSame(await send('PATCH', `/users/${id}`, { [name]: null }), [400, `/${name} type`])
  }
  t.strictSame(await send('PATCH', `/users/${id}`, { optional: null, inner: { a: null } }), [200])
  t.match((await call('GET', `/users/${id}`)).json(), { must: 'x', may: null, inner: {}, optional: undefined })
})
