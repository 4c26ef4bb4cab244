// Drafts of forms: what is shown, left alone and saved is the same JSON, and what was typed is what is stored.
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { test } from 'tap'
import { isObject, type Json, type JsonObject, type Schema } from '../../admin/api/types.ts'
import {
  createdValue, type Draft, draftFaults, draftOf, editedValue, isDraftNull, isGroup, newDraft, rebased
} from '../../admin/form/draft.ts'
import { isSame, patchBetween } from '../../admin/form/merge-patch.ts'
import { fromLocal, toLocal } from '../../admin/form/moments.ts'
import { mergePatch } from '../../lib/fields/merge-patch.ts'
import { strictSchema } from '../../lib/fields/strict-schema.ts'

const RUNS = { numRuns: Number(process.env['REQUESTS'] ?? 2000) }

const nullable = (schema: Schema) => fc.constantFrom(
  { anyOf: [schema, { type: 'null' }] },
  { oneOf: [{ type: 'null' }, schema] },
  ...typeof schema['type'] === 'string' ? [{ ...schema, type: [schema['type'], 'null'] }] : []
)

const NAMES = ['a', 'b', 'constructor', 'x/y~z']
const { schema: anySchema }: { schema: fc.Arbitrary<Schema> } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Schema>(
      {}, { type: 'string' }, { type: 'string', maxLength: 1000 }, { type: 'string', format: 'date' },
      { type: 'string', format: 'date-time' }, { type: 'string', format: 'email' }, { type: 'string', format: 'uri' },
      { type: 'integer' }, { type: 'number' }, { type: 'boolean' }, { type: ['string', 'number'] },
      { enum: ['x', 1, null] }, { const: 'x' }, { anyOf: [{ const: 'x' }, { const: 2 }, { type: 'null' }] },
      { type: 'array', items: { type: 'string' } }, { type: 'array', items: { type: 'integer' } },
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object', properties: {}, additionalProperties: true }, { type: 'object', properties: { a: true } },
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      { type: 'object', properties: { a: { type: 'string' } }, patternProperties: { '^b': { type: 'string' } } },
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        anyOf: [{ properties: { b: { type: 'string' } } }, { required: ['a'] }]
      }
    ),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { minKeys: 1 }),
      required: fc.subarray(NAMES)
    }),
    tie('schema').chain(nullable)
  )
}))

const anyJson: fc.Arbitrary<Json> = fc.json({ maxDepth: 3 })
  .filter((text) => !text.includes('__proto__'))
  .map((text): Json => JSON.parse(text))
const lineText = fc.array(fc.constantFrom('a', ' ', '\n', '\r\n', '\r', '"', '=', 'ü', '5'), { maxLength: 6 })
  .map((parts) => parts.join(''))
const someText = fc.oneof(
  lineText,
  fc.constantFrom('2000-02-29', '0000-01-01', '2001-02-29', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678+02:00',
    '2026-10-25T01:30:00Z', '2016-12-31T23:59:60Z', '0000-01-02T03:04:05Z', 'x')
)

