// How bytes become records: whatever chunks they come in.
import { test } from 'tap'
import { byteRecords, type Chunks } from '../../lib/transfer/byte-records.ts'
import { tableColumns } from '../../lib/transfer/columns.ts'
import { csvRows } from '../../lib/transfer/csv-rows.ts'
import { ndjsonRows } from '../../lib/transfer/ndjson-rows.ts'
import { findLineEnd } from '../../lib/transfer/record-search.ts'
import type { SourceRows } from '../../lib/transfer/source-row.ts'
import { createHostFields } from '../../lib/fields/host-fields.ts'
import { fields } from '../helpers/fields.ts'

const { schema } = await createHostFields({
  schema: fields,
  filterable: [],
  unique: []
}, { members: [], parameters: [] })
const table = tableColumns(schema)

const chunksOf = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))

/** Each row as its line and value, or the details of its faults. */
async function read (rows: SourceRows): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const part of rows) {
    for (const row of part) {
      all.push('value' in row ? [row.line, row.value] : [row.line, row.error.code, row.error.errors?.[0]?.code])
    }
  }
  return all
}

/** The rows of bytes in chunks of every size, which must be the same. */
async function inAnyChunks (bytes: string | Buffer, rowsOf: (chunks: Chunks) => SourceRows): Promise<unknown[]> {
  const buffer = Buffer.from(bytes)
  const whole = await read(rowsOf([buffer]))
  for (const size of [1, 2, 3, 5, 7, 16, 64]) {
    const cut = await read(rowsOf(chunksOf(buffer, size)))
    const [a, b] = [cut, whole].map((rows) => JSON.stringify(rows))
    if (a !== b) throw new Error(`chunks of ${size} bytes: ${a}`)
  }
  return whole
}

const jsonRows = (bytes: string | Buffer) => inAnyChunks(bytes, ndjsonRows)
const tableRows = (bytes: string | Buffer) => inAnyChunks(bytes, (chunks) => csvRows(chunks, table))

test('lines of JSON', async (t) => {
  t.strictSame(await jsonRows(''), [])
  t.strictSame(await jsonRows('\ufeff{"a":1}\r\n\n  \n{"b":"ü"}'),
    [[1, { a: 1 }], [4, { b: 'ü' }]], 'a BOM, blank lines')
  t.strictSame(await jsonRows(`{}\n${' '.repeat(40)}\t\n \r\n7`), [[1, {}], [4, 7]], 'blank lines of any length')
  t.strictSame(await jsonRows('{}\n7\n{"a\n{"a":1,"a":2}\n{"__proto__":1}\n{}{}\n'), [
    [1, {}], [2, 7], [3, 'malformed_json', undefined], [4, 'validation_failed', 'duplicate'],
    [5, 'validation_failed', 'forbidden'], [6, 'malformed_json', undefined]
  ])
  t.strictSame(await jsonRows(Buffer.from([0x22, 0xff, 0x22, 10, 0x31])), [[1, 'malformed_json', undefined], [2, 1]])
  t.strictSame(await read(ndjsonRows(['{"a":', '1}\n{}'])), [[1, { a: 1 }], [2, {}]], 'texts')
})

test('a line of 64 KiB is read, and a longer one refused, in any chunks', async (t) => {
  const line = (length: number) => JSON.stringify('x'.repeat(length - 2))
  const text = `${line(65_536)}\n${line(65_537)}\n1\n${line(400_000)}\n2`
  const expected = [[1, 'x'.repeat(65_534)], [2, 'body_too_large', undefined], [3, 1], [4, 'body_too_large', undefined]]
  for (const size of [1000, 65_535, 65_536, 65_537, 1e6]) {
    t.strictSame(await read(ndjsonRows(chunksOf(Buffer.from(text), size))), [...expected, [5, 2]], String(size))
  }
  t.strictSame(await read(ndjsonRows(chunksOf(Buffer.from('x'.repeat(200_000)), 999))),
    [[1, 'body_too_large', undefined]], 'and no end')
  let kept = 0
  for await (const [record] of byteRecords(chunksOf(Buffer.alloc(1e6, 'x'), 1000), findLineEnd, 100)) {
    kept += record?.bytes?.length ?? 0
  }
  t.equal(kept, 0, 'it is not kept')
  const parts: number[] = []
  for await (const part of byteRecords([Buffer.alloc(1e6, `${'x'.repeat(49_999)}\n`)], findLineEnd, 65_536)) {
    parts.push(part.length)
  }
  t.strictSame(parts, [6, 6, 6, 2], 'few long lines are parsed together')
})

