// Contract §20: groups over HTTP.
import { test, type Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import type { Scope } from '../../lib/index.ts'
import { type Call, inject, testApp, type TestAppOptions } from '../helpers/app.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** A host with groups and some users. `as`: sends a request with a key of these scopes. */
async function grouped (t: Test, options: TestAppOptions = {}, count = 3) {
  const { app } = await testApp(t, { groups: true, trash: true, eventLog: true, ...options })
  const { key } = await app.users.apiKeys.create({
    name: 'groups', scopes: ['users:read', 'users:write', 'users:delete', 'groups:read', 'groups:write', 'events:read']
  })
  const asKey = (text: string): Call => (method, path, given = {}) =>
    inject(app, method, `/v1${path}`, { ...given, headers: { authorization: `Bearer ${text}`, ...given.headers } })
  const as = async (...scopes: Scope[]): Promise<Call> =>
    asKey((await app.users.apiKeys.create({ name: scopes.join(), scopes })).key)
  const users: string[] = []
  for (let n = 0; n < count; n++) {
    users.push((await app.users.create({ name: `User ${n}`, email: `user${n}@example.org` })).id)
  }
  const without = await as('users:read', 'users:write', 'users:delete', 'events:read')
  return { app, call: asKey(key), without, as, users }
}

const idsIn = ({ data }: { data: Array<{ id: string }> }): string[] => data.map(({ id }) => id)

test('a group is created, read, listed, changed and deleted', async (t) => {
  const { call } = await grouped(t)
  const made = await call('POST', '/groups', { payload: { name: ' Éditors ', externalId: 'a-1' } })
  t.equal(made.statusCode, 201)
  const group = made.json()
  t.strictSame(Object.keys(group),
    ['id', 'name', 'externalId', 'members', 'version', 'createdAt', 'updatedAt'])
  t.match(group, { id: /^grp_\w{26}$/, name: 'Éditors', externalId: 'a-1', members: 0, version: 1 })
  t.match(made.headers, { location: `/v1/groups/${group.id}`, etag: '"1"' })
  const path = `/groups/${group.id}`
  const read = await call('GET', path)
  t.strictSame([read.statusCode, read.json(), read.headers['etag']], [200, group, '"1"'])
  t.equal((await call('GET', path, { headers: { 'if-none-match': '"1"' } })).statusCode, 304)

  // The name is unique, whatever its case and accents.
  const again = await call('POST', '/groups', { payload: { name: 'editorS' } })
  t.match([again.statusCode, again.json()],
    [409, { code: 'name_taken', errors: [{ pointer: '/name', code: 'taken' }] }])
  const other = (await call('POST', '/groups', { payload: { name: 'Authors' } })).json()
  t.equal((await call('PATCH', `/groups/${other.id}`, { payload: { name: 'EDITORS' } })).json().code, 'name_taken')
  t.equal((await call('PATCH', path, { payload: { name: 'EDITORS' } })).statusCode, 200, 'its own in another case')

  const list = await call('GET', '/groups?limit=1')
  t.match(list.json(), { data: [{ id: group.id }], meta: { page: 1, limit: 1, total: 2 } })
  t.match(list.headers['link'], '</v1/groups?limit=1&page=2>; rel="next"')
  for (const [query, expected] of [
    ['?sort=name', [other.id, group.id]], ['?sort=-name', [group.id, other.id]],
    ['?sort=-createdAt', [other.id, group.id]], ['?name=%C3%A9ditors', [group.id]],
    ['?externalId=a-1', [group.id]], ['?externalId=A-1', []], [`?after=${group.id}`, [other.id]]
  ] as const) t.strictSame(idsIn((await call('GET', `/groups${query}`)).json()), expected, query)

  const changed = await call('PATCH', path, { payload: { externalId: null } })
  t.match(changed.json(), { name: 'EDITORS', version: 3 })
  t.notOk('externalId' in changed.json())
  t.equal((await call('PATCH', path, { payload: {} })).headers['etag'], '"3"', 'nothing has changed')
  const stale = { headers: { 'if-match': '"2"' } }
  t.equal((await call('PATCH', path, { ...stale, payload: { name: 'x' } })).json().code, 'precondition_failed')
  t.equal((await call('DELETE', path, stale)).statusCode, 412)
  t.equal((await call('DELETE', path, { headers: { 'if-match': '"3"' } })).statusCode, 204)
  for (const [method, where] of [
    ['GET', path], ['PATCH', path], ['DELETE', path], ['GET', `${path}/members`],
    ['POST', `${path}/members/batch`], ['GET', '/groups/x']
  ] as const) {
    const response = await call(method, where, method === 'PATCH' || method === 'POST' ? { payload: {} } : {})
    t.match([response.statusCode, response.json().code], [404, 'group_not_found'], `${method} ${where}`)
  }
})

test('what a group and its members cannot be made of', async (t) => {
  const { call, users: [user] } = await grouped(t)
  const { id } = (await call('POST', '/groups', { payload: { name: 'A' } })).json()
  const faultsOf = async (method: string, path: string, payload: object | string) => {
    const response = await call(method, path, { payload, headers: JSON_TYPE })
    const { code, errors = [] } = response.json()
    return [response.statusCode, code, ...errors.map((each: { pointer?: string, parameter?: string, code: string }) =>
      `${each.pointer ?? each.parameter} ${each.code}`)]
  }
  const faulty = [400, 'validation_failed']
  t.strictSame(await faultsOf('POST', '/groups', {}), [...faulty, '/name required'])
  t.strictSame(await faultsOf('POST', '/groups', { name: '', externalId: '', members: [] }),
    [...faulty, '/members unknown'])
  t.strictSame(await faultsOf('POST', '/groups', { name: ' ', externalId: 'x'.repeat(256) }),
    [...faulty, '/name too_short', '/externalId too_long'])
  t.strictSame(await faultsOf('PATCH', `/groups/${id}`, { name: 1, externalId: true }),
    [...faulty, '/name type', '/externalId invalid'])
  const batch = `/groups/${id}/members/batch`
  t.strictSame(await faultsOf('POST', batch, { add: 'x', drop: [] }), [...faulty, '/drop unknown', '/add type'])
  t.strictSame(await faultsOf('POST', batch, { add: [user, 'x'], remove: ['y'] }),
    [...faulty, '/add/1 unknown', '/remove/0 unknown'])
  const unknown = id.replace('grp_', 'usr_')
  t.strictSame(await faultsOf('POST', batch, { add: [user, unknown] }), [...faulty, '/add/1 unknown'])
  t.equal((await call('GET', `/groups/${id}`)).json().members, 0, 'none by half')
  t.strictSame(await faultsOf('POST', batch, { add: Array.from({ length: 1001 }, () => user) }),
    [...faulty, '/add too_many'])
  for (const [query, fault] of [
    [`sort=name&after=${id}`, 'after exclusive'], ['name=a&externalId=b', 'externalId exclusive'],
    ['externalId=%00', 'externalId characters'], ['q=x', 'q unknown']
  ] as const) t.strictSame(await faultsOf('GET', `/groups?${query}`, ''), [...faulty, fault], query)
})

test('users join a group and leave it, alone and a thousand at once', async (t) => {
  const { app, call, users } = await grouped(t)
  const [one = '', two = '', three = ''] = users
  const { id } = (await call('POST', '/groups', { payload: { name: 'A' } })).json()
  const members = `/groups/${id}/members`
  for (const method of ['PUT', 'PUT', 'DELETE', 'DELETE', 'PUT'] as const) {
    t.equal((await call(method, `${members}/${one}`)).statusCode, 204)
  }
  const unknown = newId('usr')
  for (const user of [unknown, 'x']) {
    t.match((await call('PUT', `${members}/${user}`)).json(), { code: 'user_not_found' })
  }
  t.equal((await call('DELETE', `${members}/${unknown}`)).statusCode, 204, 'who is nobody is no member')
  const batch = await call('POST', `${members}/batch`, { payload: { add: [two, three, two], remove: [one, two] } })
  t.match([batch.statusCode, batch.json()], [200, { members: 1, version: 5 }])

  const all: string[] = []
  for (let n = 0; n < 1000; n++) all.push((await app.users.create({ name: 'N', email: `n${n}@example.org` })).id)
  t.match((await call('POST', `${members}/batch`, { payload: { add: all } })).json(), { members: 1001 })
  const page = await call('GET', `${members}?limit=2&page=500`)
  t.match(page.json(), { meta: { page: 500, limit: 2, total: 1001 } })
  t.strictSame(idsIn(page.json()), all.slice(997, 999))
  t.match(page.headers['link'], `</v1${members}?limit=2&page=501>; rel="next"`)
  const after = await call('GET', `${members}?limit=2&after=${all[997]}`)
  t.strictSame(idsIn(after.json()), all.slice(998))

  // With the parameters of every list, as a filter of users, and the groups of a user.
  t.strictSame(idsIn((await call('GET', `${members}?email=user2@example.org`)).json()), [three])
  t.strictSame((await call('GET', `${members}?sort=-name&limit=1`)).json().data[0].name, 'User 2')
  t.match((await call('GET', `/users?group=${id}&q=user`)).json(), { data: [{ id: three }], meta: { total: 1 } })
  t.match((await call('GET', `/users/export?group=${id}&email=user2@example.org`)).body, three)
  t.match((await call('GET', `/users/${three}/groups`)).json(), { data: [{ id, name: 'A' }], meta: { total: 1 } })
  t.match((await call('GET', `/users/${one}/groups`)).json(), { data: [], meta: { total: 0 } })
  t.match((await call('GET', `/users/${unknown}/groups`)).json(), { code: 'user_not_found' })
  t.match((await call('GET', '/users?group=x')).json(), { errors: [{ parameter: 'group', code: 'format' }] })
})

test('who is deleted leaves and who is restored is back, and the log says who has come and gone', async (t) => {
  const { app, call, users: [user = '', other = ''] } = await grouped(t)
  const told: unknown[] = []
  for (const type of ['group.created', 'group.updated', 'group.deleted', 'group.members_changed'] as const) {
    app.users.events.on(type, (event) => { told.push([event.id, event.type, event.data]) })
  }
  const { id } = (await call('POST', '/groups', { payload: { name: 'A' } })).json()
  await call('POST', `/groups/${id}/members/batch`, { payload: { add: [user, other] } })
  await call('PATCH', `/groups/${id}`, { payload: { name: 'B' } })
  await call('DELETE', `/users/${user}`)
  await call('POST', `/users/${user}/restore`)
  const operations = [user, other].map((each) => ({ op: 'purge', id: each }))
  await call('POST', '/users/batch', { payload: { operations } })
  await call('DELETE', `/groups/${id}`)
  const { data } = (await call('GET', `/events?subject=${id}`)).json()
  const shown = ({ type, data: of }: { type: string, data: Record<string, unknown> }) =>
    [type, of['name'], of['members'], of['version'], of['added'], of['removed']]
  t.strictSame(data.map(shown), [
    ['group.created', 'A', 0, 1, undefined, undefined],
    ['group.members_changed', 'A', 2, 2, [user, other], []],
    ['group.updated', 'B', 2, 3, undefined, undefined],
    ['group.members_changed', 'B', 1, 4, [], [user]],
    ['group.members_changed', 'B', 2, 5, [user], []],
    ['group.members_changed', 'B', 0, 6, [], [user, other]],
    ['group.deleted', 'B', 0, 6, undefined, undefined]
  ])
  t.ok(data.every(({ actor }: { actor: { name: string } }) => actor.name === 'groups'))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(told, data.map((each: Record<string, unknown>) => [each['id'], each['type'], each['data']]),
    'in process it is the same')
  t.match((await call('GET', '/events?type=group.deleted')).json(), { data: [{ data: { id } }] })
})

test('members and a filter by a group need two scopes, and no write is a way to read', async (t) => {
  const { call, without, as, users: [user = ''] } = await grouped(t)
  const { id } = (await call('POST', '/groups', { payload: { name: 'A' } })).json()
  const reads = await as('groups:read')
  const writes = await as('groups:write')
  // The one scope of each other operation: docs-tables.test.ts.
  for (const [who, path, needed] of [
    [writes, `/groups/${id}/members`, 'groups:read'], [reads, `/groups/${id}/members`, 'users:read'],
    [without, `/users?group=${id}`, 'groups:read'], [without, `/users/export?group=${id}`, 'groups:read']
  ] as const) {
    const { statusCode, headers } = await who('GET', path)
    t.match([statusCode, headers['www-authenticate']], [403, `scope="${needed}"`], path)
  }
  const minimal = ['id', 'createdAt', 'updatedAt']
  t.strictSame(Object.keys((await writes('POST', '/groups', { payload: { name: 'B' } })).json()), minimal)
  t.strictSame(Object.keys((await writes('PATCH', `/groups/${id}`, { payload: { name: 'C' } })).json()), minimal)
  const batch = await writes('POST', `/groups/${id}/members/batch`, { payload: { add: [user] } })
  t.strictSame(Object.keys(batch.json()), minimal)
})

test('what is stored of a person names the groups, also of one who is put away', async (t) => {
  const { app, call, without, users: [user = ''] } = await grouped(t)
  const [a, b] = await Promise.all(['A', 'B', 'C'].map(async (name) => (await app.users.groups.create({ name })).id))
  if (a === undefined || b === undefined) throw new Error('no groups')
  for (const id of [a, b]) await app.users.groups.changeMembers(id, { add: [user] })
  const groups = [{ id: a, name: 'A' }, { id: b, name: 'B' }].toSorted((one, other) => one.id < other.id ? -1 : 1)
  const stored = async () => (await call('GET', `/users/${user}/subject`)).json().groups
  t.strictSame(await stored(), groups)
  await app.users.delete(user)
  t.strictSame(await stored(), groups)
  t.equal((await without('GET', `/users/${user}/subject`)).statusCode, 403)
})

test('with the option requireIfMatch a group changes only by its version, and its members without', async (t) => {
  const { call, users: [user] } = await grouped(t, { requireIfMatch: true })
  const { id } = (await call('POST', '/groups', { payload: { name: 'A' } })).json()
  t.equal((await call('PATCH', `/groups/${id}`, { payload: { name: 'B' } })).statusCode, 428)
  t.equal((await call('DELETE', `/groups/${id}`)).statusCode, 428)
  t.equal((await call('DELETE', '/groups/x')).statusCode, 404)
  t.equal((await call('PUT', `/groups/${id}/members/${user}`)).statusCode, 204)
  const any = { payload: { name: 'B' }, headers: { 'if-match': '*' } }
  t.equal((await call('PATCH', `/groups/${id}`, any)).statusCode, 200)
})

test('a repetition of a creation makes no second group', async (t) => {
  const { call } = await grouped(t)
  const send = (name: string) => call('POST', '/groups', { payload: { name }, headers: { 'idempotency-key': 'k' } })
  const [first, second] = [await send('A'), await send('A')]
  t.strictSame([second.statusCode, second.json()], [201, first.json()])
  t.strictSame([first.headers, second.headers].map((each) => each['idempotency-replayed']), [undefined, 'true'])
  t.equal((await send('B')).json().code, 'idempotency_key_reused')
  t.equal((await call('GET', '/groups')).json().meta.total, 1)
})

test('without the option there are no groups', async (t) => {
  const { app, call, users: [user] } = await grouped(t, { groups: false })
  for (const path of ['/groups', `/users/${user}/groups`]) t.equal((await call('GET', path)).statusCode, 404, path)
  t.match((await call('GET', '/users?group=x')).json(), { errors: [{ parameter: 'group', code: 'unknown' }] })
  await t.rejects(app.users.groups.list(), TypeError)
})
