// Contract §18: users that are found together by their addresses or unique values, on every storage.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { stores } from '../helpers/stores.ts'

const schema = Type.Object({ plan: Type.Optional(Type.String()), legacyId: Type.Optional(Type.String()) })
const fields = { schema, filterable: ['plan'], unique: ['legacyId'] }

for (const store of stores) {
  test(`many are found together by their addresses or unique values, on ${store.name}`, async (t) => {
    const { app, call } = await testApp(t, { storage: await store.create(t), fields })
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
    t.equal(await list('email[in]=1@example.org,0@example.org&plan=team'), '')
    t.equal(await list(`email[in]=1@example.org,0@example.org&ids=${String(ids[0])}`), '0')
    t.equal(await list('email[in]=1@example.org,0@example.org&email=1@example.org'), '1')
    t.equal(await list('email[in]=9@example.org'), '')
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
}