test('tables: quotation marks, line breaks, separators, BOM', async (t) => {
  const ann = { name: 'Ann', email: 'ann@example.org' }
  for (const [what, text, rows] of [
    ['plain', 'name,email\nAnn,ann@example.org\n', [[2, ann]]],
    ['CR LF, a BOM, no line break at the end', '\ufeffname,email\r\nAnn,ann@example.org', [[2, ann]]],
    ['CR CR LF', 'name,email\r\r\nAnn,ann@example.org\r\r\n\r\r\n"Ann",ann@example.org\r\r\n', [[2, ann], [4, ann]]],
    ['tabs', 'name\temail\nAnn\tann@example.org', [[2, ann]]],
    ['empty lines before and between', '\n\r\nname,email\n\nAnn,ann@example.org\n\n', [[5, ann]]],
    ['line breaks in a cell', 'name,email\n"A\r\nB\n",x\nC,y', [
      [2, { name: 'A\r\nB\n', email: 'x' }], [5, { name: 'C', email: 'y' }]
    ]],
    ['values that are not of their type', 'name,email,seats,active\nA,x,many,yes', [
      [2, { name: 'A', email: 'x', seats: 'many', active: 'yes' }]
    ]],
    ['JSON', 'name,email,anything\nA,x,"[1,{""a"":null}]"\nB,x,word', [
      [2, { name: 'A', email: 'x', anything: [1, { a: null }] }], [3, { name: 'B', email: 'x', anything: 'word' }]
    ]],
    ['JSON that no body may have', 'name,email,anything\nA,x,"{""a"":1,""a"":2}"\nB,x,"[{""__proto__"":1}]"\n' +
      'C,x,"{""constructor"":{""prototype"":1}}"', [
      [2, 'validation_failed', 'duplicate'], [3, 'validation_failed', 'forbidden'],
      [4, 'validation_failed', 'forbidden']
    ]]
  ] as const) t.strictSame(await tableRows(text), rows, what)
})

