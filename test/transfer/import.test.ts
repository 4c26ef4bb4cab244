// Contract §15: the import over HTTP: which files it takes, what it makes of each line, and how long its answers are.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import type { User, UsersEvent } from '../../lib/index.ts'
import { IMPORT_TYPES } from '../../lib/transfer/import-source.ts'
import { testApp } from '../helpers/app.ts'
import { fields as common, withoutType } from '../helpers/fields.ts'
import { importWords, linesOf, ndjsonOf } from '../helpers/import-rows.ts'
import { until } from '../helpers/until.ts'

const fields = Type.Object({ ...common.properties, legacyId: Type.Optional(Type.Integer()) })
const ID = 'usr_01jzzzzzzzezzr0000000000zz'

test('a user who was changed where the clock is behind comes back from an export', async (t) => {
  const { app, call } = await testApp(t, { eventLog: true })
  // As if the clock of the server that created the user were ahead.
  const createdAt = new Date(Date.now() + 50_000).toISOString()
  await app.users.import([{ name: 'Ann', email: 'ann@example.org', createdAt }])
  const [{ id }] = (await call('GET', '/users')).json().data
  for (const change of [{ name: 'Anna' }, { email: 'anna@example.org' }]) {
    const changed = (await call('PATCH', `/users/${id}`, { payload: change })).json()
    t.match(changed, { ...change, createdAt, updatedAt: createdAt })
    t.match((await call('GET', '/events')).json().data.at(-1).data, changed)
  }
  const { rawPayload: file } = await call('GET', '/users/export')
  const { call: other } = await testApp(t)
  t.strictSame((await importWords(other, '', file)).words, ['1 created'])
})

test('imported users are found by words of their names and addresses', async (t) => {
  const { app, call } = await testApp(t)
  const rows = [{ name: 'Ann Lee', email: 'one@example.org' }, { name: 'Bob', email: 'two.ann@example.org' }]
  await app.users.import(rows)
  for (const [q, names] of [['ann', ['Ann Lee', 'Bob']], ['le', ['Ann Lee']], ['two', ['Bob']]] as const) {
    const { data } = (await call('GET', `/users?q=${q}`)).json()
    t.strictSame(data.map(({ name }: User) => name), names, q)
  }
})

test('each line is judged, and those that are right are users', async (t) => {
  const { app, call } = await testApp(t, {
    fields: { schema: fields, unique: ['legacyId'] }, eventLog: true
  })
  const events: UsersEvent[] = []
  app.users.events.on('user.created', (event) => { events.push(event) })
  const rows = [
    { name: ' Ann ', email: 'Ann@example.org', legacyId: 1, createdAt: '2020-05-01T00:00:00+02:00' },
    {
      name: 'Bob',
      email: 'bob@example.org',
      createdAt: '2019-01-01T00:00:00.123456Z',
      updatedAt: '2021-01-01t00:00:00z'
    },
    { name: '', email: 'x', plan: 'none', more: 1, id: 'usr_1', createdAt: '2020-02-30T00:00:00Z' },
    { name: 'Ann', email: 'ANN@example.org' },
    { name: 'Cid', email: 'cid@example.org', id: ID, seats: 3 },
    { name: 'Dan', email: 'dan@example.org', id: ID },
    { name: 'Eva', email: 'eva@example.org', legacyId: 1 },
    [],
    { name: 'Fay', email: 'fay@example.org' }
  ]
  const expected = [
    '1 created', '2 created',
    '3 refused /id format /createdAt format /more unknown /name too_short /email format /plan choice',
    '4 refused /email taken', '5 created', '6 refused /id taken', '7 refused /legacyId taken', '8 refused  type',
    '9 created'
  ]
  const summary = { created: 4, updated: 0, skipped: 0, refused: 5, dryRun: false }
  const dry = await importWords(call, 'dryRun=true', ndjsonOf(rows))
  t.strictSame(dry.words, expected)
  t.strictSame(dry.summary, { ...summary, dryRun: true })
  t.strictSame(dry.lines?.flatMap(({ line, id }) => id === undefined ? [] : [[line, id]]), [[5, ID]])
  t.equal((await app.users.list()).meta.total, 0, 'a dry run writes nothing')
  t.strictSame(events, [])

  const run = await importWords(call, '', ndjsonOf(rows))
  t.strictSame(run.words, expected)
  t.strictSame(run.summary, summary)
  const { data } = await app.users.list()
  t.match(data, [
    { name: 'Bob', createdAt: '2019-01-01T00:00:00.123Z', updatedAt: '2021-01-01T00:00:00.000Z', plan: 'free' },
    {
      name: 'Ann',
      email: 'Ann@example.org',
      createdAt: '2020-04-30T22:00:00.000Z',
      updatedAt: '2020-04-30T22:00:00.000Z'
    },
    { name: 'Cid', id: ID, seats: 3, version: 1 },
    { name: 'Fay' }
  ], 'listed by creation')
  t.strictSame(run.lines?.flatMap(({ id }) => id === undefined ? [] : [id]).sort(), data.map(({ id }) => id))
  await until('the listeners were called', () => events.length >= 4)
  t.strictSame(events.map(({ type, data }) => [type, Object(data).name]).sort(),
    ['Ann', 'Bob', 'Cid', 'Fay'].map((each) => ['user.created', each]))
  t.strictSame((await app.users.events.list()).data.filter(({ type }) => type.startsWith('user.')).length, 4)

  const quiet = await call('POST', '/users/import', {
    headers: { 'content-type': 'application/x-ndjson' }, payload: ndjsonOf(rows)
  })
  t.strictSame(linesOf(quiet.body).map(({ line, summary }) => line ?? summary),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, { ...summary, created: 0, refused: 9 }], 'a second run makes nobody twice')
  t.match(quiet.headers, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
})

