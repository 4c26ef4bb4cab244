// The options `fields`, with `filterable` and `unique`, are checked at registration.
import { type TSchema, Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { test } from 'tap'
import Type1 from 'typebox'
import { z } from 'zod'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { fields, withoutType } from '../helpers/fields.ts'

type Row = [schema: unknown, message: RegExp, more?: object, options?: object]

const transformed = (schema: TSchema) => Type.Transform(schema).Decode((text) => text).Encode((text) => text)
const codec = Type1.Codec(Type1.String()).Decode((text) => text).Encode((text) => text)
const tooMany = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, Type.String()]))
const legacyId = Type.Union([Type.Integer(), Type.String()])
const mixed = Type.Union([Type.Literal('a'), Type.Literal(1)])
const wrongDefaultInside = Type.Object({ deep: Type.Array(Type.Object({ n: Type.String({ default: 5 }) })) })

const FORM = /fields\.schema must be a JSON Schema of an object/
const KIND = /cannot be filterable: its values must all be strings, or all numbers, or all booleans/
const FUNCTION = /code has a refinement or a transform, which JSON Schema cannot express/
const DEFAULT = /a default of plan does not match its schema/

const rows: Row[] = [
  [{ type: 'string' }, FORM],
  [{ plan: { type: 'string' } }, /z\.toJSONSchema\(schema\) of Zod, or \{ type: 'object', properties: \{ … \} \}$/],
  [z.object({ plan: z.string() }), /this is a schema of Zod, so give z\.toJSONSchema\(schema\)$/],
  [undefined, FORM, { filterable: ['plan'] }],
  [fields, /filterable names a field more than once/, { filterable: ['plan', 'plan'] }],
  [fields,
    /fields\.filterable must be a list of names of fields, or of \{ field, match \} with match 'exact' or 'folded'/,
    { filterable: [{ field: 'plan', match: 'words' }] }],
  [Type.Object({ seats: Type.Integer() }), /seats cannot be folded: its values are not strings/,
    { filterable: [{ field: 'seats', match: 'folded' }] }],
  [fields, /filterable names city, which is not a field/, { filterable: ['city'] }],
  [fields, /fields\.unique must be a list of names of fields, each once/, { unique: ['plan', 'plan'] }],
  [fields, /unique names city, which is not a field/, { unique: ['city'] }],
  [Type.Object({ legacyId }), /legacyId cannot be unique: its values must all be strings, or all/,
    { unique: ['legacyId'] }],
  [fields, /active cannot be unique: it has two values/, { unique: ['active'] }],
  [fields, new RegExp(`address ${KIND.source}`), { filterable: ['address'] }],
  [Type.Object({ mixed }), new RegExp(`mixed ${KIND.source}`), { filterable: ['mixed'] }],
  [Type.Object({ page: Type.Integer() }), /page cannot be filterable: lists have a parameter of this name/,
    { filterable: ['page'] }],
  [Type.Object({ 'a-b': Type.Integer() }), /a-b cannot be filterable: its name/, { filterable: ['a-b'] }],
  ...[
    'id', 'name', 'email', 'status', 'statusReason', 'version', 'createdAt', 'updatedAt', 'deletedAt', 'deletedBy'
  ].map((name): Row => [
    Type.Object({ [name]: Type.String() }), new RegExp(`${name} is a member that users have already`)
  ]),
  [Type.Object({ groups: Type.String() }), /groups is a member that users have already/, {}, { groups: true }],
  [Type.Object({ tenant: Type.String() }), /tenant is a member that users have already/, {}, { tenants: true }],
  [Type.Object({ '': Type.String() }), /a field must have a name/],
  [Type.Object({ team: Type.Object({ lead: Type.Array(Type.Ref('Team')) }) }), /team refers to another schema/],
  [Type.Object(tooMany), /there are 65 fields; at most 64/],
  [Type.Object({ code: Type.Array(transformed(Type.String())) }), FUNCTION],
  [Type1.Object({ code: Type1.Refine(Type1.String(), (text) => text.length > 2) }), FUNCTION],
  [Type1.Object({ code: Type1.Object({ deep: codec }) }), FUNCTION],
  [Type1.Object({ at: Type1.BigInt() }), /wrong fields:\n- .*type/],
  [Type.Object({ at: Type.String({ format: 'unheard-of' }) }), /- at: unknown format "unheard-of"/],
  [Type.Object({ ok: Type.String(), a: Type.String({ pattern: '(' }), b: Type.String({ pattern: '[' }) }),
    /wrong fields:\n- a: Invalid regular expression: .*\n- b: Invalid regular expression: .*$/],
  [{ ...Type.Object({ plan: Type.String() }), required: ['plan', 'zz'] },
    /wrong fields:\n- required names zz, which is not a field$/],
  [Type.Object({ at: Type.String(withoutType({ maxLenght: 5 })) }), /unknown keyword: "maxLenght"/],
  [Type.Object({ plan: Type.String({ default: 'a\0b' }) }), DEFAULT],
  [Type.Object({ plan: wrongDefaultInside }), DEFAULT],
  [Type.Object({ plan: Type.String() }, { additionalProperties: true }),
    /the outermost object cannot have additionalProperties: use it inside a field/],
  [Type.Object({ plan: Type.String() }, { minProperties: 1 }), /the outermost object cannot have minProperties/]
]

test('refuses wrong schemas of fields, and filters that cannot work, with the reason', async (t) => {
  for (const [schema, message, more, options] of rows) {
    const app = Fastify()
    t.teardown(() => app.close())
    const given = { ...(schema !== undefined && { schema }), ...more }
    const registering = async () => app.register(users, withoutType({ storage: memory(), fields: given, ...options }))
    await t.rejects(registering, { name: 'TypeError', message })
  }
})
