// app.users.apiKeys: API keys in process, with the rules and errors of the routes.
import { test, type Test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { untyped } from '../helpers/untyped.ts'

const DAY_MS = 24 * 3600 * 1000
const NOT_DATE_TIMES = [
  'tomorrow', '2999-01-01', '2999-13-01T00:00:00Z', '2999-02-30T00:00:00Z', '2999-00-10T00:00:00Z',
  '2999-01-01T24:00:00Z', '2999-01-01T00:00:00', ''
]

const keysOf = async (t: Test) => (await testApp(t)).app.users.apiKeys

/** How long a key lives after it, or another, was created, in milliseconds. */
function lifetime ({ expiresAt }: { expiresAt?: string }, { createdAt }: { createdAt: string }): number {
  return Date.parse(expiresAt ?? '') - Date.parse(createdAt)
}

test('creates keys whose texts are shown once, for a year, as long as asked, or for ever', async (t) => {
  const apiKeys = await keysOf(t)
  const year = await apiKeys.create({ name: ' Deploy ' })
  const { key, ...record } = year
  t.match(year, {
    id: /^key_/,
    name: 'Deploy',
    scopes: ['users:read', 'users:write', 'users:delete'],
    start: /^uk_[0-9A-Za-z]{12}$/,
    key: /^uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/
  })
  t.ok(key.startsWith(year.start))
  t.strictSame(await apiKeys.get(year.id), record)
  t.notMatch(JSON.stringify(await apiKeys.list()), key.slice(16))
  t.equal(lifetime(year, year), 365 * DAY_MS)
  t.equal('expiresAt' in await apiKeys.create({ name: 'ever', expiresAt: null }), false)
  const then = await apiKeys.create({ name: 'then', expiresAt: '2999-01-01T01:00:00+01:00' })
  t.equal(then.expiresAt, '2999-01-01T00:00:00.000Z')
  const short = await apiKeys.create({ name: 'short', scopes: ['keys:read', 'keys:read'], expiresIn: 90 })
  t.strictSame(short.scopes, ['keys:read'])
  t.equal(lifetime(short, short), 90_000)
})

test('names every fault of a key, and creates none', async (t) => {
  const apiKeys = await keysOf(t)
  const most = Math.floor((Date.UTC(10000, 0) - 1 - Date.now()) / 1000)
  const row = (more: object, ...faults: string[]): [input: object, faults: string[]] => [{ name: 'x', ...more }, faults]
  const rows = [
    row({ name: undefined }, '/name required'),
    row({ name: 5, scopes: 'x', expiresIn: '1', expiresAt: 5, other: 1 },
      '/other unknown', '/name type', '/scopes type', '/expiresAt invalid', '/expiresIn type'),
    row({ name: ' ', scopes: ['users:read', 'admin'], expiresIn: 0 },
      '/name too_short', '/scopes/1 choice', '/expiresIn range'),
    row({ scopes: [], expiresAt: '2000-01-01T00:00:00Z' }, '/scopes too_short', '/expiresAt past'),
    row({ expiresAt: null, expiresIn: 5 }, '/expiresIn exclusive'),
    ...NOT_DATE_TIMES.map((expiresAt) => row({ expiresAt }, '/expiresAt format')),
    ...[1.5, -1, 1e15, most + 1].map((expiresIn) => row({ expiresIn }, '/expiresIn range'))
  ]
  for (const [input, faults] of rows) {
    const { errors }: { errors: Array<{ pointer: string, code: string }> } =
      Object(await apiKeys.create(untyped(input)).catch((error: unknown) => error))
    t.strictSame(errors.map(({ pointer, code }) => `${pointer} ${code}`), faults, JSON.stringify(input))
  }
  t.equal((await apiKeys.list()).meta.total, 1, 'the key of the test alone')
})
