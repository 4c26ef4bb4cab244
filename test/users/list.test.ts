// Contract §5: order, pages, totals, filters, and links. What stores do: the kit.
import { test } from 'tap'
import type { User } from '../../lib/index.ts'
import { type Call, testApp } from '../helpers/app.ts'

const NAMES = [
  'Ann', 'ann lee', 'ANNA', 'Bob', 'Émile', 'ÉMILIE', 'Zoë', '100% Sure', '100 Percent', 'a_b', 'aXb', 'back\\slash',
  '李雷', 'Ünal'
]

async function ids (call: Call, path: string): Promise<string[]> {
  const response = await call('GET', path)
  return response.json().data.map(({ id }: User) => id)
}

test('the list of users has the order, pages, filters and links of the contract', async (t) => {
  const { app, call, prefix } = await testApp(t)
  const users: User[] = []
  for (const [i, name] of NAMES.entries()) {
    users.push(await app.users.create({ name, email: `User${i}@Example.org` }))
  }
  const all = users.map(({ id }) => id)
  const named = (...names: string[]) => users.filter(({ name }) => names.includes(name)).map(({ id }) => id)

  t.test('lists pages, oldest first, with the exact total', async (t) => {
    for (const [page, from] of [[1, 0], [2, 5], [3, 10], [4, 15], [1_000_000_000, 99]] as const) {
      const { data, meta } = (await call('GET', `/users?page=${page}&limit=5`)).json()
      t.strictSame(meta, { page, limit: 5, total: 14 })
      t.strictSame(data.map(({ id }: User) => id), all.slice(from, from + 5))
    }
    const newest = all.toReversed()
    for (const [query, expected] of [
      ['sort=createdAt', all],
      ['sort=-createdAt&limit=3&page=2', newest.slice(3, 6)],
      ['sort=-createdAt&limit=5&page=3', newest.slice(10)],
      ['sort=-createdAt&limit=5&page=9', []]
    ] as const) t.strictSame(await ids(call, `/users?${query}`), expected, query)
  })

  t.test('links to the neighbouring pages', async (t) => {
    const long = 'q=' + '%EA%B0%80'.repeat(100)
    const longer = 'q=' + '%EA%B0%80'.repeat(200)
    const rows: Array<[what: string, query: string, links: Array<[rel: string, query: string]>]> = [
      ['the first page', 'page=1&limit=5',
        [['first', 'page=1&limit=5'], ['next', 'page=2&limit=5'], ['last', 'page=3&limit=5']]],
      ['newest first', 'limit=5&page=2&sort=-createdAt', [
        ['first', 'limit=5&page=1&sort=-createdAt'], ['prev', 'limit=5&page=1&sort=-createdAt'],
        ['next', 'limit=5&cursor=…&sort=-createdAt'], ['last', 'limit=5&page=3&sort=-createdAt']
      ]],
      ['past the end, prev is the last page', 'page=9&limit=5',
        [['first', 'page=1&limit=5'], ['prev', 'page=3&limit=5'], ['last', 'page=3&limit=5']]],
      ['what was sent is kept, encoded', 'q=100%25', [['first', 'q=100%25&page=1'], ['last', 'q=100%25&page=1']]],
      ['a long search', long, [['first', `${long}&page=1`], ['last', `${long}&page=1`]]],
      ['what can be computed is left out', `page=9&${longer}`, [['prev', `page=1&${longer}`]]],
      ['and all, where one is too long', 'q=' + '%F0%90%90%A8'.repeat(254), []],
      ['a walk', `after=${all[3]}&limit=2&q=user`, [['next', `after=${all[5]}&limit=2&q=user`]]],
      ['its end', `after=${all.at(-1)}`, []],
      ['the last page by after has no next', `after=${all.at(-3)}&limit=2`, []]
    ]
    for (const [what, query, links] of rows) {
      const { link } = (await call('GET', `/users?${query}`)).headers
      const expected = links.map(([rel, to]) => `<${prefix}/users?${to}>; rel="${rel}"`).join(', ')
      t.equal(String(link ?? '').replace(/cursor=[\w-]+/, 'cursor=…'), expected, what)
    }
  })

  t.test('email finds one address, in any case', async (t) => {
    t.strictSame(await ids(call, '/users?email=uSER3@eXAMPLE.org'), [all[3]])
    for (const [query, meta] of [
      ['email=nobody@example.org', { page: 1, limit: 20, total: 0 }],
      ['email=user3@example.org&page=2', { page: 2, limit: 20, total: 1 }]
    ] as const) t.strictSame((await call('GET', `/users?${query}`)).json(), { data: [], meta }, query)
  })

  t.test('q finds the beginnings of words in names and addresses, and no sign is a wildcard', async (t) => {
    for (const [q, found, what] of [
      ['100%', named('100% Sure', '100 Percent'), 'no wildcard'],
      ['back\\', named('back\\slash'), 'no escape'],
      ['user1', [all[1], ...all.slice(10)], 'addresses too, in the order of the list']
    ] as const) t.strictSame(await ids(call, `/users?q=${encodeURIComponent(q)}`), found, `${q}: ${what}`)
    t.strictSame(await ids(call, '/users?q=ann+l'), named('ann lee'), 'a plus is a space')
    const { data, meta } = (await call('GET', '/users?q=USER1&limit=2&page=2&sort=-createdAt')).json()
    t.strictSame(meta, { page: 2, limit: 2, total: 5 })
    t.strictSame(data.map(({ id }: User) => id), [all[11], all[10]])
    t.strictSame(await ids(call, `/users?q=user1&after=${all[11]}`), [all[12], all[13]])
  })

  t.test('after continues from a user who has been deleted', async (t) => {
    const [, , third = '', fourth] = all
    await app.users.delete(third)
    const response = await call('GET', `/users?after=${third}&limit=1`)
    const user = (await call('GET', `/users/${fourth}`)).json()
    t.strictSame(response.json(), { data: [user], meta: { limit: 1, total: 13 } })
    t.strictSame(await ids(call, `/users?after=${third}&sort=-createdAt`), [all[1], all[0]])
  })
})

