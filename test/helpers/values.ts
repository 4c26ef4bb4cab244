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

  function text ({ format, pattern, minLength = 0, maxLength = 60 }: JsonSchema): fc.Arbitrary<string> {
    if (format === 'email') {
      return fc.emailAddress({ size: 'small' }).filter((each) => each.length <= maxLength && each.indexOf('@') <= 64)
    }
    // Keys cannot expire in the past; a schema cannot express that.
    if (format === 'date-time') {
      return fc.date({ min: new Date(Date.now() + 86_400_000), max: new Date('2999-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString())
    }
    if (pattern !== undefined && pattern !== '\\S') return matching(pattern)
    return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) }).filter((each) =>
      WITHOUT_CONTROL.test(each) && (pattern === undefined || each.trim() !== '') &&
      [...each.normalize('NFC')].length >= minLength && [...each].length <= maxLength)
  }

  /** Values that the schema allows. */
  function valid (given: JsonSchema): fc.Arbitrary<unknown> {
    const schema = resolve(given)
    const { type, enum: choices, minimum = 0, maximum = 2 ** 31, minItems = 0, items = {}, anyOf } = schema
    const { properties = {}, required = [] } = schema
    if (anyOf !== undefined) return fc.oneof(...anyOf.map(valid))
    if (choices !== undefined) return fc.constantFrom(...choices)
    // A schema without keywords allows every value.
    if (Object.keys(schema).every((keyword) => keyword === 'description')) {
      return fc.constantFrom('text', 5, false, null, { a: [1] })
    }
    if (Array.isArray(type)) return fc.oneof(...type.map((each) => valid({ ...schema, type: each })))
    switch (type) {
      case 'string': return text(schema)
      case 'number': return fc.double({ min: minimum, max: maximum, noNaN: true })
      case 'integer': return fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) })
      case 'null': return fc.constant(null)
      case 'boolean': return fc.boolean()
      case 'array': return fc.uniqueArray(valid(items), { minLength: minItems, maxLength: 4 })
      default: {
        const members = Object.entries(properties).map(([name, each]): [string, fc.Arbitrary<unknown>] =>
          [name, valid(each)])
        return fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true })
      }
    }
  }

  /** Values with exactly one fault, and the place of the fault. */
  function invalid (given: JsonSchema): fc.Arbitrary<{ value: unknown, place: string }> {
    const schema = resolve(given)
    const { enum: choices, pattern, format, minLength = 0, maxLength, minimum, maximum, minItems = 0 } = schema
    const { type, items, properties, required = [], anyOf } = schema
    if (anyOf !== undefined || (type === undefined && choices === undefined)) {
      return fc.constant({ value: 'a\u0000b', place: 'characters' })
    }
    const types = [type].flat()
    const is = (...names: string[]): boolean => types.some((each) => names.includes(String(each)))
    const isFree = is('string') && choices === undefined && format === undefined
    const rows: ReadonlyArray<readonly [isMeant: boolean, place: string, ...values: unknown[]]> = [
      [!is('integer', 'number'), 'a number', 5],
      [!is('string'), 'a text', 'text'],
      [!is('null'), 'null', null],
      [!is('array'), 'a list', []],
      [!is('boolean'), 'true', true],
      [properties === undefined, 'an object', {}],
      [choices !== undefined, 'no choice', is('string') ? 'none-of-them' : -1],
      [maxLength !== undefined, 'too long', 'x'.repeat((maxLength ?? 0) + 1)],
      [minLength > 0 || pattern !== undefined || format === 'email' || format === 'date-time', 'empty', ''],
      [pattern === '\\S', 'blank', ' \u00a0 '],
      [format === 'email', 'no address', 'a', 'a@b', 'a@@b.org', 'a b@example.org', '@example.org', 'ä@example.org'],
      [format === 'date-time', 'no date', 'today', '2026-02-30T00:00:00Z', '2999-01-01'],
      [isFree && pattern === '\\S', 'characters', 'a\u0000b', 'a\ud800b', 'a\u0007'],
      [isFree && pattern === undefined, 'characters', 'a\u0000b'],
      [minimum !== undefined, 'too small', (minimum ?? 0) - 1],
      [maximum !== undefined, 'too large', (maximum ?? 0) + 1],
      [is('integer'), 'no whole number', 1.5],
      [minItems > 0, 'no items', []]
    ]
    const own = rows.filter(([isMeant]) => isMeant)
      .flatMap(([, place, ...values]) => values.map((value) => fc.constant({ value, place })))
    const inner = items === undefined
      ? []
      : [invalid(items).map(({ value, place }) => ({ value: [value], place: `item: ${place}` }))]
    if (properties === undefined) return fc.oneof(...own, ...inner)
    const whole = valid(schema).map(Object)
    return fc.oneof(
      ...own,
      whole.map((value) => ({ value: { ...value, unknownMember: 1 }, place: 'an unknown member' })),
      ...required.map((name) => whole.map(({ [name]: left, ...value }) => ({ value, place: `no ${name}` }))),
      ...Object.entries(properties).map(([name, each]) => fc.tuple(whole, invalid(each))
        .map(([all, { value, place }]) => ({ value: { ...all, [name]: value }, place: `${name}: ${place}` })))
    )
  }

  return { valid, invalid }
}