test('tables as spreadsheets write them', async (t) => {
  const ann = { name: 'Ann', email: 'ann@example.org' }
  const row = (more: object) => [[2, { ...ann, ...more }]]
  for (const [what, text, rows] of [
    ['names in any case, with spaces and hyphens', 'Name;E-Mail;created_at;ADDRESS.City;fields.Plan\n' +
      'Ann;ann@example.org;2020-01-01;Bonn;pro',
    row({ createdAt: '2020-01-01', address: { city: 'Bonn' }, plan: 'pro' })],
    ['booleans', 'name,email,active\nAnn,ann@example.org,TRUE\nAnn,ann@example.org,False\nAnn,ann@example.org,0', [
      [2, { ...ann, active: true }], [3, { ...ann, active: false }], [4, { ...ann, active: false }]
    ]],
    ['numbers', 'name,email,seats\nAnn,ann@example.org, 07\nAnn,ann@example.org,1e2\nAnn,ann@example.org,0x7\n' +
      'Ann,ann@example.org,9007199254740993\nAnn,ann@example.org,1e999', [
      [2, { ...ann, seats: 7 }], [3, { ...ann, seats: 100 }], [4, { ...ann, seats: '0x7' }],
      [5, { ...ann, seats: '9007199254740993' }], [6, { ...ann, seats: '1e999' }]
    ]],
    ['numbers that a double does not hold', `name,email,seats\n${[
      '+9007199254740993', '9007199254740993.0', '90071992547409930e-1', '0.12345678901234567890', '1e-400',
      `1${'0'.repeat(400)}`, '+9007199254740992', '0.50', '.5', '1e21', '5e-324', '-0.0', '1.7976931348623157e308'
    ].map((each) => `A,x,${each}`).join('\n')}`, [
      '+9007199254740993', '9007199254740993.0', '90071992547409930e-1', '0.12345678901234567890', '1e-400',
      `1${'0'.repeat(400)}`, 9007199254740992, 0.5, 0.5, 1e21, 5e-324, -0, Number.MAX_VALUE
    ].map((seats, n) => [n + 2, { name: 'A', email: 'x', seats }])],
    ['rows of separators alone', ';;\nname;email;note\n;;\nAnn;ann@example.org;\n\n;;\n', [[4, ann]]],
    ['the separator in a line of its own', 'sep=;\r\nname;email\r\nAnn;ann@example.org', [[3, ann]]],
    ['any separator in a line of its own', '\ufeff"sep=|"\nname|email\n"Ann"|ann@example.org\n|\n', [[3, ann]]],
    ['a comma in a quoted name, and none of the others', '"name";"email";"no, te"\n', 'unknown'],
    ['empty last columns', 'name;email;;\nAnn;ann@example.org;;\nAnn;ann@example.org\nAnn;ann@example.org;;;',
      [[2, ann], [3, ann], [4, ann]]],
    ['a cell behind the last column', 'name;email;\nAnn;ann@example.org;x', [[2, 'validation_failed', 'format']]],
    ['a text field that may be null', 'name,email,note\nAnn,ann@example.org,12345\nAnn,ann@example.org,"""q"""\n' +
      'Ann,ann@example.org,01234\nAnn,ann@example.org,null\nAnn,ann@example.org,"null"\n' +
      'Ann,ann@example.org,"[1,\'-2]"', [
      [2, { ...ann, note: '12345' }], [3, { ...ann, note: '"q"' }], [4, { ...ann, note: '01234' }],
      [5, { ...ann, note: null }], [6, { ...ann, note: 'null' }], [7, { ...ann, note: '[1,-2]' }]
    ]],
    ['null where it is no value', 'name,email,plan,seats\nnull,x,null,null', [
      [2, { name: 'null', email: 'x', plan: 'null', seats: 'null' }]
    ]]
  ] as const) {
    t.strictSame(await tableRows(text).catch(({ errors }) => errors[0].code), rows, what)
  }
  const text = '\ufeffName\tE-Mail\r\nZoë\t\u{1f98a}@example.org\r\n'
  const expected = [[2, { name: 'Zoë', email: '\u{1f98a}@example.org' }]]
  const little = Buffer.from(text, 'utf16le')
  t.strictSame(await tableRows(little), expected, 'UTF-16, little-endian')
  t.strictSame(await tableRows(Buffer.from(little).swap16()), expected, 'UTF-16, big-endian')
  const broken = Buffer.from('\ufeffname\temail\nA\ud83d\tx\nA\tx\nA\tx\udd8a', 'utf16le')
  t.strictSame(await tableRows(broken), [[2, 'validation_failed', 'format'], [3, { name: 'A', email: 'x' }],
    [4, 'validation_failed', 'format']], 'half a character')
  t.strictSame(await tableRows(Buffer.concat([little, Buffer.from('x')])),
    [...expected, [3, 'validation_failed', 'format']], 'half a unit')
  t.strictSame(await jsonRows(Buffer.from('\ufeff{"a":"ü"}\n', 'utf16le')), [[1, { a: 'ü' }]], 'lines of JSON')
})

