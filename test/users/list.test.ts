// Contract §5: order, pages, totals, filters, and links, on every storage.
import { test } from 'tap'
import type { User } from '../../lib/index.ts'
import { type Call, testApp } from '../helpers/app.ts'
import { stores } from '../helpers/stores.ts'

const NAMES = [
  'Ann',
  'ann lee',
  'ANNA',
  'Bob',
  'Émile',
  'ÉMILIE',
  'Zoë',
  '100% Sure',
  '100 Percent',
  'a_b',
  'aXb',
  'back\\slash',
  '李雷',
  'Ünal'
]

async function ids (call: Call, path: string): Promise<string[]> {
  const response = await call('GET', path)
  return response.json().data.map(({ id }: User) => id)
}

for (const store of stores) {
  test(`the list of users has the order, pages, filters and links of the contract, on ${store.name}`, async (t) => {
    const { app, call, prefix } = await testApp(t, { storage: await store.create(t), prefix: '/v1' })
    const users: User[] = []
    for (const [i, name] of NAMES.entries()) {
      users.push(await app.users.create({ name, email: `User${i}@Example.org` }))
    }
    const all = users.map(({ id }) => id)
    const named = (...names: string[]) => users.filter(({ name }) => names.includes(name)).map(({ id }) => id)

    t.test('lists pages, oldest first, with the exact total', async (t) => {
      for (const [page, from] of [
        [1, 0],
        [2, 5],
        [3, 10],
        [4, 15],
        [1_000_000_000, 99]
      ] as const) {
        const response = await call('GET', `/users?page=${page}&limit=5`)
        t.strictSame(response.json().meta, { page, limit: 5, total: 14 })
        t.strictSame(
          response.json().data.map(({ id }: User) => id),
          all.slice(from, from + 5)
        )
      }
      t.strictSame(await ids(call, '/users?sort=createdAt'), all)
      t.strictSame(await ids(call, '/users?sort=-createdAt&limit=3&page=2'), all.toReversed().slice(3, 6))
      t.strictSame(await ids(call, '/users?sort=-createdAt&limit=5&page=3'), all.toReversed().slice(10))
      t.strictSame(await ids(call, '/users?sort=-createdAt&limit=5&page=9'), [])
    })

    t.test('links to the neighbouring pages', async (t) => {
      const link = async (query: string) => (await call('GET', `/users?${query}`)).headers.link
      const to = (rel: string, query: string) => `<${prefix}/users?${query}>; rel="${rel}"`
      t.equal(
        await link('page=1&limit=5'),
        [to('first', 'page=1&limit=5'), to('next', 'page=2&limit=5'), to('last', 'page=3&limit=5')].join(', ')
      )
      t.equal(
        String(await link('limit=5&page=2&sort=-createdAt')).replace(/cursor=[\w-]+/, 'cursor=…'),
        [
          to('first', 'limit=5&page=1&sort=-createdAt'),
          to('prev', 'limit=5&page=1&sort=-createdAt'),
          to('next', 'limit=5&cursor=…&sort=-createdAt'),
          to('last', 'limit=5&page=3&sort=-createdAt')
        ].join(', ')
      )
      t.equal(
        await link('page=9&limit=5'),
        [to('first', 'page=1&limit=5'), to('prev', 'page=3&limit=5'), to('last', 'page=3&limit=5')].join(', '),
        'past the end, prev is the last page'
      )
      t.equal(
        await link('q=100%25'),
        [to('first', 'q=100%25&page=1'), to('last', 'q=100%25&page=1')].join(', '),
        'what was sent is kept, encoded'
      )
      const long = 'q=' + '%EA%B0%80'.repeat(100)
      t.equal(await link(long), [to('first', `${long}&page=1`), to('last', `${long}&page=1`)].join(', '))
      const longer = 'q=' + '%EA%B0%80'.repeat(200)
      t.equal(await link(`page=9&${longer}`), to('prev', `page=1&${longer}`), 'what can be computed is left out')
      t.equal(await link('q=' + '%F0%90%90%A8'.repeat(254)), undefined, 'and all, where one is too long')
      t.equal(await link(`after=${all[3]}&limit=2&q=user`), to('next', `after=${all[5]}&limit=2&q=user`))
      t.equal(await link(`after=${all.at(-1)}`), undefined)
      t.equal(
        await link(`after=${all.at(-3)}&limit=2`),
        undefined,
        'the last page by after has no next'
      )
    })

    t.test('following the links lists each user once, by page and by after', async (t) => {
      for (const sort of ['createdAt', '-createdAt']) {
        const expected = sort === 'createdAt' ? all : all.toReversed()
        for (const start of [`/users?limit=3&sort=${sort}`, `/users?limit=3&sort=${sort}&after=${expected[0]}`]) {
          const seen: string[] = []
          let next: string | undefined = start
          while (next !== undefined) {
            const response = await call('GET', next)
            seen.push(...response.json().data.map(({ id }: User) => id))
            t.equal(response.json().meta.total, 14)
            const isWalk = start.includes('after') || (sort === '-createdAt' && seen.length > 3)
            t.equal('page' in response.json().meta, !isWalk)
            next = /<\/v1([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1]
          }
          t.strictSame(seen, start.includes('after') ? expected.slice(1) : expected, start)
        }
      }
    })

    t.test('email finds one address, in any case', async (t) => {
      t.strictSame(await ids(call, '/users?email=uSER3@eXAMPLE.org'), [all[3]])
      t.strictSame((await call('GET', '/users?email=nobody@example.org')).json(), {
        data: [],
        meta: { page: 1, limit: 20, total: 0 }
      })
      t.strictSame((await call('GET', '/users?email=user3@example.org&page=2')).json(), {
        data: [],
        meta: { page: 2, limit: 20, total: 1 }
      })
    })

    t.test('q finds the beginnings of names and addresses, in any case', async (t) => {
      t.strictSame(await ids(call, '/users?q=aNN'), named('Ann', 'ann lee', 'ANNA'))
      t.strictSame(await ids(call, '/users?q=nn'), [], 'only beginnings')
      t.strictSame(await ids(call, '/users?q=%20ann%20%20lee'), named('ann lee'), 'blanks do not matter')
      t.strictSame(await ids(call, '/users?q=ann+l'), named('ann lee'), 'a plus is a space')
      t.strictSame(await ids(call, `/users?q=${encodeURIComponent('ÉMIL')}`), named('Émile', 'ÉMILIE'))
      t.strictSame(
        await ids(call, `/users?q=${encodeURIComponent('e\u0301mil')}`),
        named('Émile', 'ÉMILIE'),
        'compared after NFC'
      )
      t.strictSame(await ids(call, `/users?q=${encodeURIComponent('李雷')}`), named('李雷'))
      t.strictSame(await ids(call, '/users?q=100%25'), named('100% Sure', '100 Percent'))
      t.strictSame(await ids(call, '/users?q=a_b'), named('a_b'))
      t.strictSame(await ids(call, '/users?q=back%5C'), named('back\\slash'))
      t.strictSame(
        await ids(call, '/users?q=user1'),
        [all[1], ...all.slice(10)],
        'addresses too, in the order of the list'
      )
      const page = await call('GET', '/users?q=USER1&limit=2&page=2&sort=-createdAt')
      t.strictSame(page.json().meta, { page: 2, limit: 2, total: 5 })
      t.strictSame(
        page.json().data.map(({ id }: User) => id),
        [all[11], all[10]]
      )
      t.strictSame(await ids(call, `/users?q=user1&after=${all[11]}`), [all[12], all[13]])
      t.strictSame(await ids(call, `/users?q=${encodeURIComponent('\u{10ffff}\u{10ffff}')}`), [])
    })

    t.test('email and q narrow each other', async (t) => {
      t.strictSame(await ids(call, '/users?email=user0@example.org&q=ann'), [all[0]])
      t.strictSame(await ids(call, '/users?email=user0@example.org&q=user'), [all[0]])
      t.strictSame((await call('GET', '/users?email=user0@example.org&q=bob')).json().meta.total, 0)
    })

    t.test('one answer names every wrong parameter', async (t) => {
      const faults = async (query: string) => {
        const response = await call('GET', `/users?${query}`)
        t.equal(response.statusCode, 400, query)
        return response
          .json()
          .errors.map(({ parameter, code }: { parameter: string; code: string }) => `${parameter} ${code}`)
      }
      for (const page of [
        '0',
        '-1',
        '+1',
        '01',
        '1.0',
        '1e2',
        '0x10',
        ' 1',
        '',
        'abc',
        '1000000001',
        '99999999999999999999'
      ]) {
        t.strictSame(await faults(`page=${encodeURIComponent(page)}`), ['page range'])
      }
      for (const limit of ['0', '101', '1e1', '', 'null', '５']) {
        t.strictSame(await faults(`limit=${encodeURIComponent(limit)}`), ['limit range'])
      }
      t.strictSame(await faults('limit[]=5'), ['limit[] unknown'])
      t.strictSame(await faults('page=1&page=1'), ['page duplicate'])
      t.strictSame(await faults('sort=fullName'), ['sort choice'])
      t.strictSame(await faults('email=nobody'), ['email format'])
      t.strictSame(await faults('email='), ['email format'])
      t.strictSame(await faults('q=a'), ['q too_short'])
      t.strictSame(await faults('q'), ['q too_short'])
      t.strictSame(await faults(`q=${encodeURIComponent('e\u0301')}`), ['q too_short'], 'one character after NFC')
      t.strictSame(await faults('q=ab%00'), ['q characters'])
      t.strictSame(await faults('q=%ff%fe'), ['q encoding'])
      t.strictSame(await faults('q=%ed%a0%80'), ['q encoding'], 'a lone surrogate')
      t.strictSame(await faults('%zz=1'), ['%zz encoding'])
      t.strictSame(await faults('after=1'), ['after format'])
      t.strictSame(await faults(`after=${all[0]}&page=1`), ['after exclusive'])
      t.strictSame(await faults('access_token=x&page=0&limit=0&sort=&after=&constructor=1&__proto__=2'), [
        'access_token unknown',
        'constructor unknown',
        '__proto__ unknown',
        'page range',
        'limit range',
        'sort choice',
        'after format',
        'after exclusive'
      ])
      t.equal((await call('GET', '/users?&&limit=1&')).statusCode, 200, 'empty pairs are ignored')
    })

    t.test('after continues from a user who has been deleted', async (t) => {
      const [, , third = '', fourth] = all
      await app.users.delete(third)
      const response = await call('GET', `/users?after=${third}&limit=1`)
      t.strictSame(response.json(), {
        data: [(await call('GET', `/users/${fourth}`)).json()],
        meta: { limit: 1, total: 13 }
      })
      t.strictSame(await ids(call, `/users?after=${third}&sort=-createdAt`), [all[1], all[0]])
    })
  })

  test(`pageSize sets the default and the maximum of limit, on ${store.name}`, async (t) => {
    const { app, call } = await testApp(t, { storage: await store.create(t), pageSize: { default: 2, max: 3 } })
    for (const i of [1, 2, 3, 4]) await app.users.create({ name: 'X', email: `${i}@example.org` })
    t.strictSame((await call('GET', '/users')).json().meta, { page: 1, limit: 2, total: 4 })
    t.equal((await call('GET', '/users?limit=3')).json().data.length, 3)
    t.match((await call('GET', '/users?limit=4')).json(), {
      code: 'validation_failed',
      errors: [{ parameter: 'limit', detail: 'must be a whole number from 1 to 3' }]
    })
  })
}
