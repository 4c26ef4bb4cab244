// The options `fields`, with `filterable` and `unique`, are checked at registration.
import { type TSchema, Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { test } from 'tap'
import Type1 from 'typebox'
import { memory } from '../../adapters/memory/index.ts'
import users, { type UsersOptions } from '../../lib/index.ts'
import { fields, withoutType } from '../helpers/fields.ts'

type Row = [options: Partial<UsersOptions>, message: RegExp]

const transformed = (schema: TSchema) => Type.Transform(schema).Decode((text) => text).Encode((text) => text)
const codec = Type1.Codec(Type1.String()).Decode((text) => text).Encode((text) => text)
const tooMany = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, Type.String()]))
const legacyId = Type.Union([Type.Integer(), Type.String()])
const mixed = Type.Union([Type.Literal('a'), Type.Literal(1)])
const wrongDefaultInside = Type.Object({ deep: Type.Array(Type.Object({ n: Type.String({ default: 5 }) })) })

const FORM = /fields\.schema must be a JSON Schema of an object/
const KIND = /can not be filterable: its values must all be strings, or all numbers, or all booleans/
const FUNCTION = /code has a refinement or a transform, which JSON Schema can not express/
const DEFAULT = /a default of plan does not match its schema/

const rows: Row[] = [
  [{ fields: { schema: withoutType({ type: 'string' }) } }, FORM],
  [{ fields: { schema: withoutType([]) } }, FORM],
  [withoutType({ fields: { filterable: ['plan'] } }), /fields\.schema must be a JSON Schema of an object/],
  [{
    fields: { schema: fields, filterable: ['plan', 'plan'] }
  }, /filterable names a field more than once/],
  [withoutType({
    fields: { schema: fields, filterable: [{ field: 'plan', match: 'words' }] }
  }), /fields\.filterable must be a list of names of fields, or of \{ field, match \} with match 'exact' or 'folded'/],
  [{
    fields: { schema: Type.Object({ seats: Type.Integer() }), filterable: [{ field: 'seats', match: 'folded' }] }
  }, /seats can not be folded: its values are no texts/],
  [{ fields: { schema: fields, filterable: ['city'] } }, /filterable names city, which is no field/],
  [withoutType({ fields: { unique: ['plan'] } }), FORM],
  [
    { fields: { schema: fields, unique: ['plan', 'plan'] } },
    /fields\.unique must be a list of names of fields, each once/
  ],
  [{ fields: { schema: fields, unique: ['city'] } }, /unique names city, which is no field/],
  [
    { fields: { schema: Type.Object({ legacyId }), unique: ['legacyId'] } },
    /legacyId can not be unique: its values must all be strings, or all/
  ],
  [{ fields: { schema: fields, unique: ['active'] } }, /active can not be unique: it has two values/],
  [{ fields: { schema: fields, filterable: ['address'] } }, new RegExp(`address ${KIND.source}`)],
  [{ fields: { schema: Type.Object({ mixed }), filterable: ['mixed'] } }, new RegExp(`mixed ${KIND.source}`)],
  [
    { fields: { schema: Type.Object({ page: Type.Integer() }), filterable: ['page'] } },
    /page can not be filterable: lists have a parameter of this name/
  ],
  [{
    fields: { schema: Type.Object({ 'a-b': Type.Integer() }), filterable: ['a-b'] }
  }, /a-b can not be filterable: its name/],
  ...[
    'id', 'name', 'email', 'status', 'statusReason', 'version', 'createdAt', 'updatedAt', 'deletedAt', 'deletedBy'
  ].map((name): Row => [
    { fields: { schema: Type.Object({ [name]: Type.String() }) } },
    new RegExp(`${name} is a member that users have already`)
  ]),
  [{ fields: { schema: Type.Object({ '': Type.String() }) } }, /a field must have a name/],
  [{ fields: { schema: Type.Object({ team: Type.Ref('Team') }) } }, /team refers to another schema/],
  [
    { fields: { schema: Type.Object({ team: Type.Object({ lead: Type.Array(Type.Ref('Team')) }) }) } },
    /team refers to another schema/
  ],
  [{ fields: { schema: Type.Object(tooMany) } }, /there are 65 fields; at most 64/],
  [{ fields: { schema: Type.Object({ code: transformed(Type.String()) }) } }, FUNCTION],
  [{ fields: { schema: Type.Object({ code: Type.Array(transformed(Type.String())) }) } }, FUNCTION],
  [{ fields: { schema: Type1.Object({ code: Type1.Refine(Type1.String(), (text) => text.length > 2) }) } }, FUNCTION],
  [{ fields: { schema: Type1.Object({ code: Type1.Object({ deep: codec }) }) } }, FUNCTION],
  [{ fields: { schema: Type1.Object({ at: Type1.BigInt() }) } }, /wrong fields:\n- .*type/],
  [{ fields: { schema: Type.Object({ at: Type.Date() }) } }, /wrong fields:\n- .*type/],
  [{
    fields: { schema: Type.Object({ at: Type.String({ format: 'unheard-of' }) }) }
  }, /- at: unknown format "unheard-of"/],
  [
    {
      fields: {
        schema: Type.Object({ ok: Type.String(), a: Type.String({ pattern: '(' }), b: Type.String({ pattern: '[' }) })
      }
    },
    /wrong fields:\n- a: Invalid regular expression: .*\n- b: Invalid regular expression: .*$/
  ],
  [
    { fields: { schema: withoutType({ ...Type.Object({ plan: Type.String() }), required: ['plan', 'zz'] }) } },
    /wrong fields:\n- required names zz, which is no field$/
  ],
  [{
    fields: { schema: Type.Object({ at: Type.String(withoutType({ maxLenght: 5 })) }) }
  }, /unknown keyword: "maxLenght"/],
  [{ fields: { schema: Type.Object({ plan: Type.Integer({ default: 'x' }) }) } }, DEFAULT],
  [{ fields: { schema: Type.Object({ plan: Type.String({ default: 'a\0b' }) }) } }, DEFAULT],
  [{ fields: { schema: Type.Object({ plan: wrongDefaultInside }) } }, DEFAULT],
  [
    { fields: { schema: Type.Object({ plan: Type.String() }, { additionalProperties: true }) } },
    /the outermost object can not have additionalProperties: use it inside a field/
  ],
  [
    { fields: { schema: Type.Object({ plan: Type.String() }, { minProperties: 1 }) } },
    /the outermost object can not have minProperties/
  ]
]

test('refuses wrong schemas of fields, and filters that can not work, with the reason', async (t) => {
  for (const [options, message] of rows) {
    const app = Fastify()
    t.teardown(() => app.close())
    const registering = async () => app.register(users, { storage: memory(), ...options })
    await t.rejects(registering, { name: 'TypeError', message })
  }
})