/** Values that a schema may have met: those that it allows, and others that were stored under another one. */
function storedValue (schema: Schema): fc.Arbitrary<Json> {
  const { type, properties, enum: choices, const: only, anyOf, oneOf } = schema
  const alternatives: unknown = anyOf ?? oneOf
  if (type === 'null') return fc.constant(null)
  if (properties === undefined && Array.isArray(alternatives)) {
    return fc.oneof(...alternatives.map((each) => storedValue(Object(each))))
  }
  // An object that lacks a member which must be there is another matter: where that may be null, it is shown as null.
  const kinds: Array<fc.Arbitrary<Json>> = [anyJson.filter((value) => properties === undefined || !isObject(value))]
  const has = (name: string) => [type].flat().includes(name)
  if (has('null')) kinds.push(fc.constant(null))
  if (has('string')) kinds.push(someText, someText, someText)
  if (has('integer') || has('number')) kinds.push(fc.integer(), fc.constantFrom(0.5, 1e21, 1e-7))
  if (has('boolean')) kinds.push(fc.boolean())
  if (has('array')) kinds.push(fc.array(lineText), fc.array(fc.constantFrom('a', 'b')), fc.array(fc.integer()))
  if (Array.isArray(choices)) kinds.push(fc.constantFrom(...choices))
  if (only !== undefined) kinds.push(fc.constant(JSON.parse(JSON.stringify(only))))
  if (properties !== undefined) {
    const required: unknown = schema['required'] ?? []
    const members = Object.entries(Object(properties)).map(([name, inner]) =>
      [name, Array.isArray(required) && required.includes(name)
        ? storedValue(Object(inner))
        : fc.option(storedValue(Object(inner)), { nil: undefined })] as const)
    const whole: fc.Arbitrary<Json> = fc.record(Object.fromEntries(members))
      .map((value) => JSON.parse(JSON.stringify(value)))
    kinds.push(whole, whole, whole, whole.map((value) => ({ ...Object(value), further: 1 })))
  }
  return fc.oneof(...kinds)
}

/** The schema of a user with a field `f`, as the server gives it to the page, and two values of a user. */
const users = fc.tuple(anySchema, fc.boolean()).chain(([field, isRequired]) => {
  const f = strictSchema(field)
  const schema: Schema = { ...strictSchema({ type: 'object', properties: { f } }), required: isRequired ? ['f'] : [] }
  const user: fc.Arbitrary<JsonObject> = fc.oneof(
    storedValue(f).map((value) => ({ f: value })),
    ...isRequired ? [] : [fc.constant({})]
  )
  return fc.record({ schema: fc.constant(schema), stored: user, wanted: user })
})

/** A value without members that are empty: optional ones are not there then. */
function withoutEmpty (value: Json | undefined): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value).map(([name, member]) => [name, withoutEmpty(member)] as const)
  return Object.fromEntries(members.filter(([, member]) =>
    member !== undefined && member !== '' && !isDeepStrictEqual(member, []) && !isDeepStrictEqual(member, {})))
}

function singles (draft: Draft): Array<Exclude<Draft, { members: unknown }>> {
  return isGroup(draft) ? Object.values(draft.members).flatMap(singles) : [draft]
}

const hasNullMember = (value: unknown): boolean => typeof value === 'object' && value !== null &&
  (Array.isArray(value)
    ? value.some(hasNullMember)
    : Object.values(value).some((member) => member === null || hasNullMember(member)))

interface Drawn { schema: Schema, stored: JsonObject, wanted: JsonObject }
let patched = 0

const holds: Record<string, (user: Drawn, other: Json) => void> = {
  'what is shown of any value can be read back, and its control can show it': ({ schema, stored }) => {
    const draft = draftOf(schema, stored, true)
    const read = editedValue(undefined, draft, undefined)
    assert.deepEqual(withoutEmpty(read), withoutEmpty(stored))
    for (const { kind, text } of singles(draft)) {
      const wrong = kind.is === 'text' && !kind.isLong ? /[\r\n]/ : /\r/
      assert.doesNotMatch(text ?? '', wrong, 'a control has no other line breaks')
    }
  },
  'what is left alone stays as it is stored, beside what is changed': ({ schema, stored }, other) => {
    const both = { ...strictSchema({ type: 'object', properties: { ...Object(schema['properties']), other: {} } }) }
    const before = { ...stored, other: 'before' }
    const begun = draftOf(both, before, true)
    assert.equal(editedValue(begun, begun, before), before)
    const { other: draft } = Object(draftOf(both, { other }, true)).members
    const edited = editedValue(begun, { ...Object(begun), members: { ...Object(begun).members, other: draft } }, before)
    assert.deepEqual(edited, { ...stored, other })
  },
  'a merge patch makes what was typed of what was stored, unless a member is null': ({ schema, stored, wanted }) => {
    const edited = editedValue(draftOf(schema, stored, true), draftOf(schema, wanted, true), stored)
    assert.deepEqual(withoutEmpty(edited), withoutEmpty(wanted))
    const patch = patchBetween(stored, Object(edited))
    if (patch === undefined) assert.ok(hasNullMember(edited))
    else {
      patched++
      assert.ok(isSame(Object(mergePatch(stored, Object(patch))), edited))
    }
  },
  'what is typed while a form is saved stays typed': ({ schema, stored, wanted }) => {
    const [sent, now] = [draftOf(schema, stored, true), draftOf(schema, wanted, true)]
    const fresh = draftOf(schema, stored, true)
    assert.equal(rebased(sent, sent, fresh), fresh)
    assert.deepEqual(withoutEmpty(editedValue(fresh, rebased(sent, now, fresh), stored)), withoutEmpty(wanted))
  }
}

