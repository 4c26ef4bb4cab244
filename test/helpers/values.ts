import fc from 'fast-check'
import type { Description, JsonSchema } from './described.ts'

const WITHOUT_CONTROL = /^\P{Cc}*$/u

const matchingTexts = new Map<string, string[]>()

/** Some texts that match a pattern: fast-check takes milliseconds for each. */
function matching (pattern: string): fc.Arbitrary<string> {
  const texts = matchingTexts.get(pattern) ??
    fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 30, seed: 1 })
  matchingTexts.set(pattern, texts)
  return fc.constantFrom(...texts)
}

/** Generates values that a schema allows, and values that it does not. */
export function valuesOf ({ components }: Description) {
  const resolve = (schema: JsonSchema): JsonSchema =>
    schema.$ref === undefined
      ? schema
      : (components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {})

  /** Values that the schema allows. */
  function valid (given: JsonSchema): fc.Arbitrary<unknown> {
    const schema = resolve(given)
    const {
      type,
      enum: choices,
      format,
      pattern,
      minLength = 0,
      maxLength = 60,
      minimum = 0,
      maximum = 2 ** 31,
      minItems = 0,
      items = {},
      properties = {},
      required = [],
      anyOf
    } = schema
    if (anyOf !== undefined) return fc.oneof(...anyOf.map(valid))
    if (choices !== undefined) return fc.constantFrom(...choices)
    // A schema without keywords allows every value.
    if (Object.keys(schema).every((keyword) => keyword === 'description')) {
      return fc.constantFrom('text', 5, false, null, { a: [1] })
    }
    if (Array.isArray(type)) {
      return fc.oneof(
        ...type.map((each) => (each === 'null' ? fc.constant(null) : valid({ ...schema, type: each })))
      )
    }
    switch (type) {
      case 'string':
        if (format === 'email') {
          return fc
            .emailAddress({ size: 'small' })
            .filter((text) => text.length <= maxLength && text.indexOf('@') <= 64)
        }
        // Keys cannot expire in the past; a schema cannot express that.
        if (format === 'date-time') {
          return fc
            .date({ min: new Date(Date.now() + 86_400_000), max: new Date('2999-12-31'), noInvalidDate: true })
            .map((date) => date.toISOString())
        }
        if (pattern !== undefined && pattern !== '\\S') return matching(pattern)
        return fc
          .string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) })
          .filter(
            (text) =>
              WITHOUT_CONTROL.test(text) &&
              (pattern === undefined || text.trim() !== '') &&
              [...text.normalize('NFC')].length >= minLength &&
              [...text].length <= maxLength
          )
      case 'number':
        return fc.double({ min: minimum, max: maximum, noNaN: true })
      case 'integer':
        return fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) })
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'array':
        return fc.uniqueArray(valid(items), { minLength: minItems, maxLength: 4 })
      default:
        return fc.record(
          Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valid(each)])),
          { requiredKeys: required, noNullPrototype: true }
        )
    }
  }

  /** Values with exactly one fault, and the place of the fault. */
  function invalid (given: JsonSchema): fc.Arbitrary<{ value: unknown; place: string }> {
    const schema = resolve(given)
    const {
      type,
      enum: choices,
      pattern,
      format,
      minLength = 0,
      maxLength,
      minimum,
      maximum,
      minItems = 0,
      items,
      properties,
      required = [],
      anyOf
    } = schema
    const value = (place: string, ...values: unknown[]) => values.map((each) => fc.constant({ value: each, place }))
    if (anyOf !== undefined || (type === undefined && choices === undefined)) {
      return fc.constant({ value: 'a\u0000b', place: 'characters' })
    }
    const types = [type].flat()
    const others = [
      ...value('a number', ...(types.includes('integer') || types.includes('number') ? [] : [5])),
      ...value('a text', ...(types.includes('string') ? [] : ['text'])),
      ...value('null', ...(types.includes('null') ? [] : [null])),
      ...value('a list', ...(types.includes('array') ? [] : [[]])),
      ...value('true', ...(types.includes('boolean') ? [] : [true])),
      ...value('an object', ...(properties === undefined ? [{}] : []))
    ]
    const own = [
      ...(choices === undefined ? [] : value('no choice', types.includes('string') ? 'none-of-them' : -1)),
      ...(maxLength === undefined ? [] : value('too long', 'x'.repeat(maxLength + 1))),
      ...(minLength > 0 || pattern !== undefined || format === 'email' || format === 'date-time'
        ? value('empty', '')
        : []),
      ...(pattern === '\\S' ? value('blank', ' \u00a0 ') : []),
      ...(format === 'email'
        ? value('no address', 'a', 'a@b', 'a@@b.org', 'a b@example.org', '@example.org', 'ä@example.org')
        : []),
      ...(format === 'date-time' ? value('no date', 'today', '2026-02-30T00:00:00Z', '2999-01-01') : []),
      ...(types.includes('string') && choices === undefined && format === undefined && pattern === '\\S'
        ? value('characters', 'a\u0000b', 'a\ud800b', 'a\u0007')
        : []),
      ...(types.includes('string') && choices === undefined && format === undefined && pattern === undefined
        ? value('characters', 'a\u0000b')
        : []),
      ...(minimum === undefined ? [] : value('too small', minimum - 1)),
      ...(maximum === undefined ? [] : value('too large', maximum + 1)),
      ...(types.includes('integer') ? value('no whole number', 1.5) : []),
      ...(minItems > 0 ? value('no items', []) : [])
    ]
    const inner =
      items === undefined
        ? []
        : [invalid(items).map((each) => ({ value: [each.value], place: `item: ${each.place}` }))]
    if (properties === undefined) return fc.oneof(...others, ...own, ...inner)
    return fc.oneof(
      ...others,
      valid(schema).map((whole) => ({ value: { ...Object(whole), unknownMember: 1 }, place: 'an unknown member' })),
      ...required.map((name) =>
        valid(schema).map((whole) => ({
          value: Object.fromEntries(Object.entries(Object(whole)).filter(([each]) => each !== name)),
          place: `no ${name}`
        }))
      ),
      ...Object.entries(properties).map(([name, each]) =>
        fc
          .tuple(valid(schema), invalid(each))
          .map(([whole, { value, place }]) => ({
            value: { ...Object(whole), [name]: value },
            place: `${name}: ${place}`
          }))
      )
    )
  }

  return { valid, invalid }
}
