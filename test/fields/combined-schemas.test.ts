// Fields that several schemas describe together (anyOf, allOf, if, not): bodies and patches are checked as they say.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { ann, outcomesOf, withoutType } from '../helpers/fields.ts'

const a = Type.Object({ a: Type.String() })
const b = Type.Object({ b: Type.Integer() })
const c = Type.Object({ c: Type.Integer() })

/** JSON Schema that TypeBox has no function for. */
const plain = (schema: object) => Type.Optional(Type.Unsafe<object>(schema))

const fields = Type.Object({
  mixed: Type.Optional(Type.Intersect([a, Type.Union([b, c])])),
  beside: plain({
    type: 'object',
    properties: { a: { type: 'string' } },
    anyOf: [{ properties: { b: { type: 'integer' } }, required: ['b'] }, { required: ['a'] }]
  }),
  terms: plain({
    type: 'object',
    properties: { k: { type: 'string' }, v: {} },
    if: { properties: { k: { const: 'n' } } },
    then: { properties: { v: { type: 'number' } } }
  }),
  unlike: Type.Optional(Type.Not(a)),
  closed: Type.Optional(Type.Intersect([a, b], { unevaluatedProperties: false })),
  flag: Type.Union([Type.Integer(), Type.Null()]),
  flags: Type.Union([Type.Integer(), Type.Array(Type.Integer()), Type.Null()]),
  any: Type.Unknown(),
  nothing: Type.Null(),
  noText: Type.Not(Type.String()),
  three: Type.Unsafe<string>({ type: ['string', 'integer', 'null'] }),
  listed: Type.Unsafe<string>({ enum: ['a', null] }),
  exact: Type.Optional(Type.Literal('x')),
  either: plain({
    oneOf: [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] }
    ]
  }),
  choice: Type.Optional(Type.Unsafe<string>({ enum: ['a', 1, null] })),
  constant: Type.Optional(Type.Unsafe<null>({ const: null })),
  typed: Type.Optional(Type.Unsafe<string>({ type: 'string', allOf: [{ minLength: 2 }] })),
  // Fields with the names of keywords, and of what every object inherits.
  oneOf: Type.Optional(Type.String()),
  group: Type.Optional(Type.Object({
    anyOf: Type.Optional(Type.String()),
    constructor: Type.Optional(Type.String())
  })),
  constructor: Type.Optional(Type.String()),
  toString: Type.Optional(Type.Integer())
})
const filterable = ['constructor', 'toString', 'exact']
const base = { ...ann, flag: null, flags: null, any: 1, nothing: null, three: null, listed: null, noText: 1 }

test('PUT and PATCH of fields with combined schemas', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: fields, filterable } })
  const { id } = await app.users.create(withoutType(base))
  const outcomeOf = outcomesOf(call)
  // In this order: a patch depends on what was stored before.
  const rows: Array<[method: string, body: object, outcome: 200 | string[]]> = [
    ['PUT', { mixed: { a: 'x', b: 1 }, beside: { a: 'x', b: 1 }, terms: { k: 'n', v: 1 } }, 200],
    ['PUT', { mixed: { a: 'x', d: 1, b: 1 } }, ['/mixed/d unknown']],
    ['PUT', { mixed: { a: 'x' } }, ['/mixed choice']],
    ['PUT', { beside: { a: 'x', d: 1 } }, ['/beside/d unknown']],
    ['PUT', { terms: { k: 'n', v: 'x' } }, ['/terms/v type', '/terms invalid']],
    ['PUT', { unlike: { a: 'x', e: 1 } }, ['/unlike invalid']],
    ['PUT', { closed: { a: 'x', b: 1, c: 1 } }, ['/closed/c unknown']],
    ['PUT', { oneOf: 5, group: { anyOf: 5 } }, ['/oneOf type', '/group/anyOf type']],
    ['PUT', { constructor: 'x', toString: 5, group: { constructor: 'y' }, terms: { k: 'm', v: 'x' } }, 200],
    ['PATCH', { flag: null, flags: null, any: null, nothing: null, three: null, listed: null, noText: null },
      ['/flag type', '/flags invalid', '/any invalid', '/nothing invalid', '/noText invalid', '/three type',
        '/listed choice']],
    ['PATCH', { noText: 'x' }, ['/noText invalid']],
    ['PATCH', { three: 5, listed: 'a', noText: [] }, 200],
    ['PUT', { either: { a: 'x' }, choice: 1 }, 200],
    ['PATCH', { either: { a: null, b: 1 } }, 200],
    ['PATCH', { choice: null, constant: null, typed: null, mixed: null, closed: null }, 200],
    ['PATCH', { typed: 'x' }, ['/typed choice']],
    ['PATCH', { typed: 'xx', mixed: { a: 'y', c: 2 } }, 200],
    ['PATCH', { mixed: { b: 1, c: null } }, 200],
    ['PATCH', { flag: 5, constructor: null }, 200]
  ]
  const { nothing, ...incomplete } = base
  t.strictSame(await outcomeOf('PUT', `/users/${id}`, incomplete), ['/nothing required'], 'a required null')
  for (const [method, body, expected] of rows) {
    const sent = method === 'PUT' ? { ...base, ...body } : body
    t.strictSame(await outcomeOf(method, `/users/${id}`, sent), expected, `${method} ${JSON.stringify(body)}`)
  }
  t.strictSame((await call('GET', '/users')).json().meta.total, 1)
  t.strictSame((await call('GET', '/users?toString=5')).json().meta.total, 0)
})
