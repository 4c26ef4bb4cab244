import { test } from 'tap'
import { type FaultReason, reasonFor, unknownOptions, unknownParameters } from '../../lib/core/fault.ts'

test('each keyword of JSON Schema has its stable code and its sentence', async (t) => {
  const rows: Array<[keyword: string, params: Record<string, unknown>, code: string, detail: string]> = [
    ['required', { missingProperty: 'x' }, 'required', 'is required'],
    ['additionalProperties', { additionalProperty: 'x' }, 'unknown', 'is not a known member'],
    ['unevaluatedProperties', { unevaluatedProperty: 'x' }, 'unknown', 'is not a known member'],
    ['type', { type: 'object' }, 'type', 'must be an object'],
    ['type', { type: 'string' }, 'type', 'must be a string'],
    ['type', { type: 'number' }, 'type', 'must be a number'],
    ['type', { type: 'integer' }, 'type', 'must be a whole number'],
    ['type', { type: 'array' }, 'type', 'must be an array'],
    ['type', { type: 'boolean' }, 'type', 'must be true or false'],
    ['type', { type: ['string', 'null'] }, 'type', 'must be a string or null'],
    ['type', { type: 'date' }, 'type', 'must be date'],
    ['enum', { allowedValues: ['a', 1, null] }, 'choice', 'must be one of "a", 1, null'],
    ['const', { allowedValue: 'a' }, 'choice', 'must be "a"'],
    ['minLength', { limit: 2 }, 'too_short', 'must have at least 2 characters'],
    ['maxLength', { limit: 3 }, 'too_long', 'must have at most 3 characters'],
    ['minItems', { limit: 2 }, 'too_few', 'must have at least 2 items'],
    ['maxItems', { limit: 3 }, 'too_many', 'must have at most 3 items'],
    ['uniqueItems', { i: 1, j: 0 }, 'duplicate', 'must not have an item twice'],
    ['format', { format: 'uri' }, 'format', 'must have the format uri'],
    ['pattern', { pattern: '^a$' }, 'format', 'must match the pattern of this field'],
    ['anyOf', {}, 'choice', 'must have one of the forms of this field'],
    ['oneOf', { passingSchemas: null }, 'choice', 'must have one of the forms of this field'],
    ['multipleOf', { multipleOf: 0.5 }, 'range', 'must be a multiple of 0.5'],
    ['minimum', { comparison: '>=', limit: 0 }, 'range', 'must be >= 0'],
    ['exclusiveMaximum', { comparison: '<', limit: 9 }, 'range', 'must be < 9'],
    ['dependentRequired', { missingProperty: 'x' }, 'invalid', 'is not valid']
  ]
  for (const [keyword, params, code, detail] of rows) {
    const reason: FaultReason = { code, detail }
    t.strictSame(reasonFor(keyword, params), reason, `${keyword} ${JSON.stringify(params)}`)
  }
  t.strictSame(reasonFor('invalid'), { code: 'invalid', detail: 'is not valid' })
})

test('there is one fault for each unknown parameter or option, in order', async (t) => {
  t.strictSame(unknownParameters(['b', 'a']), [
    { parameter: 'b', code: 'unknown', detail: 'is not a known parameter' },
    { parameter: 'a', code: 'unknown', detail: 'is not a known parameter' }
  ])
  t.strictSame(unknownOptions(['x']), [{ parameter: 'x', code: 'unknown', detail: 'is not a known option' }])
  t.strictSame([unknownParameters([]), unknownOptions([])], [[], []])
})
