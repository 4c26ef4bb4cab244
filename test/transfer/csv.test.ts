// CSV as an export writes it: RFC 4180, harmless in spreadsheets, and without loss.
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { test } from 'tap'
import { createHostFields } from '../../lib/fields/host-fields.ts'
import { NO_FIELDS } from '../../lib/fields/fields-schema.ts'
import { TEXT } from '../../lib/fields/schema-types.ts'
import { type Column, memberNames, tableColumns } from '../../lib/transfer/columns.ts'
import { csvHeader, csvLine, escapeFormulas, unescapeFormulas } from '../../lib/transfer/csv.ts'
import { fields } from '../helpers/fields.ts'

const schemaOf = async (given: object) =>
  (await createHostFields({ schema: given, filterable: [], unique: [] }, { members: [], parameters: [] })).schema

const described = ({ name, types, isJson }: Column) => isJson ? `${name} JSON` : [name, ...types].join(' ')

/** The cells of CSV as a spreadsheet reads it that splits at a separator: null is nothing. */
function cellsOf (text: string, separator = ','): Array<Array<string | null>> {
  const rows: Array<Array<string | null>> = []
  let row: Array<string | null> = []
  // Behind a closing quotation mark, spreadsheets read on to the separator.
  const plain = `[^${separator}\\r\\n]*`
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"(${plain})|(${plain}))(${separator}|\\r?\\n|\\r)`, 'y')
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    const [, quoted, more = '', bare = '', end] = match
    row.push(quoted === undefined ? (bare === '' ? null : bare) : quoted.replaceAll('""', '"') + more)
    if (end === separator) continue
    rows.push(row)
    row = []
  }
  return rows
}

test('a text that a spreadsheet could take for a formula gets apostrophes, which can be taken off', async (t) => {
  for (const [text, cell] of [
    ['=1', "'=1"], ['+1', "'+1"], ['-1', "'-1"], ['@x', "'@x"], ['\tx', "'\tx"], ['\rx', "'\rx"], ['\nx', "'\nx"],
    ['\uff1d1', "'\uff1d1"], ['\uff0b1', "'\uff0b1"], ['\uff0d1', "'\uff0d1"], ['\uff20x', "'\uff20x"],
    ["'=1", "''=1"], ["''-", "'''-"], ["'x", "'x"], ["'", "'"], ['', ''], ['a=1', 'a=1'], ['a, b-c @d', 'a, b-c @d'],
    ['a;=1;b', "a;'=1;b"], ['a,+1', "a,'+1"], ['a\t-1', "a\t'-1"], ['a\r\n@x', "a\r\n'@x"], ['a;"=1"', 'a;"\'=1"'],
    ["a;'=1", "a;''=1"], ['a;\uff1d1', "a;'\uff1d1"], ['\t=1', "'\t'=1"], ['=1;=2', "'=1;'=2"], ['[1,-2]', "[1,'-2]"]
  ] as const) {
    t.equal(escapeFormulas(text), cell, JSON.stringify(text))
    t.equal(unescapeFormulas(cell), text, JSON.stringify(cell))
  }
  const unit = fc.constantFrom("'", '=', '-', '\uff20', '\t', '\r', '\n', 'a', ' ', ',', ';', '"')
  fc.assert(fc.property(fc.string({ unit }), (text) => unescapeFormulas(escapeFormulas(text)) === text))
})

const texts = ['a', 'b', 'c'].map((name) => ({ name, path: [name], types: TEXT, isJson: false }))

