// How attributes are members of users: the option `mapping`, user names, and what faults are called.
import { test } from 'tap'
import { patch, served, where } from './served.ts'

const made = (n: number) => ({ userName: `user${n}@example.org`, displayName: `User ${n}` })

test('a mapping that does not fit the fields fails the registration', async (t) => {
  for (const [mapping, message] of [
    [{ userName: 'department' }, /mapping\.userName/], [{ externalId: 'title' }, /mapping\.externalId/],
    [{ attributes: { title: 'nothing' } }, /there is no field nothing/], [{ unknown: 'maybe' }, /unknown/],
    [{ attributes: { 'urn:example:2.0:User:title': 'title' } }, /its schema must be that of users/],
    ...['password', 'groups', 'active', 'userName', 'name', 'name.formatted', 'displayName', 'externalId'].map((path) =>
      [{ attributes: { [path]: 'title' } }, /which has a place already, or can have none/] as const)
  ] as const) await t.rejects(served(t, {}, Object({ mapping })), message)
})

test('with a user name of its own the address is that of emails, and what has no place may be refused', async (t) => {
  const { ask } = await served(t, {}, { mapping: { userName: 'login', unknown: 'refuse' } })
  const one = await ask('POST', '/Users', { userName: 'ann', emails: [{ value: 'ann@example.org', primary: true }] })
  t.match(one, { status: 201, body: { userName: 'ann', emails: [{ value: 'ann@example.org' }], displayName: 'ann' } })
  t.match(await ask('GET', where('/Users', { filter: 'userName eq "ann"' })), { body: { totalResults: 1 } })
  t.match(await ask('POST', '/Users', { userName: 'ann', emails: [{ value: 'b@example.org' }] }), { status: 409 })
  t.match(await ask('POST', '/Users', { userName: 'b', emails: [{ value: 'b@example.org' }], nickName: 'B' }), {
    status: 400, body: { scimType: 'invalidValue', detail: /nickname/ }
  })
})

test('a user name of its own is never missing, and has no case', async (t) => {
  const { ask } = await served(t, {}, { mapping: { userName: 'login' } })
  const emails = (n: number) => [{ value: `user${n}@example.org`, type: 'work' }]
  const { body: { id } } = await ask('POST', '/Users', { userName: 'Ann', displayName: 'Ann', emails: emails(1) })
  t.match(await ask('POST', '/Users', { userName: 'aNN', emails: emails(2) }), { status: 409 })
  t.match(await ask('GET', where('/Users', { filter: 'userName eq "ANN"' })), { body: { totalResults: 1 } })
  for (const userName of [undefined, '', null, []]) {
    const missing = { status: 400, body: { scimType: 'invalidValue', detail: 'userName is required.' } }
    t.match(await ask('POST', '/Users', { userName, displayName: 'B', emails: emails(2) }), missing)
    t.match(await ask('PUT', `/Users/${String(id)}`, { userName, displayName: 'B', emails: emails(1) }), missing)
    if (userName === undefined) continue
    const change = patch({ op: 'replace', path: 'userName', value: userName })
    t.match(await ask('PATCH', `/Users/${String(id)}`, change), missing)
  }
  t.match(await ask('GET', `/Users/${String(id)}`), { body: { userName: 'ann', meta: { version: '"1"' } } })
})

test('a fault is called what the client calls it', async (t) => {
  const { ask } = await served(t)
  const details = []
  for (const [method, path, body] of [
    ['POST', '/Users', { userName: 'no address' }], ['POST', '/Users', { ...made(1), displayName: 'x'.repeat(201) }],
    ['POST', '/Users', { ...made(1), active: 'perhaps' }],
    ['POST', '/Groups', { displayName: 'G', members: [{ value: 'grp_x' }] }]
  ] as const) details.push((await ask(method, path, body)).body['detail'])
  t.match(details, [/^The address \(userName or emails\) must/, /^displayName must/, /^active must/, /^members /])
  await ask('POST', '/Users', { ...made(1), externalId: 'e' })
  t.match((await ask('POST', '/Users', { ...made(2), externalId: 'e' })).body['detail'], /^externalId /)
  const { body: { id } } = await ask('POST', '/Users', { ...made(3), externalId: 'kept' })
  t.match(await ask('PUT', `/Users/${String(id)}`, made(3)), { body: { externalId: 'kept' } })
})
