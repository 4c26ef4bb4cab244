// CSV as an export writes it: RFC 4180, harmless in spreadsheets, and without loss.
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { test } from 'tap'
import { createHostFields } from '../../lib/fields/host-fields.ts'
import { NO_FIELDS } from '../../lib/fields/fields-schema.ts'
import { memberNames, tableColumns } from '../../lib/transfer/columns.ts'
import { loadCsvWriter } from '../../lib/transfer/csv.ts'
import { harmless } from '../../lib/transfer/formula.ts'
import { fields } from '../helpers/fields.ts'

const schemaOf = async (given: object) =>
  (await createHostFields(given, { filterable: [], unique: [] }, { members: [], parameters: [] })).schema

/** The cells of CSV by RFC 4180: null is nothing, and "" a text without characters. */
function cellsOf (text: string): Array<Array<string | null>> {
  const rows: Array<Array<string | null>> = []
  let row: Array<string | null> = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    const [, quoted, plain = '', end] = match
    row.push(quoted === undefined ? (plain === '' ? null : plain) : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

test('a cell that a spreadsheet could take for a formula gets one apostrophe, which can be taken off', (t) => {
  for (const [text, cell] of [
    ['=1', "'=1"], ['+1', "'+1"], ['-1', "'-1"], ['@x', "'@x"], ['\tx', "'\tx"], ['\rx', "'\rx"],
    ["'=1", "''=1"], ["''-", "'''-"], ["'x", "'x"], ["'", "'"], ['', ''], ['a=1', 'a=1'], ['\n=1', '\n=1']
  ] as const) t.equal(harmless(text), cell)
  const back = (cell: string) => /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
  const text = fc.stringMatching(/^'{0,3}[=+\-@\t\ra]{0,2}$/)
  fc.assert(fc.property(text, (text) => back(harmless(text)) === text))
  fc.assert(fc.property(text, (text) => !/^[=+\-@\t\r]/.test(harmless(text))))
  t.end()
})

test('every text comes back, and nothing differs from a text without characters', (t) => {
  const { header, rows } = loadCsvWriter()
  const columns = ['a', 'b', 'c'].map((name) => ({ name, path: [name], kind: 'string' as const }))
  t.equal(header(columns), 'a,b,c\r\n')
  t.equal(rows([{ a: '', c: 'x' }, { b: 'say "x"', c: 'y,z' }], columns), '"",,x\r\n,"say ""x""","y,z"\r\n')
  t.equal(rows([{ a: 'x\ny', b: 'x\ry', c: 'x\r\ny' }], columns), '"x\ny","x\ry","x\r\ny"\r\n')
  const cell = fc.option(fc.string({ unit: fc.constantFrom('a', ',', '"', '\r', '\n', ' ', 'é', '\u{1f98a}') }))
  fc.assert(fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1 }), (table) => {
    const given = table.map(([a, b, c]) => Object.fromEntries(
      Object.entries({ a, b, c }).filter(([, value]) => value !== null)))
    const written = table.map((row) => row.map((each) => each === null ? null : harmless(each)))
    return JSON.stringify(cellsOf(rows(given, columns))) === JSON.stringify(written)
  }))
  t.end()
})

test('objects have a column for each member, lists and what may be anything one of JSON', async (t) => {
  const schema = await schemaOf(fields)
  const columns = tableColumns(schema)
  t.strictSame(columns.map(({ name, kind }) => `${name} ${kind}`), [
    'id string', 'name string', 'email string', 'plan string', 'seats number', 'active boolean', 'note null',
    'address.city string', 'address.zip string', 'address.tags null', 'anything null',
    'createdAt string', 'updatedAt string'
  ])
  const { rows } = loadCsvWriter()
  const own = columns.slice(3, -2)
  const user = { plan: 'pro', seats: -5, active: false, note: null, anything: 'x', address: { city: 'Bonn', tags: [] } }
  t.equal(rows([user, {}, { plan: { old: 1 }, address: 'x' }], own), [
    'pro,\'-5,false,null,Bonn,,[],"""x"""', ',,,,,,,', '"{""old"":1}",,,,,,,', ''
  ].join('\r\n'))
  t.strictSame(memberNames(schema), [
    'id', 'name', 'email', 'plan', 'seats', 'active', 'note', 'address', 'anything', 'createdAt', 'updatedAt'
  ])
  t.equal(tableColumns(NO_FIELDS).length, 5)
})

test('an object stays one column of JSON where columns would lose something', async (t) => {
  const text = Type.String()
  const inner = Type.Object({ x: Type.Object({ y: text }), z: Type.Optional(text) })
  const schema = await schemaOf({
    type: 'object',
    properties: {
      optional: Type.Object({ a: Type.Optional(text) }),
      dotted: Type.Object({ 'a.b': text }),
      open: Type.Object({ a: text }, { additionalProperties: true }),
      nullable: Type.Union([Type.Object({ a: text }), Type.Null()]),
      same: Type.Object({ a: text }),
      'same.a': text,
      onlyInner: inner,
      deep: Type.Object({ a: text, inner: Type.Object({ b: Type.Integer() }) })
    }
  })
  t.strictSame(tableColumns(schema).slice(3, -2).map(({ name, kind }) => `${name} ${kind}`), [
    'optional null', 'dotted null', 'open null', 'nullable null', 'same null', 'same.a string', 'onlyInner null',
    'deep.a string', 'deep.inner.b number'
  ])
})

test('a field with `nullable: true` has JSON in its cell, as one whose types include null', async (t) => {
  const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  const schema = await schemaOf({
    type: 'object',
    properties: {
      text: { type: 'string', nullable: true },
      count: { type: 'integer', nullable: true },
      choice: { type: 'string', enum: ['a', 'b'], nullable: true },
      object: { ...closed, nullable: true },
      outer: { ...closed, properties: { a: { type: 'string', nullable: true }, b: { ...closed, nullable: true } } },
      inner: { ...closed, properties: { a: { ...closed, nullable: true } } }
    }
  })
  t.strictSame(tableColumns(schema).slice(3, -2).map(({ name, kind }) => `${name} ${kind}`), [
    'text null', 'count null', 'choice string', 'object null', 'outer.a null', 'outer.b null',
    'inner.a null'
  ])
})
