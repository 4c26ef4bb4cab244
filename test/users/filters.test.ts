// Contract §18: filters by texts that are compared without case and accents, and users that are found together by their
// addresses or unique values. What stores do with keys: the kit.
import { test } from 'tap'
import { Type } from '@sinclair/typebox'
import { fold } from '../../lib/core/search-key.ts'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'

const schema = Type.Object({
  city: Type.Optional(Type.String({ pattern: '^[^a-z]', description: 'Where the office is' })),
  plan: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String())
})
const options = {
  fields: {
    schema,
    filterable: [{ field: 'city', match: 'folded' }, { field: 'plan', match: 'folded' }] as const,
    searchable: [{ field: 'phone', match: 'digits' } as const]
  }
}
const PEOPLE: ReadonlyArray<readonly [name: string, fields: object]> = [
  ['Ann', { city: 'MÜNCHEN', plan: 'pro', phone: '+49 89 1234' }],
  ['Bob', { city: 'München', plan: 'PRO' }],
  ['Cid', { city: 'München Ost', plan: 'free' }],
  ['Dora', { city: 'Ægir-“1”', plan: 'Free' }],
  ['Eve', { plan: 'München' }],
  ['Fay', {}]
]

test('folded filters compare whole texts without case and accents', async (t) => {
  const { app, call } = await testApp(t, options)
  const ids = new Map<string, string>()
  for (const [name, fields] of PEOPLE) {
    const email = `${name}@example.org`
    ids.set(name, (await app.users.create(withoutType({ name, email, ...fields }))).id)
  }
  const list = async (query: string) => {
    const { data, meta } = (await call('GET', `/users?${query}`)).json()
    t.equal(meta.total, data.length, query)
    return data.map(({ name }: { name: string }) => name.slice(0, 1)).join('')
  }

  t.test('finds the whole text in another case, and with other accents', async (t) => {
    t.equal(await list('city=munchen'), 'AB')
    t.equal(await list(`city=${encodeURIComponent('mu\u0308nchen')}`), 'AB', 'the form of the letter does not count')
    t.equal(await list('city=munchen%20ost'), 'C')
    t.equal(await list('city=M'), '', 'no beginning')
    t.equal(await list(`city=${encodeURIComponent('aegir-“1”')}`), 'D', 'signs count')
  })

  t.test('combines with other filters, searches and orders', async (t) => {
    t.equal(await list('city=munchen&plan=pro&sort=-name'), 'BA')
    t.equal(await list('plan[in]=FREE,munchen'), 'CDE')
    t.equal(await list('plan[in]=FREE,PRO&city[in]=munchen,munchen%20ost'), 'ABC')
    t.equal(await list('plan=pro&q=bo'), 'B')
    t.equal(await list('city=munchen&q=0891234'), 'A', 'a telephone number, in either of its forms')
    t.equal(await list('city[exists]=false'), 'EF')
    t.equal(await list(`city=munchen&ids=${ids.get('Bob')},${ids.get('Cid')}`), 'B')
  })

  t.test('is no word of a search', async (t) => {
    t.equal(fold('ß'), 'ss', 'so no search has the letter that such words begin with')
    t.equal((await call('GET', '/users?q=ß')).json().meta.total, 0)
  })

  t.test('refuses lists that make too many searches', async (t) => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => i).join()
    t.equal(await list(`city[in]=${many(100)}`), '')
    const response = await call('GET', `/users?city[in]=${many(100)}&plan[in]=a,b,c`)
    t.match([response.statusCode, response.json().errors], [400, [{ parameter: 'plan[in]', code: 'too_long' }]])
    const words = (n: number) => Array.from({ length: n }, (_, i) => `w${i}`).join('+')
    t.equal(await list(`city[in]=${many(100)}&q=${words(4)}`), '', 'each search has the words of q')
    const beside = await call('GET', `/users?city[in]=${many(100)}&q=${words(5)}`)
    t.match([beside.statusCode, beside.json().errors], [400, [{ parameter: 'city[in]', code: 'too_long' }]])
    t.equal(await list(`city=munchen&q=${words(32)}`), '', 'one value is no list')
  })
})

const numbered = Type.Object({ plan: Type.Optional(Type.String()), legacyId: Type.Optional(Type.String()) })

test('many are found together by their addresses or unique values', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: numbered, filterable: ['plan'], unique: ['legacyId'] } })
  const ids: string[] = []
  for (const [n, own] of [{ plan: 'pro', legacyId: 'b' }, { plan: 'pro' }, { legacyId: 'a' }].entries()) {
    ids.push((await app.users.create(withoutType({ name: `User ${n}`, email: `${n}@example.org`, ...own }))).id)
  }
  const list = async (query: string) => {
    const { data, meta } = (await call('GET', `/users?${query}`)).json()
    t.equal(meta.total, data.length, query)
    return data.map(({ id }: { id: string }) => ids.indexOf(id)).join('')
  }
  t.equal(await list('email[in]=2@Example.org,9@example.org,0@example.org,2@example.org'), '02')
  t.equal(await list('email[in]=1@example.org,0@example.org&plan=pro&sort=-name'), '10')
  t.equal(await list(`email[in]=1@example.org,0@example.org&ids=${String(ids[0])}`), '0')
  t.equal(await list('email[in]=1@example.org,0@example.org&email=1@example.org'), '1')
  t.equal(await list('legacyId[in]=a,b,c,a'), '02')
  const addresses = Array.from({ length: 100 }, (_, n) => `${n}@example.org`)
  t.equal(await list(`email[in]=${addresses.join()}&limit=100`), '012')
  t.strictSame((await app.users.list({ 'email[in]': [' 2@EXAMPLE.org '] })).data.map(({ id }) => id), [ids[2]])
  t.equal((await call('GET', `/users/export?email[in]=${addresses.join()}`)).body.trim().split('\n').length, 3)
  for (const [many, detail] of [
    [[...addresses, 'x@example.org'], 'must be 1 to 100 values, separated by commas in a URL'],
    [['1@example.org', 'x'], 'must be an e-mail address: it has no @'],
    [[''], 'must be an e-mail address: it has no @']
  ] as const) {
    const { errors } = (await call('GET', `/users?email[in]=${many.join()}`)).json()
    t.match(errors, [{ parameter: 'email[in]', detail }])
  }
})
