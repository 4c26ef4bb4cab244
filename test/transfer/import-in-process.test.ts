// The import in process: its options, its sources, and the members that only an import takes.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { idAt } from '../../lib/core/ids.ts'
import type { ImportResult } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { fields as common, withoutType } from '../helpers/fields.ts'
import { importWords, ndjsonOf } from '../helpers/import-rows.ts'
import { untyped } from '../helpers/untyped.ts'

const fields = Type.Object({ ...common.properties, legacyId: Type.Optional(Type.Integer()) })
const ID = 'usr_01jzzzzzzzezzr0000000000zz'

test('the first refusal may end an import', async (t) => {
  const { app } = await testApp(t)
  const rows = [1, 2, 3, 4, 5, 6].map((n) => ({ name: `U${n}`, email: n === 4 ? 'none' : `u${n}@example.org` }))
  const results: ImportResult[] = []
  const onResult = async (result: ImportResult) => { results.push(result) }
  for (const dryRun of [true, false]) {
    t.strictSame(await app.users.import(rows, { failFast: true, onResult, dryRun }),
      { created: 3, updated: 0, skipped: 0, refused: 1, dryRun })
    t.strictSame(results.splice(0).map(({ line, status }) => `${line} ${status}`),
      ['1 created', '2 created', '3 created', '4 refused'])
  }
  t.match(await app.users.import(rows.slice(4).concat(rows), { failFast: true }), { created: 2, refused: 1 },
    'a conflict ends it too')
  t.equal((await app.users.list()).meta.total, 5)
})

test('wrong options, sources that fail, callers that have enough', async (t) => {
  const { app } = await testApp(t)
  for (const [options, parameter] of [
    [{ onConflict: 'merge' }, 'onConflict'], [{ by: 'name' }, 'by'], [{ dryRun: 1 }, 'dryRun'],
    [{ failFast: 'yes' }, 'failFast'], [{ format: 'xml' }, 'format'], [{ onResult: 1 }, 'onResult'],
    [{ more: 1 }, 'more']
  ] as const) {
    await t.rejects(app.users.import([], withoutType(options)), {
      code: 'validation_failed', errors: [{ parameter }]
    }, parameter)
  }
  await t.rejects(app.users.import(['x', 7], { format: 'csv' }), /header|strings or Uint8Arrays/)
  await t.rejects(app.users.import([{}], { format: 'ndjson' }), TypeError)
  for (const none of [null, 5, { length: 0 }]) {
    await t.rejects(app.users.import(untyped(none)), { name: 'TypeError', message: /takes an iterable of users/ })
  }
  for (const [source, format] of [['users.ndjson'], ['users.csv', 'csv'], [Buffer.from('{}'), 'ndjson']] as const) {
    await t.rejects(app.users.import(source, { ...format !== undefined && { format } }), {
      name: 'TypeError', message: /for a file pass createReadStream\(path\) and its format/
    })
  }
  const failing = async function * () {
    yield { name: 'A', email: 'a@example.org' }
    throw new Error('the source failed')
  }
  await t.rejects(app.users.import(failing()), /the source failed/)
  t.equal((await app.users.list()).meta.total, 1, 'what was done stays done')
  let left = false
  const endless = async function * () {
    try {
      for (let n = 0; ; n++) yield { name: 'B', email: `b${n}@example.org` }
    } finally {
      left = true
    }
  }
  const enough = () => { throw new Error('enough') }
  await t.rejects(app.users.import(endless(), { onResult: enough }), /enough/)
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(left, 'the source is left')
  const getter = Object.defineProperty({ email: 'c@example.org' }, 'name', {
    enumerable: true, get () { throw new Error('x') }
  })
  t.match(await app.users.import([getter, undefined, null, Object.create({ name: 'C', email: 'c@example.org' })]),
    { refused: 4 })
})

