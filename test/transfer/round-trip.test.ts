// What an export writes, an import reads back as it was.
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { test, type Test } from 'tap'
import { createHostFields } from '../../lib/fields/host-fields.ts'
import { tableColumns } from '../../lib/transfer/columns.ts'
import { csvHeader, csvLine } from '../../lib/transfer/csv.ts'
import { csvRows } from '../../lib/transfer/csv-rows.ts'
import { testApp } from '../helpers/app.ts'
import { fields, withoutType } from '../helpers/fields.ts'
import { importWords, linesOf } from '../helpers/import-rows.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const MEDIA_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv' }

/** Moves users by a file from one host to another, where they and their export must be the same. */
async function moved (t: Test, properties: object, users: readonly object[], format: keyof typeof MEDIA_TYPES) {
  const schema = withoutType({ type: 'object', properties })
  const [from, to] = [await testApp(t, { fields: { schema } }), await testApp(t, { fields: { schema } })]
  for (const user of users) await from.app.users.create(withoutType(user))
  const [first] = (await from.app.users.list()).data
  await from.app.users.update(String(first?.id), { name: '-A' })
  const file = (await from.call('GET', `/users/export?format=${format}`)).body
  const importFile = (payload: string) => importWords(to.call, '', payload, MEDIA_TYPES[format])
  const answer = await importFile(file)
  t.match(answer.summary, { created: users.length, refused: 0 })
  t.strictSame((await to.app.users.list()).data, (await from.app.users.list()).data, 'versions too')
  t.equal((await to.call('GET', `/users/export?format=${format}`)).body, file)
  return { from: from.app, to: to.app, file, words: answer.words, importFile }
}

const FIELDS_BYTES = 16 * 1024
const NAME = '🦊'.repeat(200)
const addressOf = (n: number): string =>
  `${n}${'a'.repeat(63)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.org`

/** Own fields of exactly as many bytes as a user may have. */
function filledUp (own: { bio: string, tags?: string[] }): object {
  const bytes = Buffer.byteLength(JSON.stringify({ ...own, plan: 'free' }))
  return { ...own, bio: own.bio + 'x'.repeat(FIELDS_BYTES - bytes) }
}
const LONGEST = [
  filledUp({ bio: '"\n'.repeat(4000) }),
  // In a table nearly two of three characters of its cell are quotation marks, which are doubled.
  filledUp({ bio: '', tags: Array.from({ length: 5430 }, () => '') })
].map((own, n) => ({ name: NAME, email: addressOf(n), ...own }))
const OTHERS = [
  { note: '\'@x' }, { name: 'A, "B"\u2028', address: { city: 'Köln', tags: ['a', ''] }, anything: { deep: [1, null] } },
  { name: '=1+1', note: null, seats: 7, active: false }, { note: '', plan: 'pro', anything: '' }, { note: '\t' }
].map((more, n) => ({ name: `User ${n}`, email: `user${n}@example.org`, ...more }))

for (const format of ['ndjson', 'csv'] as const) {
  test(`users come back from an export in ${format}, the longest that can exist too`, async (t) => {
    const properties = {
      ...fields.properties, bio: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } }
    }
    const users = [...OTHERS, ...LONGEST]
    const { from, to, file } = await moved(t, properties, users, format)
    await t.rejects(from.users.create(withoutType({ ...LONGEST[0], email: 'more@example.org', tags: [] })), {
      errors: [{ code: 'too_large' }]
    })
    for (const { id } of (await to.users.list()).data) await to.users.delete(id)
    const path = join(await temporaryDirectory(t), `users.${format}`)
    await writeFile(path, file)
    const created = { created: users.length, updated: 0, skipped: 0, refused: 0 }
    t.strictSame(await to.users.import(createReadStream(path), { format, dryRun: true }), { ...created, dryRun: true })
    t.match(await to.users.import(from.users.iterate({}, { snapshot: true })), created, 'without a file')
    t.strictSame((await to.users.list()).data, (await from.users.list()).data)
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

test('whatever names fields have, they come back from a table', async (t) => {
  const names = [
    'two\nlines', 'three\r\n"lines", \n', '\n', ' spaces ', '=SUM(A1)', "'=1", '-1', 'with "quotes", and more'
  ]
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const own = Object.fromEntries(names.map((name, n) => [name, `value\n${n}`]))
  const { file, words, importFile } = await moved(t, properties, [{ name: 'N', email: 'n@example.org', ...own }], 'csv')
  t.strictSame(words, ['6 created'])
  t.match(file, ' spaces ","\'=SUM(A1)","\'\'=1","\'-1","with ""quotes"", and more",', 'harmless in spreadsheets')
  t.match(await importFile(`\n"${file.slice(file.indexOf(','))}`), { code: 'validation_failed' },
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
