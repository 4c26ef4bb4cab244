// What an export writes as a table, an import reads back as it was.
import fc from 'fast-check'
import { test, type Test } from 'tap'
import { createHostFields } from '../../lib/fields/host-fields.ts'
import { tableColumns } from '../../lib/transfer/columns.ts'
import { csvHeader, csvLine } from '../../lib/transfer/csv.ts'
import { csvRows } from '../../lib/transfer/csv-rows.ts'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { linesOf } from '../helpers/import-rows.ts'

const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false }
const kinds = {
  text: { type: 'string' },
  count: { type: 'integer' },
  ratio: { type: 'number' },
  flag: { type: 'boolean' },
  day: { type: 'string', format: 'date' },
  point,
  list: { type: 'array', items: { type: 'string' } }
}
const CLOSED = { additionalProperties: false }
const values = [
  { text: 'null', count: -7, ratio: 0.5, flag: false, day: '2020-02-29', point: { x: 1 }, list: ['null'] },
  { text: null, count: null, ratio: null, flag: null, day: null, point: null, list: null },
  { text: '', count: 0, ratio: -1e-7, flag: true, list: [] },
  { text: '"=1"' }, { text: '7' }, { text: 'true' }, { text: '01234' }, { text: 'a;=1\n- b\t"@c' }, {}
]

/** Moves users by a table from one host to another, where they must be the same. */
async function moved (t: Test, properties: object, users: readonly object[]) {
  const schema = withoutType({ type: 'object', properties })
  const [from, to] = [await testApp(t, { fields: { schema } }), await testApp(t, { fields: { schema } })]
  for (const user of users) await from.app.users.create(withoutType(user))
  const table = await from.call('GET', '/users/export?format=csv')
  const importTable = (payload: string | Buffer) =>
    to.call('POST', '/users/import?report=all', { headers: { 'content-type': 'text/csv' }, payload })
  const answer = linesOf((await importTable(table.rawPayload)).body)
  t.match(answer.at(-1), { summary: { created: users.length, refused: 0 } })
  const [before, after] = await Promise.all([from, to].map(async ({ call }) =>
    linesOf((await call('GET', '/users/export')).body)))
  t.equal(before?.length, users.length)
  t.strictSame(after, before)
  return { table: table.body, answer, importTable }
}

for (const [what, withNull] of [
  ['nullable: true', (schema: object) => ({ ...schema, nullable: true })],
  ['a list of types', (schema: { type: string }) => ({ ...schema, type: [schema.type, 'null'] })],
  ['anyOf', (schema: object) => ({ anyOf: [schema, { type: 'null' }] })]
] as const) {
  test(`fields that can be null by ${what} come back from a table as they were`, async (t) => {
    const properties = Object.fromEntries(Object.entries(kinds).map(([name, schema]) => [name, withNull(schema)]))
    const nested = { type: 'object', properties, required: ['text'], additionalProperties: false }
    await moved(t, { ...properties, nested }, values.map((own, n) => ({
      name: 'N', email: `n${n}@example.org`, ...own, ...('text' in own && { nested: own })
    })))
  })
}

test('whatever values fields of any types have, they come back from a table', async () => {
  const text = fc.string({ unit: fc.constantFrom('l', '7', "'", '=', '-', ',', ';', '"', '\n', '\r', ' ', 'ü') })
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0))
  const word = fc.constantFrom('null', 'true', '7', '"7"', '[]', '')
  const own = {
    text: fc.oneof(text, word),
    textOrNull: fc.oneof(text, word, fc.constant(null)),
    number,
    numberOrNull: fc.option(number),
    flagOrNull: fc.option(fc.boolean()),
    list: fc.array(text),
    several: fc.oneof(text, word, number, fc.boolean()),
    any: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', '')))
  }
  const orNull = (type: string) => ({ type: [type, 'null'] })
  const { schema } = await createHostFields({
    schema: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        textOrNull: orNull('string'),
        number: { type: 'number' },
        numberOrNull: orNull('number'),
        flagOrNull: orNull('boolean'),
        list: { type: 'array' },
        several: { type: ['string', 'number', 'boolean'] },
        any: {}
      }
    },
    filterable: [],
    unique: []
  }, { members: [], parameters: [] })
  const columns = tableColumns(schema)
  const user = fc.tuple(fc.record({ name: text, email: text }), fc.record(own, { requiredKeys: [] }))
    .map(([always, more]) => ({ ...always, ...more }))
  await fc.assert(fc.asyncProperty(fc.array(user, { minLength: 1, maxLength: 5 }), async (users) => {
    const file = csvHeader(columns) + users.map((each) => csvLine(each, columns)).join('')
    const read: unknown[] = []
    for await (const rows of csvRows([file], columns)) read.push(...rows.map((row) => 'value' in row ? row.value : row))
    return JSON.stringify(read) === JSON.stringify(users)
  }))
})

const named = (names: string[]) => Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
const userWith = (names: string[]) => ({
  name: 'N', email: 'n@example.org', ...Object.fromEntries(names.map((name, n) => [name, `value\n${n}`]))
})

test('names of fields with line breaks come back from a table as they were', async (t) => {
  const names = ['two\nlines', 'three\r\n"lines", \n', '\n']
  const { table, answer, importTable } = await moved(t, named(names), [userWith(names)])
  t.match(answer[0], { line: 6, status: 'created' })
  t.match((await importTable(`\n"${table.slice(table.indexOf(','))}`)).json(), { code: 'validation_failed' },
    'a mark that is not closed')
})

test('names of fields that a spreadsheet would change come back from a table as they were', async (t) => {
  const names = [' spaces ', '=SUM(A1)', "'=1", '-1', 'with "quotes", and more']
  const { table } = await moved(t, named(names), [userWith(names)])
  t.equal(table.slice(0, table.indexOf('\r\n')),
    '"id","name","email"," spaces ","\'=SUM(A1)","\'\'=1","\'-1","with ""quotes"", and more","status","statusReason",' +
    '"version","createdAt","updatedAt"')
})

test('a fault in a table points to the member, whatever its name', async (t) => {
  const inner = { type: 'object', properties: { 'x/y': { type: 'string' } }, required: ['x/y'], ...CLOSED }
  const { call } = await testApp(t, {
    fields: { schema: withoutType({ type: 'object', properties: { 'a/b': { type: 'string' }, 'c~d': {}, o: inner } }) }
  })
  const post = (payload: string) => call('POST', '/users/import', { headers: { 'content-type': 'text/csv' }, payload })
  const twice = await post('name,email,a/b,a/b,c~d,c~d,o.x/y,o.x/y\n')
  t.strictSame([twice.statusCode, twice.json().errors.map(({ pointer }: { pointer: string }) => pointer)],
    [400, ['/a~1b', '/c~0d', '/o/x~1y']])
  const [cell] = linesOf((await post('name,email,c~d\nA,a@example.org,"{""a"":1,""a"":2}"')).body)
  t.match(cell, { line: 2, status: 'refused', problem: { errors: [{ pointer: '/c~0d', code: 'duplicate' }] } })
})
