// Parameters and faults by their declarations, as far as no list over HTTP shows them: test/users/list.test.ts,
// test/fields/lists.test.ts, test/fields/keywords.test.ts.
import { test } from 'tap'
import { type FaultReason, reasonFor } from '../../lib/core/fault.ts'
import {
  filterParameter, flagParameter, idParameter, integerParameter, parameterFaults, parseParameter
} from '../../lib/core/parameters.ts'

const limit = integerParameter(1, 100, 20, 'How many.')
const after = idParameter(/^usr_[a-z]{3}$/, 'Behind this id.')

test('a filter takes values of its kind that every store can compare', async (t) => {
  const rows: Array<['string' | 'number' | 'boolean', right: unknown[], wrong: unknown[], detail: string]> = [
    ['string', ['', 'ä😀'], [5, true, null, 'a\0', '\ud800'], 'must be well-formed Unicode without NUL'],
    ['number', [0, -1.5, 1e300], ['5', NaN, Infinity, true, null], 'must be a number'],
    ['boolean', [true, false], ['true', 0, null], 'must be true or false']
  ]
  for (const [kind, right, wrong, detail] of rows) {
    const parameter = filterParameter(kind, 'plan', { type: kind, maxLength: 9 }, () => null)
    for (const value of right) t.equal(parameter.problem(value), null, kind)
    for (const value of wrong) t.strictSame(parameter.problem(value), { code: 'type', detail }, kind)
  }
  const refused = { code: 'choice', detail: 'must be one of "free"', pointer: '/plan' }
  const choice = filterParameter('string', 'plan', { type: 'string' }, () => refused)
  t.strictSame(choice.problem('gold'), { code: 'choice', detail: refused.detail }, 'a parameter has no pointer')
})

test('values in process have the type that is declared', async (t) => {
  const flag = flagParameter('Even the last.')
  for (const value of [0, 101, 1.5, NaN]) t.match(limit.problem(value), { code: 'range' })
  for (const value of ['key_abc', 'usr_abcd', 'usr_abc\n', ['usr_abc']]) {
    t.match(after.problem(value), { code: 'format' })
  }
  t.strictSame([flag.problem(true), flag.problem(false)], [null, null])
  for (const value of ['true', 1, null]) t.match(flag.problem(value), { code: 'choice' })
  t.strictSame(parameterFaults({ toString: limit }, {}), [], 'what is inherited is not given')
  const inherited = parameterFaults({ toString: limit }, { x: 1 })
  t.strictSame(inherited.map(({ parameter }) => parameter), ['x'], 'nor beside another fault')
  t.strictSame(parameterFaults({ limit, after }, { limit: undefined }), [], 'undefined is not given')
  t.strictSame(parameterFaults({ limit, after }, { limit: null }).length, 1, 'null is given')
})

test('the text of a number is that of JSON (RFC 8259 section 6)', async (t) => {
  const number = filterParameter('number', 'n', { type: 'integer' }, () => null)
  for (const [text, value] of [['-1.5', -1.5], ['1e3', 1000], ['2E-1', 0.2], ['0', 0]] as const) {
    t.equal(parseParameter(text, number), value)
  }
  for (const text of ['', '+1', '.5', '5.', '01', 'NaN', 'Infinity', '0x1', ' 1']) {
    t.equal(parseParameter(text, number), text, 'stays text, which the check refuses')
  }
})

test('keywords that say more than one thing have the sentence of each', async (t) => {
  const rows: Array<[keyword: string, params: Record<string, unknown>, code: string, detail: string]> = [
    ['unevaluatedProperties', { unevaluatedProperty: 'x' }, 'unknown', 'is not a known member'],
    ['type', { type: 'number' }, 'type', 'must be a number'],
    ['type', { type: 'boolean' }, 'type', 'must be true or false'],
    ['type', { type: ['string', 'null'] }, 'type', 'must be a string or null'],
    ['type', { type: 'date' }, 'type', 'must be date'],
    ['enum', { allowedValues: ['a', 1, null] }, 'choice', 'must be one of "a", 1, null'],
    ['oneOf', { passingSchemas: null }, 'choice', 'must have one of the forms of this field'],
    ['dependentRequired', { missingProperty: 'x' }, 'invalid', 'is not valid']
  ]
  for (const [keyword, params, code, detail] of rows) {
    const reason: FaultReason = { code, detail }
    t.strictSame(reasonFor(keyword, params), reason, `${keyword} ${JSON.stringify(params)}`)
  }
})
