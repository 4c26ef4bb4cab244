// The host's own fields in the description: the schemas that bodies are checked by.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { describe, lint } from '../helpers/description.ts'

const fields = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free', description: 'What is paid for.' }),
  seats: Type.Integer({ exclusiveMinimum: 0, examples: [5] }),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  only: Type.Optional(Type.Literal('x')),
  pair: Type.Optional(Type.Tuple([Type.String(), Type.Number({ exclusiveMaximum: 9 })])),
  map: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Integer())),
  // Members that have the names of keywords.
  type: Type.Optional(Type.Object({
    $ref: Type.Optional(Type.String()),
    examples: Type.Optional(Type.Array(Type.String())),
    default: Type.Optional(Type.Boolean())
  }, { default: { $ref: 'x' } })),
  multi2: Type.Optional(Type.Unsafe<string | number>({
    type: ['string', 'integer', 'null'],
    anyOf: [{ minLength: 1 }, { minimum: 1 }]
  })),
  nullable: Type.Optional(Type.Unsafe<string | null>({ type: 'string', nullable: true })),
  nullables: Type.Optional(Type.Array(Type.Unsafe<number | null>({ type: 'integer', nullable: true }))),
  mixed: Type.Optional(Type.Intersect([
    Type.Object({ a: Type.String() }),
    Type.Object({ b: Type.Optional(Type.Array(Type.Null())) })
  ])),
  anything: Type.Optional(Type.Unknown())
})
const required = Type.Object({ team: Type.String(), any: Type.Unknown(), noText: Type.Not(Type.String()) })

test('describes the host’s own fields as they are checked', async (t) => {
  const filterable = ['plan', 'seats', 'only', 'note']
  const { description, text } = await describe(t, { mounts: [{ fields: { schema: fields, filterable } }] })
  t.strictSame(await lint(text), [])
  const ours = Object.entries(description.components.schemas).map(([name, schema]) =>
    [name.replace('users.', ''), schema] as const)
  const { User = {}, UserInput = {}, UserPatch = {}, UserReplacement = {} } = Object.fromEntries(ours)
  t.strictSame(User.required, [
    'id', 'name', 'email', 'plan', 'seats', 'status', 'statusReason', 'version', 'createdAt', 'updatedAt'
  ])
  t.strictSame(UserInput.required, ['name', 'email', 'seats'], 'a member with a default may be left out')
  t.strictSame(UserReplacement.required, ['name', 'email', 'seats'])
  t.strictSame(UserPatch.required, [])
  const plan = { type: 'string', enum: ['free', 'pro'], description: 'What is paid for.' }
  t.strictSame(UserInput.properties?.['plan'], { ...plan, default: 'free' })
  t.strictSame(UserPatch.properties?.['plan'], plan, 'a patch has no defaults')
  t.match(UserPatch.properties, {
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    only: { type: ['string', 'null'], enum: ['x', null] },
    seats: { type: 'integer' }
  })
  t.match(User.properties, {
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }
  })
  for (const { properties } of [User, UserInput, UserReplacement, UserPatch]) {
    t.strictSame(properties?.['nullable'], { type: ['string', 'null'] })
  }
  t.strictSame(User.properties?.['nullables'], { type: 'array', items: { type: ['integer', 'null'] } })
  const example = { name: 'Ada Lovelace', email: 'ada@example.org', plan: 'free', seats: 5 }
  t.match(UserInput, { examples: [example] })
  const parameters = description.paths['/v1/users']?.['get']?.parameters ?? []
  const query = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  t.strictSame([query['plan'], query['seats'], query['only'], query['note']], [
    { type: 'string', enum: ['free', 'pro'] },
    { type: 'integer', exclusiveMinimum: 0 },
    { type: 'string', enum: ['x'] },
    { type: 'string', anyOf: [{ type: 'string' }, { type: 'null' }] }
  ], 'a filter is described by the schema of its field, without null')
  t.notOk('pair' in query)
})

test('describes a patch of an object without an index of null, which generated types would contradict', async (t) => {
  const street = Type.Object({ street: Type.String(), no: Type.Optional(Type.Integer()) })
  const part = Type.Object({ a: Type.String() }, { additionalProperties: false })
  const schema = Type.Object({
    address: Type.Optional(street),
    lines: Type.Optional(Type.Object({ first: street })),
    both: Type.Optional(Type.Unsafe<object>({ ...part, allOf: [{ properties: { b: { type: 'string' } } }] }))
  })
  const { description } = await describe(t, { mounts: [{ fields: { schema } }] })
  const { address, lines, both } = Object(description.components.schemas['users.UserPatch']?.properties)
  const members = {
    properties: { street: { type: 'string' }, no: { type: ['integer', 'null'] } },
    unevaluatedProperties: { type: 'null' }
  }
  t.strictSame(address, { type: ['object', 'null'], ...members })
  t.strictSame(lines, {
    type: ['object', 'null'],
    properties: { first: { type: 'object', ...members } },
    unevaluatedProperties: { type: 'null' }
  })
  t.match(both, { anyOf: [{ additionalProperties: { type: 'null' } }, { type: 'null' }] }, 'the others mean another')
})

test('has no example that the schema would refuse', async (t) => {
  const { description } = await describe(t, { mounts: [{ fields: { schema: required } }] })
  const input = Object(description.components.schemas['users.UserInput'])
  t.ok('team' in input.properties)
  t.notOk('examples' in input)
})

test('describes the fields of each mount apart from those of others', async (t) => {
  const { description } = await describe(t, {
    mounts: [{ fields: { schema: required } }, { prefix: '/v2', decoratorName: 'others' }]
  })
  const { schemas } = description.components
  t.ok('team' in Object(schemas['users.User']?.properties))
  t.notOk('team' in Object(schemas['others.User']?.properties))
})
