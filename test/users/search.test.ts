// Contract §18: whom `q` finds and whom not, by a corpus of names and searches. What stores do with words: the kit.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { User } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'

interface Entry { name: string, email: string, phone?: string, company?: string, finds: string[], misses: string[] }

const corpus: Entry[] = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'search', 'corpus.json'), 'utf8'))

const fields = {
  schema: {
    type: 'object',
    properties: {
      phone: { type: 'string' },
      company: { type: 'string' },
      tags: { type: 'array', items: { type: ['string', 'integer'] } }
    }
  },
  searchable: ['company', { field: 'phone', match: 'digits' }, 'tags']
} as const

test('a search finds whom the corpus says, and nobody else', async (t) => {
  const { app } = await testApp(t, { fields })
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

test('changes, and changes of what is searched, change who is found', async (t) => {
  const storage = memory()
  const { app, call } = await testApp(t, { storage, fields })
  const found = async (q: string) =>
    (await call('GET', `/users?q=${encodeURIComponent(q)}`)).json().data.map(({ name }: User) => name)
  const [ada, bob] = await Promise.all([
    app.users.create(Object({
      name: 'Ada Lovelace', email: 'ada@example.org', phone: '0171 55 66', tags: ['vip', 'Beta Test', 2048]
    })),
    app.users.create(Object({ name: 'Bob Ada', email: 'bob@example.org', company: 'Lovelace & Sons' }))
  ])
  t.strictSame(await found('ADA lovelace'), ['Ada Lovelace', 'Bob Ada'])
  t.strictSame(await found('test vip'), ['Ada Lovelace'])
  t.strictSame(await found('2048'), ['Ada Lovelace'], 'a number inside of a list')
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

test('a search has 2 letters or digits to 254 characters, or 1 of Han, Hangul or kana', async (t) => {
  const { call } = await testApp(t)
  const searches: Array<[fault: string | undefined, ...texts: string[]]> = [
    [undefined, 'ab', 'a b', 'ß', '田', '李', ' 山 ', 'か', 'カ', 'ｶ', '한', 'ㄱ', '가'.repeat(254), '\u{10428}'.repeat(254)],
    ['too_short', '', ' ', 'a', 'a.', '%', 'e\u0301', 'a\u200b', '\u200b\u0301', 'ก', '🦊'.repeat(254)],
    ['too_long', 'x'.repeat(255), '가'.repeat(255), Array.from({ length: 33 }, (_, i) => `w${i + 10}`).join(' ')],
    ['characters', 'a\0b']
  ]
  for (const [fault, ...texts] of searches) {
    for (const q of texts) {
      const response = await call('GET', `/users?q=${encodeURIComponent(q)}`)
      const { errors }: { errors?: Array<{ parameter: string, code: string }> } = response.json()
      t.equal(response.statusCode, fault === undefined ? 200 : 400, q)
      const faults = fault === undefined ? undefined : [['q', fault]]
      t.strictSame(errors?.map(({ parameter, code }) => [parameter, code]), faults, q)
      const headers = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')
      t.ok(headers.length < 4096, `${headers.length} bytes of headers`)
    }
  }
})