// Drawing a user takes longer than all of these, so they share the users.
test(`of any user: ${Object.keys(holds).join('; ')}`, async (t) => {
  fc.assert(fc.property(users, anyJson, (user, other) => {
    for (const [name, check] of Object.entries(holds)) {
      try {
        check(user, other)
      } catch (error) {
        throw new Error(name, { cause: error })
      }
    }
  }), RUNS)
  t.ok(patched > RUNS.numRuns / 2, `${patched} of ${RUNS.numRuns}`)
})

test('a new user gets no object that nobody has filled in', async (t) => {
  const schema = strictSchema({
    type: 'object',
    properties: {
      address: {
        type: 'object',
        properties: { city: { type: 'string' }, country: { type: 'string', default: 'NO' } },
        required: ['city', 'country']
      },
      prefs: { type: 'object', properties: { theme: { type: 'string', default: 'dark' } }, required: ['theme'] },
      active: { type: 'boolean' },
      rank: { type: ['integer', 'null'] },
      owner: { type: ['object', 'null'], properties: { a: {} } }
    },
    required: ['prefs', 'active', 'rank', 'owner']
  })
  const begun = newDraft(schema, true)
  t.strictSame(createdValue(begun, begun), { prefs: { theme: 'dark' }, active: false, rank: null, owner: null })
})

test('JSON that is none is a fault at its place, and so is a number that JSON does not have', async (t) => {
  const schema = strictSchema({ type: 'object', properties: { 'a/b~': {}, c: { type: 'string' }, d: {} } })
  const draft = Object(draftOf(schema, {}, true))
  const { 'a/b~': json, c: text, d: other } = draft.members
  const members = { 'a/b~': { ...json, text: '{' }, c: { ...text, text: '{' }, d: { ...other, text: '[1e400]' } }
  t.strictSame(draftFaults({ ...draft, members }, 'This is not JSON.'),
    ['/a~1b~0', '/d'].map((pointer) => ({ pointer, code: 'not_json', detail: 'This is not JSON.' })))
})

test('an empty control of what must be there is null, unless it has a text of its own', async (t) => {
  const isNull = (type: string, isRequired: boolean): boolean =>
    isDraftNull({ ...Object(draftOf({ type: [type, 'null'] }, 'x', isRequired)), kind: { is: type }, text: '' })
  t.strictSame([isNull('number', true), isNull('number', false), isNull('text', true)], [true, false, false])
  const group = strictSchema({ type: ['object', 'null'], properties: { a: {} } })
  t.strictSame([isDraftNull(draftOf(group, null, true)), isDraftNull(draftOf(group, {}, true))], [true, false])
})

test('a moment is shown in the time zone of the person, to the millisecond', async (t) => {
  for (const moment of ['2026-01-02T03:04:05.000Z', '2026-01-02T03:04:05.067Z']) {
    t.equal(fromLocal(toLocal(moment)), moment)
  }
  t.match(toLocal('2026-01-02T03:04:05Z'), /:04:05$/)
  t.strictSame([toLocal(''), toLocal('x'), fromLocal(''), fromLocal('x')], ['', '', '', ''])
})