test('one answer names every wrong parameter of a list', async (t) => {
  const { call } = await testApp(t)
  const id = 'usr_01h455vb4pex5vsknk084sn02q'
  const pages = ['0', '+1', '01', '1.0', '1e2', ' 1', '', '1000000001', '99999999999999999999']
  const limits = ['0', '101', '1e1', '', 'null', '５']
  const rows: Array<[query: string, ...faults: string[]]> = [
    ...pages.map((page): [string, string] => [`page=${encodeURIComponent(page)}`, 'page range']),
    ...limits.map((limit): [string, string] => [`limit=${encodeURIComponent(limit)}`, 'limit range']),
    ['limit[]=5', 'limit[] unknown'],
    ['page=1&page=1', 'page duplicate'],
    ['sort=fullName', 'sort choice'],
    ['email=nobody', 'email format'],
    ['q', 'q too_short'],
    ['q=%ed%a0%80', 'q encoding'],
    ['%zz=1', '%zz encoding'],
    ['after=1', 'after format'],
    [`after=${id}&page=1`, 'after exclusive'],
    ['access_token=x&page=0&limit=0&sort=&after=&constructor=1&__proto__=2',
      'access_token unknown', 'constructor unknown', '__proto__ unknown', 'page range', 'limit range', 'sort choice',
      'after format', 'after exclusive']
  ]
  for (const [query, ...faults] of rows) {
    const response = await call('GET', `/users?${query}`)
    const { errors = [] }: { errors?: Array<{ parameter: string, code: string }> } = response.json()
    t.equal(response.statusCode, 400, query)
    t.strictSame(errors.map(({ parameter, code }) => `${parameter} ${code}`), faults, query)
  }
  t.equal((await call('GET', '/users?&&limit=1&')).statusCode, 200, 'empty pairs are ignored')
})
