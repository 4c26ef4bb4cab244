// Which files an import over HTTP takes, and how long its answers are.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { testApp } from '../helpers/app.ts'
import { importWords, linesOf, ndjsonOf } from '../helpers/import-rows.ts'

test('a file may have each media type that clients send for it', async (t) => {
  const { call } = await testApp(t, { storage: memory() })
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
  const { app, call } = await testApp(t, { storage: memory() })
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
    const { call } = await testApp(t, {
      storage: memory(),
      ...(maxRefused !== undefined && { limits: { refusedLines: maxRefused } })
    })
    const lines = linesOf((await call('POST', `/users/import${query}`, { headers, payload })).body)
    const count = (status: string) => lines.filter((each) => each['status'] === status).length
    t.strictSame([count('refused'), count('created')], [refused, created], query)
    t.match(lines.at(-1), { summary: { created: 1, refused: 300 } }, query)
  }
  const { call } = await testApp(t, { storage: memory(), limits: { refusedLines: 20 } })
  const more = await call('POST', '/users/import?maxRefused=21', { headers, payload })
  t.match([more.statusCode, more.json().errors], [400, [{ parameter: 'maxRefused', code: 'range' }]])
  const { call: byDefault } = await testApp(t)
  for (const [max, status] of [[10_000, 200], [10_001, 400]]) {
    t.equal((await byDefault('POST', `/users/import?maxRefused=${max}`, { headers, payload: '' })).statusCode, status)
  }
})