test('no cell is a formula, at whichever separator a spreadsheet splits', async () => {
  const text = fc.string({ unit: fc.constantFrom("'", '=', '@', '\uff0b', 'a', ',', ';', '\t', '"', '\r', '\n') })
  for (const separator of [',', ';', '\t']) {
    fc.assert(fc.property(text, text, text, (a, b, c) =>
      cellsOf(csvLine({ a, b, c }, texts), separator).flat().every((cell) => !/^[\t\r\n"]*[=@\uff0b]/.test(cell ?? ''))
    ), { numRuns: 500 })
  }
})

test('a text is in quotation marks, and nothing differs from a text without characters', async (t) => {
  const lines = (...users: object[]) => users.map((user) => csvLine(user, texts)).join('')
  t.equal(csvHeader(texts), '"a","b","c"\r\n')
  t.equal(lines({ a: '', c: 'x' }, { b: 'say "x"', c: 'y,z' }), '"",,"x"\r\n,"say ""x""","y,z"\r\n')
  t.equal(lines({ a: 'x\ny', b: 'x\ry', c: 'x\r\ny' }), '"x\ny","x\ry","x\r\ny"\r\n')
})

test('gives an object one column per member, and a list or an untyped value one JSON column', async (t) => {
  const schema = await schemaOf(fields)
  const columns = tableColumns(schema)
  t.strictSame(columns.map(described), [
    'id string', 'name string', 'email string', 'plan string', 'seats number', 'active boolean', 'note string null',
    'address.city string', 'address.zip string', 'address.tags JSON', 'anything JSON',
    'status string', 'statusReason string null', 'version number', 'createdAt string', 'updatedAt string'
  ])
  const own = columns.slice(3, -5)
  const user = { plan: 'pro', seats: -5, active: false, note: null, anything: 'x', address: { city: 'Bonn', tags: [] } }
  t.strictSame([user, {}, { plan: { old: 1 }, address: 'x' }].map((each) => csvLine(each, own)), [
    '"pro",\'-5,false,null,"Bonn",,"[]","""x"""\r\n', ',,,,,,,\r\n', '"{""old"":1}",,,,,,,\r\n'
  ])
  t.strictSame(memberNames(schema), [
    'id', 'name', 'email', 'plan', 'seats', 'active', 'note', 'address', 'anything', 'status', 'statusReason',
    'version', 'createdAt', 'updatedAt'
  ])
  t.equal(tableColumns(NO_FIELDS).length, 8)
})

test('an object stays one column of JSON where columns would lose something', async (t) => {
  const text = Type.String()
  const closed = { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false }
  const orNull = (schema: object) => ({ ...schema, nullable: true })
  const fields: Array<[name: string, schema: object, columns: string[]]> = [
    ['optional', Type.Object({ a: Type.Optional(text) }), ['optional JSON']],
    ['dotted', Type.Object({ 'a.b': text }), ['dotted JSON']],
    ['open', Type.Object({ a: text }, { additionalProperties: true }), ['open JSON']],
    ['union', Type.Union([Type.Object({ a: text }), Type.Null()]), ['union JSON']],
    ['same', Type.Object({ a: text }), ['same JSON']],
    ['same.a', text, ['same.a string']],
    ['onlyInner', Type.Object({ x: Type.Object({ y: text }), z: Type.Optional(text) }), ['onlyInner JSON']],
    ['deep', Type.Object({ a: text, inner: Type.Object({ b: Type.Integer() }) }),
      ['deep.a string', 'deep.inner.b number']],
    // With `nullable: true` a field has the cells of its type, as one whose types include null.
    ['text', orNull(text), ['text string null']],
    ['either', { anyOf: [text, { type: 'null' }] }, ['either string null']],
    ['count', orNull({ type: 'integer' }), ['count number null']],
    ['choice', orNull({ type: 'string', enum: ['a', 'b'] }), ['choice string']],
    ['object', orNull(closed), ['object JSON']],
    ['outer', { ...closed, properties: { a: orNull(text), b: orNull(closed) } },
      ['outer.a string null', 'outer.b JSON']],
    ['inner', { ...closed, properties: { a: orNull(closed) } }, ['inner.a JSON']]
  ]
  const properties = Object.fromEntries(fields.map(([name, schema]) => [name, schema]))
  t.strictSame(tableColumns(await schemaOf({ type: 'object', properties })).slice(3, -5).map(described),
    fields.flatMap(([,, columns]) => columns))
})
