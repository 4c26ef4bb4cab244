// Lists of API keys that are narrowed by what somebody knows of a key.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { keyApp } from '../helpers/key-app.ts'
import { apiKeyOf } from '../helpers/records.ts'
import { addKey } from '../helpers/writes.ts'

test('lists keys by start, owner and words, with exact totals and pages', async (t) => {
  const { app, call } = await keyApp(t, { tenants: true })
  const { apiKeys } = app.users
  await apiKeys.create({ name: 'nightly Export' })
  const made = []
  for (let i = 0; i < 5; i++) made.push(await apiKeys.create({ name: `Émile’s export ${i}`, owner: 'Team Zoë' }))
  const acme = await app.users.tenant('acme').apiKeys.create({ name: 'export of acme', owner: 'Team Zoë' })
  const [first, second] = made
  const names = async (query: string) => {
    const { data, meta } = (await call('GET', `/api-keys?${query}`)).json()
    return [data.map(({ name }: { name: string }) => name), meta.total]
  }
  t.strictSame(await names(`start=${first?.start}`), [['Émile’s export 0'], 1])
  t.strictSame(await names(`start=${first?.start}&owner=Ops`), [[], 0])
  t.strictSame(await names(`start=uk_${'0'.repeat(12)}`), [[], 0])
  t.strictSame(await names(`start=${acme.start}&tenant=other`), [[], 0])
  const owner = `owner=${encodeURIComponent('Team Zoë')}`
  t.strictSame(await names(`${owner}&limit=2&page=2&sort=-createdAt`), [['Émile’s export 3', 'Émile’s export 2'], 6])
  t.strictSame(await names(`${owner}&tenant=acme`), [['export of acme'], 1])
  t.strictSame(await names('owner=team'), [[], 0], 'the whole owner, as it is written')
  t.strictSame(await names(`q=exp%20EMILE&limit=2&after=${second?.id}`),
    [['Émile’s export 2', 'Émile’s export 3'], 5])
  t.strictSame(await names(`q=zoe&limit=2&sort=-createdAt&after=${second?.id}`), [['Émile’s export 0'], 6])
  for (const text of [String(second?.id).toUpperCase(), String(second?.start)]) {
    t.strictSame(await names(`q=${text}`), [['Émile’s export 1'], 1], text)
  }
  const { data } = await apiKeys.list({ q: 'nightly' })
  t.strictSame(data.map(({ name }) => name), ['nightly Export'])
  const { headers } = await call('GET', '/api-keys?q=export&limit=2')
  t.match(headers.link, '</v1/api-keys?q=export&limit=2&page=2>; rel="next"')
})

test('refuses a whole key as start, and says nothing of it', async (t) => {
  const { app, call } = await keyApp(t)
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const answer = await call('GET', `/api-keys?start=${key}&owner=&q=x`)
  t.equal(answer.statusCode, 400)
  t.strictSame(answer.json().errors.map(({ parameter, code }: Record<string, string>) => [parameter, code]),
    [['start', 'format'], ['owner', 'format'], ['q', 'too_short']])
  t.notMatch(answer.body, key)
})

test('a filter reads keys in steps, each of them once', async (t) => {
  const storage = memory()
  const { call } = await keyApp(t, { storage })
  // Older than the key of the test.
  for (let i = 0; i < 2050; i++) {
    await addKey(storage, apiKeyOf(i, { name: `k${i}`, owner: i % 2 === 0 ? 'Ops' : 'Dev' }))
  }
  const { data, meta } = (await call('GET', '/api-keys?owner=Ops&limit=1&page=1025')).json()
  t.strictSame([data[0].name, meta], ['k2048', { page: 1025, limit: 1, total: 1025 }])
})
