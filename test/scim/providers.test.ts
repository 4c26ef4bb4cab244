// What Google Workspace, OneLogin and JumpCloud send, as far as their public documents go.
import { test } from 'tap'
import { ENTERPRISE, patch, served, USER, where } from './served.ts'

test('Google Workspace: a change is a PATCH of the whole, and a suspension is active', async (t) => {
  const { ask } = await served(t)
  const body = {
    schemas: [USER, ENTERPRISE],
    userName: 'ann@example.org',
    externalId: '103210002333444555666',
    name: { givenName: 'Ann', familyName: 'Lee', formatted: 'Ann Lee' },
    emails: [{ value: 'ann@example.org', type: 'work', primary: true }],
    active: true
  }
  t.match(await ask('GET', where('/Users', { filter: 'userName eq "ann@example.org"' })), { body: { totalResults: 0 } })
  const { body: { id } } = await ask('POST', '/Users', body)
  t.match(await ask('PATCH', `/Users/${String(id)}`, patch({ op: 'replace', value: { ...body, active: false } })), {
    status: 200, body: { active: false, displayName: 'Ann Lee' }
  })
  t.match(await ask('DELETE', `/Users/${String(id)}`), { status: 204 })
})

test('OneLogin: a look-up, a creation with the extension, PUT, and groups by PATCH of members', async (t) => {
  const { ask } = await served(t)
  t.match(await ask('GET', where('/Users', { filter: 'userName eq "ben@example.org"' })), { body: { totalResults: 0 } })
  const { body: { id } } = await ask('POST', '/Users', {
    schemas: [USER, ENTERPRISE],
    userName: 'ben@example.org',
    name: { familyName: 'Ray', givenName: 'Ben', formatted: 'Ben Ray' },
    emails: [{ value: 'ben@example.org', primary: true }],
    phoneNumbers: [{ value: '1', type: 'work' }],
    [ENTERPRISE]: { department: 'Tours' }
  })
  t.match(await ask('PUT', `/Users/${String(id)}`, {
    schemas: [USER], id, userName: 'ben@example.org', name: { formatted: 'Ben R.' }, active: false
  }), { status: 200, body: { active: false, displayName: 'Ben R.' } })
  const { body: group } = await ask('POST', '/Groups', { displayName: 'Tours', members: [] })
  const join = { op: 'add', path: 'members', value: [{ value: id }] }
  t.match(await ask('PATCH', `/Groups/${String(group['id'])}`, patch(join)), { status: 204 })
})

test('JumpCloud: lists of all before anything, and a deactivation instead of a deletion', async (t) => {
  const { ask } = await served(t)
  t.match(await ask('GET', '/Users?startIndex=1&count=100'), { body: { totalResults: 0, startIndex: 1 } })
  t.match(await ask('GET', '/Groups?startIndex=1&count=100'), { body: { totalResults: 0 } })
  const user = {
    userName: 'cid@example.org',
    displayName: 'Cid',
    active: true,
    emails: [{ type: 'work', primary: true, value: 'cid@example.org' }]
  }
  const { body: { id } } = await ask('POST', '/Users', user)
  t.match(await ask('PUT', `/Users/${String(id)}`, { ...user, active: false }), { body: { active: false } })
  t.match(await ask('GET', where('/Users', { filter: 'userName eq "cid@example.org"' })), { body: { totalResults: 1 } })
})