test('what is wrong in a table stays in its line', async (t) => {
  const wrong = (line: number) => [line, 'validation_failed', 'format']
  const value = { name: 'A', email: 'x' }
  for (const [what, text, rows] of [
    ['too few and too many cells', 'name,email\nA\nA,x,y\nA,x', [wrong(2), wrong(3), [4, value]]],
    ['a quotation mark within a cell', 'name,email\n5" A,x\nA,x', [wrong(2), [3, value]]],
    ['a CR alone', 'name,email\nA\rB,x\n"A"\r,x\n"A\rB",x\n\rA,x\nA,x\r', [
      wrong(2), wrong(3), [4, { name: 'A\rB', email: 'x' }], wrong(5), [6, value]
    ]],
    ['more behind a quoted cell', 'name,email\n"A"b,x\nA,x', [wrong(2), [3, value]]],
    ['a quotation mark that is not closed, at the end', 'name,email\nA,x\n"A,x', [[2, value], wrong(3)]],
    ['one that is not closed, before good lines', 'name,email\n"lost,a\nA,x\n\nA,x\n', [
      wrong(2), [3, value], [5, value]
    ]]
  ] as const) t.strictSame(await tableRows(text), rows, what)
  t.strictSame(await tableRows(Buffer.concat([Buffer.from('name,email\n\xff,x\nA,x', 'latin1')])),
    [wrong(2), [3, value]], 'no UTF-8')
  const long = `name,email\n"A,x\n${'B,y\n'.repeat(20_000)}`
  const rows = await read(csvRows(chunksOf(Buffer.from(long), 65536), table))
  t.strictSame(rows.slice(0, 2), [[2, 'body_too_large', undefined], [3, { name: 'B', email: 'y' }]])
  t.equal(rows.length, 20_001, 'one that is not closed takes only its own line')
})

test('a header that does not fit is refused before any row', async (t) => {
  const faultsOf = async (bytes: string | Buffer) => {
    try {
      return await read(csvRows([bytes], table))
    } catch (error) {
      const { code, errors = [] } = Object(error)
      return [code, ...errors.map((fault: Record<string, string>) => `${fault['pointer']} ${fault['code']}`)]
    }
  }
  t.strictSame(await faultsOf(''), ['validation_failed', ' format'])
  t.strictSame(await faultsOf('name,email\n,\n\n'), [], 'nobody')
  t.strictSame(await faultsOf('name,email\rA,x\rB,y\r'), ['validation_failed', ' format'], 'CR alone')
  t.strictSame(await faultsOf('name,mail\nA,x'), ['validation_failed', ' unknown', '/email required'])
  t.strictSame(await faultsOf('name,email,,plan.x\n'), ['validation_failed', ' unknown', ' unknown'])
  t.strictSame(await faultsOf('"name,email\n'), ['validation_failed', ' format'])
  t.strictSame(await faultsOf('name,email,plan,Plan,E-MAIL\n'),
    ['validation_failed', '/plan duplicate', '/email duplicate'])
  t.strictSame(await faultsOf('x'.repeat(70_000)), ['validation_failed', ' format'])
})

test('a header tells which names are allowed and which is the nearest, and no name that it has', async (t) => {
  const details = await read(csvRows(['name,mail,plam,email\n'], table)).then(
    () => [], ({ errors }) => errors.map(({ detail }: Record<string, string>) => detail))
  const fault = (place: number, near: string) =>
    `is not a known member: it is the name of column ${place} of the header; the nearest is ${near}`
  t.strictSame(details,
    [`${fault(2, 'email')}; the allowed names are ${table.map(({ name }) => name).join(', ')}`, fault(3, 'plan')])
  const ann = 'Ann,ann@example.org'
  t.strictSame(await read(csvRows([`name,${'-'.repeat(251)}email\n${ann}\n`], table)),
    [[2, { name: 'Ann', email: 'ann@example.org' }]])
  const long = await read(csvRows([`name,${'-'.repeat(252)}email\n${ann}\n`], table)).catch(({ errors }) => errors)
  t.match(long, [{ code: 'unknown' }, { pointer: '/email' }], 'a very long name is compared as it is')
  const [, nameColumn] = table
  const twice = await read(csvRows([`e mail,name,email,${ann}\n`, 'x,Ann,y,z,w\n'], table,
    { entries: [nameColumn].flatMap((column) => column ? { column, from: ['E-MAIL'] } : []), ignoreUnknown: true }))
    .catch(({ errors }) => errors)
  t.match(twice, [{ pointer: '/name', code: 'required' }], 'a name that two columns resemble is neither')
  const many = await read(csvRows([`name,email${',x'.repeat(1000)}\n`], table)).catch(({ errors }) => errors)
  t.match(many.at(-1).detail, /; the nearest is /)
})
