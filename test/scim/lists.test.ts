// What a list must not become: one of everybody, of another tenant, or one without what is there.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { served, where } from './served.ts'

const made = (n: number) => ({ userName: `user${n}@example.org` })

test('a filter that can not be read, or is given twice, finds nobody', async (t) => {
  const { ask } = await served(t)
  await ask('POST', '/Users', made(1))
  await ask('POST', '/Groups', { displayName: 'G' })
  for (const [query, scimType] of [
    ['filter=userName%20eq%20%22100%@example.org%22', 'invalidFilter'],
    ['filter=%ff', 'invalidFilter'],
    ['filter=id%20eq%20%22a%22&filter=id%20eq%20%22b%22', 'invalidFilter'],
    ['Filter=x&filter=id%20eq%20%22a%22', 'invalidFilter'],
    ['FILTER=id%20eq', 'invalidFilter'],
    ['count=%zz', 'invalidValue'],
    ['startIndex=1&startIndex=2', 'invalidValue'],
    ['%ff=1', 'invalidValue']
  ] as const) {
    for (const path of ['/Users', '/Groups']) {
      t.match(await ask('GET', `${path}?${query}`), { status: 400, body: { scimType } }, query)
    }
  }
  for (const search of [{ Filter: 'id eq "a"' }, { filter: 'id eq "a"', cOUNT: 5 }]) {
    t.match(await ask('POST', '/Users/.search', search), { status: 200, body: { totalResults: 0 } })
  }
  t.match(await ask('POST', '/Users/.search', { filter: 'id pr', Filter: 'id pr' }),
    { status: 400, body: { scimType: 'invalidFilter' } })
  t.match(await ask('GET', '/Users?aadOptscim062020=1'), { status: 200, body: { totalResults: 1 } })
})

test('a cursor is of one type of resource', async (t) => {
  const { ask } = await served(t)
  for (const n of [1, 2]) {
    await ask('POST', '/Users', made(n))
    await ask('POST', '/Groups', { displayName: `G${n}` })
  }
  for (const [of, other] of [['/Users', '/Groups'], ['/Groups', '/Users']] as const) {
    const cursor = String((await ask('GET', `${of}?cursor=&count=1`)).body['nextCursor'])
    t.match(await ask('GET', `${of}?cursor=${cursor}`), { status: 200, body: { totalResults: 2, itemsPerPage: 1 } })
    t.match(await ask('GET', `${other}?cursor=${cursor}`), { status: 400, body: { scimType: 'invalidCursor' } })
  }
})

test('the groups of a user of another tenant are those of a user who is not there', async (t) => {
  const { app, ask, asKey } = await served(t, { tenants: true })
  const globex = app.users.tenant('globex')
  const { id } = await globex.create({ name: 'Ann', email: 'ann@example.org' })
  await globex.groups.changeMembers((await globex.groups.create({ name: 'G' })).id, { add: [id] })
  const { key } = await app.users.tenant('acme').apiKeys.create({ name: 'okta', scopes: ['scim:users', 'scim:groups'] })
  const acme = asKey(key)
  for (const filter of [`members eq "${id}"`, `members[value eq "${id}"]`, 'members eq "usr_x"']) {
    const answers = [
      await acme('GET', where('/Groups', { filter })),
      await acme('POST', '/Groups/.search', { filter }),
      await ask('GET', where('/Groups', { filter, tenant: 'acme' }))
    ]
    for (const answer of answers) t.match(answer, { status: 200, body: { totalResults: 0, Resources: [] } }, filter)
  }
  t.match(await ask('GET', where('/Groups', { filter: `members eq "${id}"` })), { body: { totalResults: 1 } })
  t.match(await ask('GET', '/Users?tenant=acme%'), { status: 400 }, 'not the users of all tenants')
  t.match(await ask('GET', '/Users?tenant=acme&tenant=globex'), { status: 400 })
})

test('groups that are deleted during a list are not in it', async (t) => {
  const storage = memory()
  const { ask } = await served(t, { storage })
  const { body: user } = await ask('POST', '/Users', made(1))
  const members = [{ value: user['id'] }]
  const groups: string[] = []
  for (let n = 0; n < 4; n++) {
    groups.push(String((await ask('POST', '/Groups', { displayName: `G${n}`, members })).body['id']))
  }
  const { list } = storage
  let meant: string[] = []
  // Behind the first read of a list, another client deletes a group.
  storage.list = async (...asked) => {
    const page = await list(...asked)
    const id = meant.pop()
    if (id !== undefined) await ask('DELETE', `/Groups/${id}`)
    return page
  }
  const idsOf = (body: Record<string, never>) => Object(body['Resources']).map(({ id }: { id: string }) => id)
  const [first = '', second = '', third = '', fourth = ''] = groups
  meant = [first]
  const all = await ask('GET', '/Groups')
  t.strictSame([all.status, all.body['totalResults'], idsOf(all.body)], [200, 3, [second, third, fourth]])
  meant = [second]
  const filter = `members eq "${String(user['id'])}"`
  const own = await ask('GET', where('/Groups', { filter }))
  t.strictSame([own.status, own.body['totalResults'], idsOf(own.body)], [200, 2, [third, fourth]])
  meant = [third]
  const page = await ask('GET', '/Groups?cursor=&count=1')
  t.strictSame([page.status, idsOf(page.body)], [200, []])
  const next = await ask('GET', `/Groups?cursor=${String(page.body['nextCursor'])}`)
  t.strictSame([next.body['totalResults'], idsOf(next.body)], [1, [fourth]])
})
