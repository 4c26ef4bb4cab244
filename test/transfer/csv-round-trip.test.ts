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

/** Moves a user with fields of these names by a table from one host to another, where it must be the same. */
async function moved (t: Test, names: readonly string[]) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const schema = withoutType({ type: 'object', properties })
  const [from, to] = [await testApp(t, { fields: { schema } }), await testApp(t, { fields: { schema } })]
  const own = Object.fromEntries(names.map((name, n) => [name, `value\n${n}`]))
  await from.app.users.create(withoutType({ name: 'N', email: 'n@example.org', ...own }))
  const table = await from.call('GET', '/users/export?format=csv')
  const importTable = (payload: string | Buffer) =>
    to.call('POST', '/users/import?report=all', { headers: { 'content-type': 'text/csv' }, payload })
  const answer = linesOf((await importTable(table.rawPayload)).body)
  t.match(answer.at(-1), { summary: { created: 1, refused: 0 } })
  const [before, after] = await Promise.all([from, to].map(async ({ call }) =>
    linesOf((await call('GET', '/users/export')).body)))
  t.strictSame(after, before)
  return { table: table.body, answer, importTable }
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

test('whatever names fields have, they come back from a table', async (t) => {
  const names = [
    'two\nlines', 'three\r\n"lines", \n', '\n', ' spaces ', '=SUM(A1)', "'=1", '-1', 'with "quotes", and more'
  ]
  const { table, answer, importTable } = await moved(t, names)
  t.match(answer[0], { line: 6, status: 'created' })
  t.match(table, ' spaces ","\'=SUM(A1)","\'\'=1","\'-1","with ""quotes"", and more",', 'harmless in spreadsheets')
  t.match((await importTable(`\n"${table.slice(table.indexOf(','))}`)).json(), { code: 'validation_failed' },
    'a mark that is not closed')
})

test('a fault in a table points to the member, whatever its name', async (t) => {
  const inner = {
    type: 'object', properties: { 'x/y': { type: 'string' } }, required: ['x/y'], additionalProperties: false
  }
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
