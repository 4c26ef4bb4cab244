// Contract §18: whom `q` finds and whom not, by a corpus of names and searches, on every storage.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { User } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { stores } from '../helpers/stores.ts'

interface Entry { name: string, email: string, phone?: string, company?: string, finds: string[], misses: string[] }

const corpus: Entry[] = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'search', 'corpus.json'), 'utf8'))

const fields = {
  schema: {
    type: 'object',
    properties: {
      phone: { type: 'string' }, company: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } }
    }
  },
  searchable: ['company', { field: 'phone', match: 'digits' }, 'tags']
} as const

for (const store of stores) {
  test(`${store.name}: a search finds whom the corpus says, and nobody else`, async (t) => {
    const { app } = await testApp(t, { storage: await store.create(t), fields })
    for (const { name, email, phone, company } of corpus) {
      const own = { ...phone !== undefined && { phone }, ...company !== undefined && { company } }
      await app.users.create(Object({ name, email, ...own }))
    }
    t.ok(corpus.flatMap(({ finds, misses }) => [...finds, ...misses]).length > 1500)
    for (const { name, email, finds, misses } of corpus) {
      const isFound = async (q: string) => (await app.users.list({ q, email })).meta.total === 1
      for (const q of finds) t.equal(await isFound(q), true, `${JSON.stringify(q)} finds ${name}`)
      for (const q of misses) t.equal(await isFound(q), false, `${JSON.stringify(q)} does not find ${name}`)
    }
  })

  test(`${store.name}: changes, and changes of what is searched, change who is found`, async (t) => {
    const storage = await store.create(t)
    const { app, call } = await testApp(t, { storage, fields })
    const found = async (q: string) =>
      (await call('GET', `/users?q=${encodeURIComponent(q)}`)).json().data.map(({ name }: User) => name)
    const [ada, bob] = await Promise.all([
      app.users.create(Object({
        name: 'Ada Lovelace', email: 'ada@example.org', phone: '0171 55 66', tags: ['vip', 'Beta Test']
      })),
      app.users.create(Object({ name: 'Bob Ada', email: 'bob@example.org', company: 'Lovelace & Sons' }))
    ])
    t.strictSame(await found('ADA lovelace'), ['Ada Lovelace', 'Bob Ada'])
    t.strictSame(await found('test vip'), ['Ada Lovelace'])
    await app.users.update(bob.id, Object({ company: null }))
    t.strictSame(await found('lovelace'), ['Ada Lovelace'])
    await app.users.update(ada.id, { name: 'Ada King' })
    t.strictSame(await found('lovelace'), [])
    t.strictSame(await found('king 0171'), [], 'a number is one word by itself')
    t.strictSame(await found('0171 5566'), ['Ada King'])
    await call('PUT', `/users/${ada.id}`, { body: { name: 'Ada King', email: 'ada@example.org' } })
    t.strictSame(await found('0171 5566'), [])
    await call('POST', '/users/batch', {
      body: { operations: [{ op: 'update', id: bob.id, body: { company: 'Hidden Corp', phone: '+1 202' } }] }
    })
    t.strictSame(await found('hidden'), ['Bob Ada'])

    const other = await testApp(t, {
      storage, fields: { schema: fields.schema, searchable: ['phone'] }
    })
    t.strictSame((await other.call('GET', '/users?q=hidden')).json().data, [], 'migrate has made the words anew')
  })
}

test('what is no search is refused', async (t) => {
  const { call } = await testApp(t, {})
  for (const [q, code] of [
    ['a', 'too_short'], ['%', 'too_short'], ['a.', 'too_short'], ['', 'too_short'], [' ', 'too_short'],
    ['x'.repeat(255), 'too_long'], [Array.from({ length: 33 }, (_, i) => `w${i + 10}`).join(' '), 'too_long'],
    ['a\0b', 'characters']
  ] as const) {
    const answer = await call('GET', `/users?q=${encodeURIComponent(q)}`)
    t.equal(answer.statusCode, 400, q)
    const faults: Array<{ parameter: string, code: string }> = answer.json().errors
    t.strictSame(faults.map((each) => [each.parameter, each.code]), [['q', code]], q)
  }
  for (const q of ['ab', 'a b', '田', '한', 'カ', ' 山 ']) {
    t.equal((await call('GET', `/users?q=${encodeURIComponent(q)}`)).statusCode, 200, q)
  }
})
