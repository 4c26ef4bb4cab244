import { test } from 'tap'
import {
  choiceParameter, filterParameter, flagParameter, idParameter, integerParameter, type Parameter, parameterFaults,
  parseParameter
} from '../../lib/core/parameters.ts'

const limit = integerParameter(1, 100, 20, 'How many.')
const sort = choiceParameter(['up', 'down'], 'Order.')
const force = flagParameter('Even the last.')
const after = idParameter(/^usr_[a-z]{3}$/, 'Behind this id.')
const faultOf = (parameter: Parameter, value: unknown) => parameter.problem(value)

test('a whole number lies between its bounds, both included', async (t) => {
  for (const value of [1, 20, 100]) t.equal(faultOf(limit, value), null)
  const fault = { code: 'range', detail: 'must be a whole number from 1 to 100' }
  for (const value of [0, 101, 1.5, NaN, Infinity, '5', null, [5], true]) t.strictSame(faultOf(limit, value), fault)
  t.strictSame(limit.schema, { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'How many.' })
})

test('a choice is one of its words, and the first is the default', async (t) => {
  for (const value of ['up', 'down']) t.equal(faultOf(sort, value), null)
  for (const value of ['UP', '', 'sideways', 0, ['up']]) {
    t.strictSame(faultOf(sort, value), { code: 'choice', detail: 'must be up or down' })
  }
  t.strictSame(sort.schema, { type: 'string', enum: ['up', 'down'], default: 'up', description: 'Order.' })
})

test('a flag is true or false, and false by default', async (t) => {
  for (const value of [true, false]) t.equal(faultOf(force, value), null)
  for (const value of ['true', 1, 0, null]) {
    t.strictSame(faultOf(force, value), { code: 'choice', detail: 'must be true or false' })
  }
  t.strictSame(force.schema, { type: 'boolean', default: false, description: 'Even the last.' })
})

test('an id has the form of the list’s ids', async (t) => {
  t.equal(faultOf(after, 'usr_abc'), null)
  for (const value of ['key_abc', 'usr_abcd', 'usr_abc\n', 5, ['usr_abc']]) {
    t.strictSame(faultOf(after, value), { code: 'format', detail: 'must be the id of a record of this list' })
  }
  t.strictSame(after.schema, { type: 'string', pattern: '^usr_[a-z]{3}$', description: 'Behind this id.' })
})

test('a filter takes values of its kind that every store can compare', async (t) => {
  const rows: Array<['string' | 'number' | 'boolean', right: unknown[], wrong: unknown[], detail: string]> = [
    ['string', ['', 'ä😀'], [5, true, null, 'a\0', '\ud800'], 'must be well-formed Unicode without NUL'],
    ['number', [0, -1.5, 1e300], ['5', NaN, Infinity, true, null], 'must be a number'],
    ['boolean', [true, false], ['true', 0, null], 'must be true or false']
  ]
  for (const [kind, right, wrong, detail] of rows) {
    const parameter = filterParameter(kind, 'plan', { type: kind, maxLength: 9 }, () => null)
    for (const value of right) t.equal(faultOf(parameter, value), null, kind)
    for (const value of wrong) t.strictSame(faultOf(parameter, value), { code: 'type', detail }, kind)
    t.strictSame(parameter.schema, { type: kind, maxLength: 9, description: 'Only users whose `plan` has this value.' })
  }
  const refused = { code: 'choice', detail: 'must be one of "free"', pointer: '/plan' }
  const choice = filterParameter('string', 'plan', { type: 'string' }, () => refused)
  t.strictSame(faultOf(choice, 'gold'), { code: 'choice', detail: refused.detail }, 'a parameter has no pointer')
})

test('faults name unknown parameters first, then wrong values in the order of declaration', async (t) => {
  const declared = { limit, sort, after }
  const query = { after: 'x', toString: 1, sort: 'up', limit: 0, other: undefined }
  t.strictSame(parameterFaults(declared, query), [
    { parameter: 'toString', code: 'unknown', detail: 'is not a known parameter' },
    { parameter: 'other', code: 'unknown', detail: 'is not a known parameter' },
    { parameter: 'limit', code: 'range', detail: 'must be a whole number from 1 to 100' },
    { parameter: 'after', code: 'format', detail: 'must be the id of a record of this list' }
  ])
  t.strictSame(parameterFaults(declared, { limit: undefined }), [], 'undefined is not given')
  t.strictSame(parameterFaults({ toString: limit }, {}), [], 'what is inherited is not given')
  const [unknown, ...others] = parameterFaults({ toString: limit }, { x: 1 })
  t.strictSame([unknown?.parameter, others], ['x', []], 'nor beside another fault')
  t.strictSame(parameterFaults(declared, { limit: null }).length, 1, 'null is given')
})

test('the text of an integer is decimal digits alone', async (t) => {
  for (const [text, value] of [['0', 0], ['7', 7], ['1000000000', 1e9]] as const) {
    t.equal(parseParameter(text, limit), value)
  }
  for (const text of ['', ' 7', '+7', '-7', '07', '7.0', '7e1', '0x7', '7n', '٧', 'x']) {
    t.ok(Number.isNaN(parseParameter(text, limit)), text)
  }
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

test('the text of a flag is true or false, and other text is itself', async (t) => {
  t.strictSame([parseParameter('true', force), parseParameter('false', force)], [true, false])
  for (const text of ['TRUE', '1', '']) t.equal(parseParameter(text, force), text)
  t.equal(parseParameter('5', sort), '5')
  t.equal(parseParameter('5', undefined), '5', 'an undeclared parameter')
})