test('users who are there are skipped or updated, by any key', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: fields, unique: ['legacyId'] } })
  const ann = await app.users.create(withoutType({
    name: 'Ann', email: 'ann@example.org', legacyId: 1, address: { city: 'Bonn', zip: '1' }, note: null
  }))
  const bob = await app.users.create(withoutType({ name: 'Bob', email: 'bob@example.org', legacyId: 2 }))
  const words = async (query: string, ...rows: object[]) => {
    const dry = await importWords(call, `${query}&dryRun=true`, ndjsonOf(rows))
    const run = await importWords(call, query, ndjsonOf(rows))
    t.strictSame(dry.words, run.words)
    return run.words
  }
  t.strictSame(await words('onConflict=skip', { name: 'A', email: 'ANN@example.org', id: bob.id, legacyId: 2 }),
    ['1 skipped'])
  t.strictSame(await words('onConflict=skip&by=legacyId', { name: 'A', email: 'new@example.org', legacyId: 1 },
    { name: 'A', email: 'bob@example.org', legacyId: 3 }, { name: 'C', email: 'cid@example.org' }),
  ['1 skipped', '2 refused /email taken', '3 created'])
  t.strictSame(await app.users.get(ann.id), ann)

  t.strictSame(await words('onConflict=update', { name: 'Ann', email: 'ann@example.org' }), ['1 skipped'],
    'nothing differs, and defaults are no changes')
  t.strictSame(await words('onConflict=update', {
    name: 'Anna', email: 'Ann@example.org', address: { city: 'Köln' }, plan: 'pro', createdAt: '2000-01-01T00:00:00Z'
  }), ['1 updated'])
  const { updatedAt, ...after } = await app.users.get(ann.id)
  const { updatedAt: before, ...rest } = ann
  t.strictSame(after, {
    ...rest, name: 'Anna', email: 'Ann@example.org', address: { city: 'Köln' }, plan: 'pro', version: 2
  })
  t.ok(updatedAt > before)

  t.strictSame(await words('onConflict=update&by=legacyId',
    { name: 'A', email: 'bob@example.org', legacyId: 1 },
    { name: 'A', email: 'anna@example.org', legacyId: 1 },
    { name: 'B', email: 'ann@example.org', legacyId: 2 },
    { name: 'B', email: 'ann@example.org', legacyId: 2, id: ann.id },
    { name: 'B', email: 'b@example.org', legacyId: 2, id: bob.id, updatedAt: '2026-11-01T00:00:00Z' }),
  ['1 refused /email taken', '2 updated', '3 updated', '4 refused /id mismatch', '5 updated'])
  t.strictSame(await words('onConflict=update&by=id', { name: 'C', email: 'c@example.org', id: ann.id, legacyId: 7 },
    { name: 'C', email: 'c2@example.org' }, { name: 'C', email: 'c3@example.org', id: ID }),
  ['1 updated', '2 created', '3 created'])
  t.match(await app.users.get(ann.id), { email: 'c@example.org', legacyId: 7, version: 4 })
  t.strictSame(await words('onConflict=fail&by=legacyId', { name: 'B', email: 'b@example.org', legacyId: 2 }),
    ['1 refused /legacyId taken'])
})

