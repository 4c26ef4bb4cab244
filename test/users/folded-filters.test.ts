// Contract §18: filters by texts that are compared without case and accents, on every storage.
import { test } from 'tap'
import { Type } from '@sinclair/typebox'
import { fold } from '../../lib/core/search-key.ts'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { stores } from '../helpers/stores.ts'

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

for (const store of stores) {
  test(`folded filters compare whole texts without case and accents, on ${store.name}`, async (t) => {
    const { app, call } = await testApp(t, { storage: await store.create(t), prefix: '/v1', ...options })
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
      t.equal(await list('city=aegir'), '')
      t.equal(await list('city='), '')
    })

    t.test('combines with other filters, searches and orders', async (t) => {
      t.equal(await list('city=munchen&plan=pro&sort=-name'), 'BA')
      t.equal(await list('plan[in]=FREE,munchen'), 'CDE')
      t.equal(await list('plan[in]=FREE,PRO&city[in]=munchen,munchen%20ost'), 'ABC')
      t.equal(await list('plan=pro&plan[in]=FREE,PRO'), 'AB')
      t.equal(await list('plan=pro&q=bo'), 'B')
      t.equal(await list('city=munchen&q=0891234'), 'A', 'a telephone number, in either of its forms')
      t.equal(await list('city[exists]=false'), 'EF')
      t.equal(await list(`city=munchen&ids=${ids.get('Bob')},${ids.get('Cid')}`), 'B')
    })

    t.test('follows changes', async (t) => {
      const path = `/users/${ids.get('Bob')}`
      await call('PATCH', path, { payload: { city: 'Zürich' } })
      t.equal(await list('city=munchen'), 'A')
      t.equal(await list('city=ZURICH'), 'B')
      await call('PATCH', path, { payload: { city: null } })
      t.equal(await list('city=zurich'), '')
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
}