test('members of their own: moments, versions, orders', async (t) => {
  const { app, call } = await testApp(t)
  const row = (more: object) => ({ name: 'A', email: 'a@example.org', ...more })
  for (const [more, words] of [
    [{ createdAt: '2020-01-02T00:00:00Z', updatedAt: '2020-01-01T00:00:00Z' }, '/updatedAt range'],
    // PostgreSQL has no year 0, and no text of ours has five digits.
    ...[
      '2024-02-30', '20240301', '01.03.2024', 1e300, true, null, '2020-01-01T00:00:60Z', '2020-01-01T24:00:00Z',
      '0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'
    ].map((createdAt) => [{ createdAt }, '/createdAt format'] as const),
    [{ createdAt: 4e12 }, '/createdAt range'],
    [{ updatedAt: '2999-01-01T00:00:00Z' }, '/updatedAt range'],
    [{ createdAt: new Date(Date.now() + 3_600_000).toISOString() }, '/createdAt range'],
    [{ id: null }, '/id format'],
    [{ id: ID.toUpperCase() }, '/id format'],
    [{ id: 'usr_7zzzzzzzzzzzzzzzzzzzzzzzzz' }, '/id range'],
    [{ version: 0 }, '/version range'],
    [{ version: 2 ** 30 + 1 }, '/version range'],
    [{ version: '1' }, '/version range'],
    [{ fields: {} }, '/fields unknown']
  ] as const) {
    t.strictSame((await importWords(call, '', ndjsonOf([row(more)]))).words, [`1 refused ${words}`], words)
  }
  const many = Array.from({ length: 1500 }, (_, n) => ({
    name: `U${n}`, email: `u${n}@example.org`, createdAt: n % 2 === 0 ? '1969-01-01T00:00:00Z' : '2001-01-01T00:00:00Z'
  }))
  t.match(await app.users.import([...many, row({ updatedAt: '2002-01-01T00:00:00Z' })]), { created: 1501 })
  const names = []
  for await (const { name } of app.users.iterate()) names.push(name)
  const numbers = [...many.keys()]
  t.strictSame(names, [
    ...numbers.filter((n) => n % 2 === 0), ...numbers.filter((n) => n % 2 === 1)
  ].map((n) => `U${n}`).concat('A'), 'users of one moment are in the order of their lines')
  t.match((await app.users.list({ email: 'a@example.org' })).data, [{ createdAt: '2002-01-01T00:00:00.000Z' }])
})

test('an update that makes the fields of a user too large is refused', async (t) => {
  const { app } = await testApp(t, {
    fields: { schema: Type.Object({ a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) }) }
  })
  const large = 'x'.repeat(9000)
  t.match(await app.users.import([{ name: 'A', email: 'a@example.org', a: large }]), { created: 1 })
  const results: ImportResult[] = []
  for (const dryRun of [true, false]) {
    await app.users.import([{ name: 'A', email: 'a@example.org', b: large }], {
      onConflict: 'update', dryRun, onResult: (result) => { results.push(result) }
    })
  }
  t.match(results, [1, 2].map(() => ({ status: 'refused', problem: { errors: [{ code: 'too_large' }] } })))
})

test('an id that a clock which is ahead has made is refused with what to do', async (t) => {
  const { app } = await testApp(t)
  const results: ImportResult[] = []
  const row = { name: 'Ann', email: 'ann@example.org' }
  const summary = await app.users.import([{ ...row, id: idAt('usr', Date.now() + 3_600_000, 0) }, row], {
    onResult: async (result) => { results.push(result) }
  })
  t.match(summary, { created: 1, refused: 1 })
  t.strictSame(results.flatMap((result) => result.status === 'refused' ? result.problem.errors : []), [{
    pointer: '/id',
    code: 'range',
    detail: 'must not be an id from the future, as made by a clock that is ahead: leave out id for a new one, import ' +
      'the line after that time, or restore a backup of the database, which keeps ids'
  }])
})

test('rows that are judged together look up their unique values together', async (t) => {
  const storage = memory()
  const lookups: number[] = []
  const list = storage.users.list.bind(storage.users)
  storage.users.list = (filter, page) => {
    const sought = { ...filter.anyOf, ...filter.fields }['legacyId']
    if (sought !== undefined) lookups.push([sought].flat().length)
    return list(filter, page)
  }
  const { app } = await testApp(t, { storage, fields: { schema: fields, unique: ['legacyId'] } })
  const rows = Array.from({ length: 130 }, (_, n) => ({ name: `U${n}`, email: `u${n}@example.org`, legacyId: n }))
  t.match(await app.users.import(rows.slice(0, 65)), { created: 65 })
  lookups.length = 0
  const words: string[] = []
  const onResult = (result: ImportResult) => {
    const errors = result.status === 'refused' ? result.problem.errors ?? [] : []
    words.push([result.status, ...errors.map(({ pointer }) => pointer)].join(' '))
  }
  const others = rows.map((row) => ({ ...row, email: `other-${row.email}` }))
  await app.users.import(others, { dryRun: true, onResult })
  t.strictSame(words, [...Array(65).fill('refused /legacyId'), ...Array(65).fill('created')])
  t.strictSame(lookups, [64, 64, 2])
})
