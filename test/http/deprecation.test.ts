// The option `deprecated`: every answer of such a mount announces it.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { checkOptions } from '../../lib/mount/options.ts'
import { testApp } from '../helpers/app.ts'

test('every answer of a deprecated mount has Deprecation, Sunset and Link', async (t) => {
  const since = new Date('2026-01-31T12:00:00.900Z')
  const { app, call } = await testApp(t, { deprecated: { since, sunset: '2026-12-31', link: '/changes' } })
  const links = '</changes>; rel="deprecation", </changes>; rel="sunset"'
  const expected = { deprecation: '@1769860800', sunset: 'Thu, 31 Dec 2026 00:00:00 GMT', link: links }
  const user = (await call('POST', '/users', { payload: { name: 'Ann', email: 'ann@example.org' } })).json()
  for (const [method, path, status] of [
    ['GET', `/users/${user.id}`, 200],
    ['GET', '/users/x', 404],
    ['GET', '/nothing', 404],
    ['OPTIONS', '/users', 405],
    ['DELETE', `/users/${user.id}`, 204]
  ] as const) {
    const { statusCode, headers } = await call(method, path)
    t.match({ statusCode, ...headers }, { statusCode: status, ...expected })
  }
  t.match((await app.inject('/v1/users')).headers, expected, 'without a key too')
  const pages = '</v1/users?page=1>; rel="first", </v1/users?page=1>; rel="last"'
  t.equal((await call('GET', '/users')).headers['link'], `${pages}, ${links}`)
  t.notOk('deprecation' in (await app.inject('/elsewhere')).headers, 'answers of the host do not')
})

test('Sunset and Link are left out if there is no end or no page', async (t) => {
  const since = '2026-01-31T12:00:00Z'
  const { call } = await testApp(t, { deprecated: { since } })
  const { headers } = await call('GET', '/users/x')
  t.match(headers, { deprecation: '@1769860800', sunset: undefined, link: undefined })
  const linked = await testApp(t, { deprecated: { since, link: 'https://example.org/a' } })
  t.equal((await linked.call('GET', '/users/x')).headers['link'], '<https://example.org/a>; rel="deprecation"')
})

test('refuses dates and links that do not exist or do not fit together', async (t) => {
  const form = /deprecated must be \{ since, sunset, link \}/
  const dates = /deprecated must have valid dates, from 1970 to 9999/
  const wrong: Array<[deprecated: object, message: RegExp]> = [
    [{}, form],
    [{ since: new Date(NaN) }, /deprecated must/],
    [{ since: '2026-02-30' }, dates],
    [{ since: new Date(-1) }, dates],
    [{ since: '2026-02-01', sunset: new Date(8e15) }, dates],
    [{ since: '2026-02-01', sunset: '2026-01-31' }, /deprecated.sunset must not be before deprecated.since/],
    [{ since: '2026-02-01', link: 'a b>' }, form]
  ]
  for (const [deprecated, message] of wrong) {
    const options = Object({ storage: memory(), deprecated })
    t.throws(() => checkOptions(options), { name: 'TypeError', message }, JSON.stringify(deprecated))
  }
})
