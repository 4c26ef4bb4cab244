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

const { schema } = await createHostFields(fields, { filterable: [], unique: [] }, { members: [], parameters: [] })
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
})

test('tables: quotation marks, line breaks, separators, BOM', async (t) => {
  const ann = { name: 'Ann', email: 'ann@example.org' }
  for (const [what, text, rows] of [
    ['plain', 'name,email\nAnn,ann@example.org\n', [[2, ann]]],
    ['CR LF, a BOM, no line break at the end', '\ufeffname,email\r\nAnn,ann@example.org', [[2, ann]]],
    ['semicolons', 'name;email\nAnn;ann@example.org', [[2, ann]]],
    ['tabs', 'name\temail\nAnn\tann@example.org', [[2, ann]]],
    ['another order, spaces around names', ' email , name \nann@example.org,Ann', [[2, { ...ann }]]],
    ['empty lines before and between', '\n\r\nname,email\n\nAnn,ann@example.org\n\n', [[5, ann]]],
    ['quotation marks', 'name,email\n"A ""B"", C",x\n', [[2, { name: 'A "B", C', email: 'x' }]]],
    ['line breaks in a cell', 'name,email\n"A\r\nB\n",x\nC,y', [
      [2, { name: 'A\r\nB\n', email: 'x' }], [5, { name: 'C', email: 'y' }]
    ]],
    ['a quoted header', '"name","email"\nAnn,ann@example.org', [[2, ann]]],
    ['nothing, and a text without characters', 'name,email,note\n,"",""\nAnn,,', [
      [2, { email: '', note: '' }], [3, { name: 'Ann' }]
    ]],
    ['types', 'name,email,seats,active,note\n7,x,7,true,007\n', [
      [2, { name: '7', email: 'x', seats: 7, active: true, note: '007' }]
    ]],
    ['values that are not of their type', 'name,email,seats,active\nA,x,many,yes', [
      [2, { name: 'A', email: 'x', seats: 'many', active: 'yes' }]
    ]],
    ['members of objects', 'name,email,address.city,fields.address.zip,fields.plan\nA,x,Bonn,1,pro', [
      [2, { name: 'A', email: 'x', address: { city: 'Bonn', zip: '1' }, plan: 'pro' }]
    ]],
    ['JSON', 'name,email,anything\nA,x,"[1,{""a"":null}]"\nB,x,word', [
      [2, { name: 'A', email: 'x', anything: [1, { a: null }] }], [3, { name: 'B', email: 'x', anything: 'word' }]
    ]],
    ['what was made harmless', 'name,email\n\'=1,\'\'@a\n\'a,-1', [
      [2, { name: '=1', email: '\'@a' }], [3, { name: '\'a', email: '-1' }]
    ]],
    ['JSON that no body may have', 'name,email,anything\nA,x,"{""a"":1,""a"":2}"\nB,x,"[{""__proto__"":1}]"\n' +
      'C,x,"{""constructor"":{""prototype"":1}}"', [
      [2, 'validation_failed', 'duplicate'], [3, 'validation_failed', 'forbidden'],
      [4, 'validation_failed', 'forbidden']
    ]]
  ] as const) t.strictSame(await tableRows(text), rows, what)
})

test('what is wrong in a table stays in its line', async (t) => {
  const wrong = (line: number) => [line, 'validation_failed', 'format']
  const value = { name: 'A', email: 'x' }
  for (const [what, text, rows] of [
    ['too few and too many cells', 'name,email\nA\nA,x,y\nA,x', [wrong(2), wrong(3), [4, value]]],
    ['a quotation mark within a cell', 'name,email\n5" A,x\nA,x', [wrong(2), [3, value]]],
    ['more behind a quoted cell', 'name,email\n"A"b,x\nA,x', [wrong(2), [3, value]]],
    ['a quotation mark that is not closed, at the end', 'name,email\nA,x\n"A,x', [[2, value], wrong(3)]],
    ['one that is not closed, before good lines', 'name,email\n"lost,a\nA,x\n\nA,x\n', [
      wrong(2), [3, value], [5, value]
    ]],
    ['several that are not closed', 'name,email\n"A\n,"B\nA,x\n"A\nA,x\n', [
      wrong(2), wrong(3), [4, value], wrong(5), [6, value]
    ]],
    ['one that is not closed, before quoted lines', 'name,email\n"lost,a\nA,x\n"A","x"\n"A",x\n', [
      wrong(2), [3, value], [4, value], [5, value]
    ]],
    ['more behind a quoted cell, and one that is not closed', 'name,email\n"A"b,"\nA,x\n', [wrong(2), [3, value]]]
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
  t.strictSame(await faultsOf('\n\n'), ['validation_failed', ' format'])
  t.strictSame(await faultsOf('name,email\n'), [])
  t.strictSame(await faultsOf('name,mail\nA,x'), ['validation_failed', ' unknown', '/email required'])
  t.strictSame(await faultsOf('name,email,,plan.x\n'), ['validation_failed', ' unknown', ' unknown'])
  t.strictSame(await faultsOf('name,email,name,plan,fields.plan\n'),
    ['validation_failed', '/name duplicate', '/plan duplicate'])
  t.strictSame(await faultsOf('"name,email\n'), ['validation_failed', ' format'])
  t.strictSame(await faultsOf(Buffer.from('name,email\xff\n', 'latin1')), ['validation_failed', ' format'])
  t.strictSame(await faultsOf(Buffer.from('\ufeffname,email\n', 'utf16le')), ['validation_failed', ' format'])
  t.strictSame(await faultsOf('x'.repeat(70_000)), ['validation_failed', ' format'])
})

test('without csv-parse a table is refused, and says what is missing', async (t) => {
  const load = () => { throw new Error('fastify-users: CSV needs csv-parse: npm install csv-parse') }
  await t.rejects(read(csvRows(['name,email\n'], table, load)), {
    code: 'unsupported_media_type',
    message: 'Tables need the package csv-parse on the server: npm install csv-parse',
    headers: { accept: 'application/x-ndjson' }
  })
})
