// Contract §15: the export over HTTP and in process.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { testApp } from '../helpers/app.ts'
import { crowd } from '../helpers/crowd.ts'
import { fields, filterable, withoutType } from '../helpers/fields.ts'
import { linesOf } from '../helpers/import-rows.ts'
import { userOf } from '../helpers/records.ts'

test('an export has every user that matches, in either format and order', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: fields, filterable } })
  const made: object[] = []
  for (const n of [1, 2, 3]) {
    made.push(await app.users.create(withoutType({
      name: `Ann ${n}`, email: `ann${n}@example.org`, plan: n === 2 ? 'pro' : 'free', address: { city: 'Bonn' }
    })))
  }
  const exported = await call('GET', '/users/export')
  t.equal(exported.statusCode, 200)
  t.match(exported.headers, {
    'content-type': 'application/x-ndjson',
    'content-disposition': 'attachment; filename="users.ndjson"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff'
  })
  t.strictSame(linesOf(exported.body), made)
  const ids = async (query: string) => linesOf((await call('GET', `/users/export?${query}`)).body).map((user) =>
    made.findIndex((each) => Object(each).id === Object(user).id))
  t.strictSame(await ids('sort=-createdAt'), [2, 1, 0])
  t.strictSame(await ids('plan=free'), [0, 2])
  t.strictSame(await ids('q=ann%203&plan=free'), [2])
  t.strictSame(await ids('email=ANN2@example.org'), [1])
  t.strictSame(await ids('q=nobody'), [])

  const table = await call('GET', '/users/export?format=csv&columns=email,address.city,plan')
  t.match(table.headers, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="users.csv"'
  })
  const rows = ['free', 'pro', 'free'].map((plan, i) => `"ann${i + 1}@example.org","Bonn","${plan}"`)
  t.equal(table.body, ['"email","address.city","plan"', ...rows, ''].join('\r\n'))
  t.equal((await call('GET', '/users/export?format=csv&columns=id&q=nobody')).body, '"id"\r\n')
  t.equal((await call('GET', '/users/export?columns=plan,name&q=ann%202')).body, '{"plan":"pro","name":"Ann 2"}\n')
  t.equal((await call('GET', '/users/export?columns=seats&q=ann%202')).body, '{}\n')
})

test('an export in process is of the moment of its beginning', async (t) => {
  const storage = await crowd(2001)
  const { app } = await testApp(t, { storage })
  let count = 0
  for await (const { id } of app.users.iterate({}, { snapshot: true })) {
    if (count++ === 0) {
      for (const n of [1, 1500, 2000]) await app.users.delete(userOf(n).id)
    }
    if (count > 1000 && id === userOf(1999).id) t.pass('the last part is read')
  }
  t.equal(count, 2001)
})

test('what is wrong is refused before anything is read, and HEAD reads nothing', async (t) => {
  const storage = memory()
  storage.users.walk = () => Promise.reject(new StorageError('unavailable', 'two reads run already'))
  const { app, call } = await testApp(t, { storage, fields: { schema: fields } })
  for (const [query, faults] of [
    ['format=xml', ['format choice']],
    ['columns=', ['columns choice']],
    ['columns=id,address.city', ['columns choice']],
    ['format=csv&columns=address', ['columns choice']],
    ['columns=x,x&format=csv&q=a&page=1', ['columns choice', 'columns duplicate', 'page unknown', 'q too_short']]
  ] as const) {
    const response = await call('GET', `/users/export?${query}`)
    t.equal(response.statusCode, 400, query)
    const { errors } = response.json()
    t.strictSame(errors.map(({ parameter, code }: Record<string, string>) => `${parameter} ${code}`), faults, query)
    t.equal((await call('HEAD', `/users/export?${query}`)).statusCode, 400)
  }
  await t.rejects(app.users.iterate(withoutType({ limit: 3 }), { snapshot: true }).next(), {
    code: 'validation_failed'
  })
  for (const [format, type] of [
    ['csv', 'text/csv; charset=utf-8; header=present'],
    ['ndjson', 'application/x-ndjson']
  ] as const) {
    const head = await call('HEAD', `/users/export?format=${format}`)
    t.strictSame([head.statusCode, head.headers['content-type'], head.body], [200, type, ''])
    t.notOk('content-length' in head.headers, 'GET has none either')
    const response = await call('GET', `/users/export?format=${format}`)
    t.equal(response.statusCode, 503)
    t.match(response.headers, { 'retry-after': '5', 'content-type': 'application/problem+json; charset=utf-8' })
    t.notOk('content-disposition' in response.headers)
  }
  await t.rejects(app.users.iterate({}, { snapshot: true }).next(), { code: 'storage_unavailable' })
})
