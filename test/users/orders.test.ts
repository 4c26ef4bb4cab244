// Contract §18: orders, cursors, ranges, lists of values and the choice of members. What stores do: the kit.
import { test } from 'tap'
import type { Fault } from '../../lib/core/fault.ts'
import type { User } from '../../lib/index.ts'
import type { Call } from '../helpers/app.ts'
import { Type } from '@sinclair/typebox'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'

const schema = Type.Object({
  plan: Type.Optional(Type.String()),
  seats: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  active: Type.Optional(Type.Boolean()),
  joined: Type.Optional(Type.String({ format: 'date' })),
  legacyId: Type.Optional(Type.String())
})
const options = { fields: { schema, filterable: ['plan', 'seats', 'active', 'joined'], unique: ['legacyId'] } }

/** In the order of their creation. */
const PEOPLE: ReadonlyArray<readonly [name: string, fields: object]> = [
  ['Zoë', { plan: 'pro', seats: 10, joined: '2026-01-31', legacyId: 'b' }],
  ['ann', { plan: 'team', seats: 9, active: true }],
  ['Émile', { plan: 'free', joined: '2026-02-01', legacyId: 'a' }],
  ['Ann', { seats: -1, active: false, joined: '2025-12-24' }],
  ['bob', { plan: 'pro', seats: 10 }],
  ['李雷', { plan: 'a,b', seats: null }]
]

/** The first letters of names, which tell the users of a list apart. */
const lettersOf = (users: readonly User[]): string => users.map(({ name }) => name[0]).join('')