test('over HTTP: parameters and media types', async (t) => {
  const { call } = await testApp(t)
  const headers = { 'content-type': 'application/x-ndjson' }
  t.match((await call('POST', '/users/import?onConflict=x&by=legacyId&dryRun=1&report=some&more&maxRefused=10001', {
    headers, payload: ''
  })).json(), {
    code: 'validation_failed',
    errors: ['report', 'maxRefused', 'more', 'onConflict', 'by', 'dryRun'].map((parameter) => ({ parameter }))
  })
  t.strictSame(linesOf((await call('POST', '/users/import')).body),
    [{ summary: { created: 0, updated: 0, skipped: 0, refused: 0, dryRun: false } }], 'no body')
  const other = await call('POST', '/users/import', { payload: {} })
  t.match([other.statusCode, other.headers.accept], [415, [...IMPORT_TYPES.keys()].join(', ')])
  const table = await call('POST', '/users/import', { headers: { 'content-type': 'text/csv' }, payload: 'mail\n' })
  t.match([table.statusCode, table.json().errors.length], [400, 3])
})

test('a file may have each media type that clients send for it', async (t) => {
  const { call } = await testApp(t)
  const ndjson = ['application/jsonl', 'application/x-jsonlines', 'application/ndjson']
  const csv = ['application/vnd.ms-excel', 'application/csv', 'text/csv; charset=UTF-8']
  for (const [types, payload] of [
    [ndjson, '{"name":"Ann","email":"ann@example.org"}'], [csv, 'name,email\nAnn,ann@example.org\n']
  ] as const) {
    for (const type of types) {
      t.match(await importWords(call, 'dryRun=true', payload, type), { summary: { created: 1 } }, type)
    }
  }
})

test('a workbook of a spreadsheet program is refused by its name', async (t) => {
  const { app, call } = await testApp(t)
  const detail = 'must be a CSV table, but is a workbook of a spreadsheet program: save it as CSV'
  const problem = { code: 'validation_failed', errors: [{ pointer: '', code: 'format', detail }] }
  for (const [type, begin] of [
    ['application/vnd.ms-excel', 'd0cf11e0a1b11ae1'], ['application/vnd.ms-excel', '504b0304'], ['text/csv', '504b0304']
  ] as const) {
    const payload = Buffer.concat([Buffer.from(begin, 'hex'), Buffer.from('\n\0\xff\n', 'latin1')])
    const response = await call('POST', '/users/import', { headers: { 'content-type': type }, payload })
    t.match([response.statusCode, response.json()], [400, problem], type)
    const parts = [...payload].map((byte) => Buffer.from([byte]))
    await t.rejects(app.users.import(parts, { format: 'csv' }), problem, 'in parts')
  }
})

test('an answer names a bounded number of refused lines, and counts all', async (t) => {
  const headers = { 'content-type': 'application/x-ndjson' }
  const payload = `${'x\n'.repeat(300)}${ndjsonOf([{ name: 'Ann', email: 'ann@example.org' }])}`
  for (const [maxRefused, query, refused, created] of [
    [undefined, '', 300, 0], [undefined, '?maxRefused=7', 7, 0], [undefined, '?maxRefused=0&report=all', 0, 1],
    [undefined, '?report=none', 0, 0], [20, '', 20, 0], [20, '?maxRefused=3&report=all', 3, 1]
  ] as const) {
    const { call } = await testApp(t, maxRefused === undefined ? {} : { limits: { refusedLines: maxRefused } })
    const lines = linesOf((await call('POST', `/users/import${query}`, { headers, payload })).body)
    const count = (status: string) => lines.filter((each) => each['status'] === status).length
    t.strictSame([count('refused'), count('created')], [refused, created], query)
    t.match(lines.at(-1), { summary: { created: 1, refused: 300 } }, query)
  }
  const { call } = await testApp(t, { limits: { refusedLines: 20 } })
  const more = await call('POST', '/users/import?maxRefused=21', { headers, payload })
  t.match([more.statusCode, more.json().errors], [400, [{ parameter: 'maxRefused', code: 'range' }]])
  const { call: byDefault } = await testApp(t)
  for (const [max, status] of [[10_000, 200], [10_001, 400]]) {
    t.equal((await byDefault('POST', `/users/import?maxRefused=${max}`, { headers, payload: '' })).statusCode, status)
  }
})
