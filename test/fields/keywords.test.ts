// The fault of each keyword of a schema: its code, its words, and its place.
import { type TObject, Type } from '@sinclair/typebox'
import { test } from 'tap'
import type { Fault } from '../../lib/core/fault.ts'
import { testApp } from '../helpers/app.ts'
import { ann, outcomesOf } from '../helpers/fields.ts'

const a = Type.Object({ a: Type.String() })
const fields: TObject = Type.Object({
  date: Type.Optional(Type.String({ format: 'date', 'x-own': 1, example: '2026-01-31' })),
  code: Type.Optional(Type.String({ pattern: '^[a-z]+$', minLength: 2, maxLength: 4 })),
  half: Type.Optional(Type.Number({ multipleOf: 0.5, exclusiveMinimum: 0, exclusiveMaximum: 9 })),
  list: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 2, uniqueItems: true })),
  pair: Type.Optional(Type.Tuple([Type.String(), Type.Integer()])),
  only: Type.Optional(Type.Literal('x')),
  either: Type.Optional(Type.Union([a, Type.Object({ b: Type.Integer() }), Type.Integer()])),
  both: Type.Optional(Type.Intersect([a, Type.Object({ b: Type.Optional(Type.Integer()) })])),
  map: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z]{1,3}$' }), Type.Integer(), {
    additionalProperties: false
  })),
  open: Type.Optional(Type.Object({ a: Type.String() }, { additionalProperties: Type.Integer() })),
  never: Type.Optional(Type.Not(Type.String())),
  group: Type.Optional(Type.Object({ deep: Type.Optional(Type.String({ default: 'd' })) }, {
    minProperties: 1, $id: 'Group'
  }))
})
const right = {
  date: '2026-01-31',
  code: 'abc',
  half: 1.5,
  list: [1, 2],
  pair: ['a', 1],
  only: 'x',
  either: { b: 1 },
  both: { a: 'x' },
  map: { abc: 1 },
  open: { a: 'x', b: 1 },
  never: 1,
  group: {}
}

test('each keyword has a fault in its own words, and patches are checked as far as they go', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: fields } })
  const { id } = await app.users.create(ann)
  const put = async (more: object) => {
    const response = await call('PUT', `/users/${id}`, { payload: { ...ann, ...more } })
    if (response.statusCode === 200) return []
    return response.json().errors.map(({ pointer, code, detail }: Fault) => `${pointer} ${code}: ${detail}`)
  }
  t.strictSame(await put(right), [])
  const faults: Array<[body: object, fault: string]> = [
    [{ date: '31.1.2026' }, '/date format: must have the format date'],
    [{ code: 'A' }, '/code too_short: must have at least 2 characters'],
    [{ code: 'ABC' }, '/code format: must match the pattern of this field'],
    [{ code: 'abcde' }, '/code too_long: must have at most 4 characters'],
    [{ half: 0 }, '/half range: must be > 0'],
    [{ half: 9 }, '/half range: must be < 9'],
    [{ half: 1.3 }, '/half range: must be a multiple of 0.5'],
    [{ list: [] }, '/list too_few: must have at least 1 item'],
    [{ list: [1, 2, 3] }, '/list too_many: must have at most 2 items'],
    [{ list: [1, 1] }, '/list duplicate: must not have an item twice'],
    [{ pair: ['a'] }, '/pair too_few: must have at least 2 items'],
    [{ only: 'y' }, '/only choice: must be "x"'],
    [{ either: { a: 1 } }, '/either choice: must have one of the forms of this field'],
    [{ both: { b: 1 } }, '/both/a required: is required'],
    [{ map: { abcd: 1 } }, '/map/abcd unknown: is not a known member'],
    [{ open: { a: 'x', b: 'y' } }, '/open/b type: must be a whole number'],
    [{ never: 'text' }, '/never invalid: is not valid']
  ]
  for (const [body, fault] of faults) t.strictSame(await put(body), [fault], JSON.stringify(body))
  t.match(await app.users.get(id), { group: { deep: 'd' } }, 'a default inside a field is filled in')

  const outcomeOf = outcomesOf(call)
  // In this order: a patch depends on what was stored before.
  const patches: Array<[body: object, outcome: 200 | string[]]> = [
    [{ either: { b: 2 } }, 200],
    [{ either: { a: 'x' } }, ['/either choice']],
    [{ either: { a: 'x', b: null } }, 200],
    [{ both: { b: 2 } }, 200],
    [{ both: { a: null } }, ['/both choice']],
    [{ map: { abc: null, x: 2 } }, 200],
    [{ map: { abcd: 1 } }, ['/map/abcd unknown']],
    [{ open: { b: null } }, 200],
    [{ group: { deep: null } }, ['/group invalid']],
    [{ group: null }, 200],
    [{ only: null, date: null, list: null, pair: null, never: null }, 200]
  ]
  for (const [body, expected] of patches) {
    t.strictSame(await outcomeOf('PATCH', `/users/${id}`, body), expected, JSON.stringify(body))
  }
})