/** Follows the links of a list to its end. */
async function walk (call: Call, path: string, between = async (_: number): Promise<unknown> => null) {
  const pages: Array<{ data: User[], meta: object }> = []
  for (let next: string | undefined = path; next !== undefined;) {
    const response = await call('GET', next)
    pages.push(response.json())
    next = /<\/v1([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1]
    await between(pages.length)
  }
  return { pages, letters: lettersOf(pages.flatMap(({ data }) => data)) }
}

async function faultsOf (call: Call, path: string): Promise<Array<[unknown, string, string]>> {
  const response = await call('GET', path)
  return response.json().errors.map(({ parameter, code, detail }: Fault) => [parameter, code, detail])
}

test('lists have the orders, filters and members of the contract', async (t) => {
  const { app, call } = await testApp(t, options)
  const ids = new Map<string, string>()
  for (const [i, [name, fields]] of PEOPLE.entries()) {
    const user = await app.users.create(withoutType({ name, email: `${PEOPLE.length - i}@example.org`, ...fields }))
    ids.set(name, user.id)
  }
  const idsOf = (...names: string[]) => names.map((name) => ids.get(name)).join()
  const list = async (query: string) => {
    const { data, meta } = (await call('GET', `/users?${query}`)).json()
    t.equal(meta.total, data.length, query)
    return lettersOf(data)
  }

  t.test('orders by name, address, change and field, in both directions', async (t) => {
    t.equal(await list('sort=-name'), '李ZÉbAa')
    t.equal(await list('sort=email'), '李bAÉaZ')
    t.equal(await list('sort=seats'), 'AaZbÉ李', 'numbers as numbers, and who has none is last')
    t.equal(await list('sort=-seats'), 'bZaA李É', 'last in both directions')
    t.equal(await list('sort=active'), 'AaZÉb李')
    t.equal(await list('sort=-plan'), 'abZÉ李A')
    t.equal(await list('sort=legacyId'), 'ÉZaAb李', 'a unique field')
    await app.users.update(String(ids.get('ann')), { name: 'ann ' })
    t.equal(await list('sort=updatedAt'), 'ZaÉAb李', 'no change')
    await app.users.update(String(ids.get('ann')), { email: 'x@example.org' })
    t.equal(await list('sort=updatedAt'), 'ZÉAb李a')
    t.equal(await list('sort=-updatedAt'), 'a李bAÉZ')
    await app.users.update(String(ids.get('ann')), { email: '5@example.org' })
  })

  t.test('walks by the links in every order, and has everybody who stays once', async (t) => {
    for (const sort of ['name', '-seats', '-updatedAt', 'active']) {
      const whole = await list(`sort=${sort}`)
      for (const limit of [1, 4]) {
        const { pages, letters } = await walk(call, `/users?sort=${sort}&limit=${limit}`)
        t.equal(letters, whole, `${sort}, ${limit} on a page`)
        t.strictSame(pages.map(({ meta }) => meta), pages.map((_, i) =>
          ({ ...(i > 0 ? {} : { page: 1 }), limit, total: PEOPLE.length })))
      }
    }
    const { letters } = await walk(call, '/users?sort=name&limit=2', async (n) => {
      if (n === 1) await app.users.create({ name: 'Aaron', email: 'aaron@example.org' })
    })
    t.equal(letters, 'aAbÉZ李', 'who comes in front meanwhile moves nobody')
    const newest = await walk(call, '/users?sort=-createdAt&limit=2', async (n) => {
      if (n === 1) await app.users.create({ name: 'Moritz', email: 'moritz@example.org' })
      if (n === 2) for (const { id } of (await app.users.list({ q: 'moritz' })).data) await app.users.delete(id)
    })
    t.equal(newest.letters, 'A李bAÉaZ', 'who comes or goes meanwhile shifts no page of the newest')
    const { data: [aaron] } = await app.users.list({ q: 'aaron' })
    await app.users.delete(String(aaron?.id))
    const { headers: { link } } = await call('GET', '/users?limit=2&page=2&sort=name')
    const parts = String(link).replace(/cursor=[\w-]+/, 'cursor=…').split(', ')
    t.strictSame(parts, [
      '</v1/users?limit=2&page=1&sort=name>; rel="first"', '</v1/users?limit=2&page=1&sort=name>; rel="prev"',
      '</v1/users?limit=2&cursor=…&sort=name>; rel="next"', '</v1/users?limit=2&page=3&sort=name>; rel="last"'
    ])
  })

  t.test('filters by bounds, lists, existence and ids, with each other and in every order', async (t) => {
    t.equal(await list('seats[gte]=9'), 'Zab')
    t.equal(await list('seats[gt]=9'), 'Zb')
    t.equal(await list('seats%5Blt%5D=9.5&sort=-name'), 'Aa')
    t.equal(await list('joined[gte]=2026-01-01&joined[lt]=2026-02-01'), 'Z')
    t.equal(await list('plan[in]=team,pro&sort=-seats'), 'bZa')
    t.equal(await list('seats[in]=9,-1,7'), 'aA')
    t.equal(await list('plan[exists]=false'), 'A')
    t.equal(await list('seats[exists]=true&q=ann'), 'aA')
    t.equal(await list('seats[exists]=false&status=active'), 'É李')
    t.equal(await list('plan=a,b'), '李', 'a value with a comma is no list')
    t.equal(await list(`ids=${idsOf('bob', 'Zoë', 'Ann', 'bob')}`), 'bZA', 'in the order asked')
    t.equal(await list(`ids=${idsOf('bob', 'Zoë', 'Ann')}&sort=createdAt`), 'ZAb')
    t.equal(await list(`ids=${idsOf('bob', 'Zoë', 'Ann')}&sort=name&plan=pro`), 'bZ')
    const second = await call('GET', `/users?ids=${idsOf('bob', 'Zoë', 'Ann')}&limit=2&page=2`)
    t.strictSame([lettersOf(second.json().data), second.json().meta], ['A', { page: 2, limit: 2, total: 3 }])
    const { data: [emile] } = await app.users.list({ q: 'emile' })
    const at = encodeURIComponent(String(emile?.createdAt))
    const shifted = encodeURIComponent(String(emile?.createdAt).replace('Z', '+00:00'))
    // Several may be of one millisecond.
    const { data: everybody } = await app.users.list()
    const fits = (is: (moment: string, other: string) => boolean) =>
      lettersOf(everybody.filter(({ createdAt }) => is(createdAt, String(emile?.createdAt))))
    t.equal(await list(`createdAt[lte]=${at}`), fits((moment, other) => moment <= other))
    t.equal(await list(`createdAt[gte]=${shifted}`), fits((moment, other) => moment >= other))
    t.equal(await list(`createdAt[gt]=${at}`), fits((moment, other) => moment > other))
    t.equal(await list('createdAt[gt]=2999-01-01T00:00:00Z'), '')
    t.equal(await list('updatedAt[gte]=2020-01-01T01:00:00%2B01:00&createdAt[lt]=2999-01-01T00:00:00Z'), 'ZaÉAb李')
  })

  t.test('does the same in process and in exports', async (t) => {
    const some: User[] = []
    const query = withoutType({ sort: '-seats', 'plan[in]': ['pro', 'team'], 'seats[gte]': 9 })
    for (const snapshot of [false, true]) {
      some.length = 0
      for await (const user of app.users.iterate(query, { snapshot })) some.push(user)
      t.equal(lettersOf(some), 'bZa')
    }
    const ndjson = await call('GET', '/users/export?sort=-name&select=name,seats&seats[exists]=true')
    t.strictSame(ndjson.body.trim().split('\n').map((line) => JSON.parse(line)), [
      { name: 'Zoë', seats: 10 }, { name: 'bob', seats: 10 }, { name: 'Ann', seats: -1 }, { name: 'ann', seats: 9 }
    ])
    const csv = await call('GET', `/users/export?format=csv&columns=name&ids=${idsOf('bob', 'Ann')}`)
    t.equal(csv.body, '"name"\r\n"bob"\r\n"Ann"\r\n')
    t.strictSame(await faultsOf(call, '/users/export?format=csv&select=name'), [
      ['select', 'exclusive', 'is only for JSON lines: for a table, use columns']
    ])
  })

  t.test('answers with the members that are chosen', async (t) => {
    const response = await call('GET', `/users?select=plan,id&ids=${idsOf('Ann', 'bob')}`)
    t.strictSame(response.json().data, [{ id: ids.get('Ann') }, { plan: 'pro', id: ids.get('bob') }])
    t.strictSame(Object.keys(response.json().data[1]), ['plan', 'id'])
    const path = `/users/${String(ids.get('bob'))}`
    const one = await call('GET', `${path}?select=name`)
    t.strictSame([one.json(), one.headers.etag], [{ name: 'bob' }, (await call('GET', path)).headers.etag])
    const headers = { 'if-none-match': String(one.headers.etag) }
    t.equal((await call('GET', `${path}?select=name`, { headers })).statusCode, 304)
    const detail = 'must name members of users, separated by commas; the members are id, name, email, plan, seats, ' +
      'active, joined, legacyId, status, statusReason, version, createdAt, updatedAt'
    for (const select of ['no', 'name,', '', 'tenant', 'name,nope']) {
      t.strictSame(await faultsOf(call, `/users?select=${select}`), [['select', 'choice', detail]], select)
      t.strictSame(await faultsOf(call, `${path}?select=${select}`), [['select', 'choice', detail]])
    }
    t.strictSame(await faultsOf(call, `${path}?selec=name`), [['selec', 'unknown', 'is not a known parameter']])
  })

  t.test('refuses what it does not know, and says what there is', async (t) => {
    const filters = 'email[in], createdAt[gte|gt|lte|lt], updatedAt[gte|gt|lte|lt], plan[in|exists], ' +
      'seats[in|exists|gte|gt|lte|lt], active[in|exists], joined[in|exists|gte|gt|lte|lt], legacyId[in|exists]'
    const all = `there are ${filters}`
    for (const [name, there] of [
      ['plan[like]', 'plan has [in], [exists]'], ['plan[gte]', 'plan has [in], [exists]'],
      ['seats[like]', 'seats has [in], [exists], [gte], [gt], [lte], [lt]'],
      ['createdAt[in]', 'createdAt has [gte], [gt], [lte], [lt]'], ['plan[]', 'plan has [in], [exists]'],
      ['email[exists]', 'email has [in]'], ['name[gte]', all], ['nope[in]', all], ['status[in]', all]
    ]) {
      t.strictSame(await faultsOf(call, `/users?${name}=1`), [[name, 'unknown', `is not a known filter: ${there}`]])
    }
    const codes = async (query: string) =>
      (await faultsOf(call, `/users?${query}`)).map(([parameter, code]) => `${String(parameter)} ${code}`)
    t.strictSame(await codes('createdAt[gte]=yesterday&seats[gt]=x&joined[lt]=2026-02-30&plan[exists]=yes'), [
      'createdAt[gte] format', 'plan[exists] choice', 'seats[gt] type', 'joined[lt] format'
    ])
    t.strictSame(await codes(`seats[in]=1,x&plan[in]=${'a,'.repeat(100)}&ids=x`), [
      'ids format', 'plan[in] type', 'seats[in] type'
    ])
    t.strictSame(await codes(`ids=${Array.from({ length: 101 }, () => ids.get('bob')).join()}`), ['ids type'])
    t.strictSame(await faultsOf(call, '/users?sort=nope'), [['sort', 'choice', 'must be createdAt or -createdAt or ' +
      'updatedAt or -updatedAt or name or -name or email or -email or plan or -plan or seats or -seats or active ' +
      'or -active or joined or -joined or legacyId or -legacyId']])
  })

  t.test('refuses a cursor that is broken, or of another order or list', async (t) => {
    const { next = '' } = await app.users.list({ sort: 'name', limit: 2 })
    const { next: newest = '' } = await app.users.list({ sort: '-createdAt', limit: 2 })
    const id = ids.get('ann')
    const { list } = JSON.parse(Buffer.from(next, 'base64url').toString())
    const made = ({ sort, ...value }: { sort?: string, [name: string]: unknown }) =>
      Buffer.from(JSON.stringify({ sort, list, ...value })).toString('base64url')
    const right = made({ sort: 'name', value: 'ann', id })
    t.equal((await call('GET', `/users?sort=name&cursor=${right}`)).statusCode, 200)
    const wrong = [
      ['name', 'x'], ['name', `${next}=`], ['name', next.slice(1)], ['-name', next], ['email', next],
      ['-createdAt', next], ['createdAt', newest],
      ['name&plan=pro', next], ['-createdAt&plan=pro', newest],
      ['-createdAt', made({ sort: '-createdAt', value: 'x', id })], ['name', ''],
      ['name', made({ sort: 'name', value: null, id })], ['name', made({ sort: 'name', value: 'a\0', id })],
      ['name', made({ sort: 'name', value: 'ann', id: 'x' })], ['name', made({ value: 'ann', id })],
      ['name', made({ sort: 'name', value: 'ann', id, more: 1 })], ['name', made({})],
      ['name', made({ sort: 'name', value: 'a'.repeat(257), id })],
      ['updatedAt', made({ sort: 'updatedAt', value: 'x', id })], ['seats', made({ sort: 'seats', value: {}, id })]
    ] as const
    const detail =
      'must be a cursor from a Link of this list, with the same filters and the same order (not sort=createdAt)'
    for (const [sort, cursor] of wrong) {
      const found = await faultsOf(call, `/users?sort=${sort}&cursor=${cursor}`)
      t.strictSame(found, [['cursor', 'format', detail]], cursor)
    }
    t.strictSame(await faultsOf(call, `/users?sort=name&cursor=${next}&page=1`), [
      ['cursor', 'exclusive', 'cannot be used together with page']
    ])
    t.strictSame(await faultsOf(call, `/users?sort=name&after=${String(id)}`), [
      ['after', 'exclusive', 'follows creation order: with sort, use cursor']
    ])
    t.strictSame(await faultsOf(call, `/users?ids=${String(id)}&after=${String(id)}`), [
      ['after', 'exclusive', 'can be used together with ids only with sort']
    ])
  })
})
