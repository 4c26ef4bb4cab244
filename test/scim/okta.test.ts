// What Okta sends, by its documents: "Build a SCIM 2.0 server", the wizard of a SCIM app and the app catalogue.
import { test } from 'tap'
import { type Ask, ENTERPRISE, GROUP, patch, served, USER, where } from './served.ts'

const ANN = {
  schemas: [USER],
  userName: 'ann@example.org',
  name: { givenName: 'Ann', familyName: 'Lee' },
  emails: [{ primary: true, value: 'ann@example.org', type: 'work' }],
  displayName: 'Ann Lee',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true
}

const find = (ask: Ask, userName: string) =>
  ask('GET', where('/Users', { filter: `userName eq "${userName}"`, startIndex: '1', count: '100' }))

test('Okta', async (t) => {
  const { app, ask } = await served(t)
  const users = async () => (await app.users.list()).data

  // The test of the connection, and the look-up before a creation.
  t.match(await ask('GET', '/Users?startIndex=1&count=2'), { status: 200, body: { totalResults: 0 } })
  t.match(await find(ask, 'ann@example.org'), {
    status: 200,
    body: { totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 }
  })
  const made = await ask('POST', '/Users', ANN)
  t.match(made, {
    status: 201,
    headers: { 'content-type': 'application/scim+json; charset=utf-8', etag: '"1"' },
    body: {
      schemas: [USER],
      userName: 'ann@example.org',
      name: { givenName: 'Ann', familyName: 'Lee', formatted: 'Ann Lee' },
      emails: [{ value: 'ann@example.org', type: 'work', primary: true }],
      externalId: '00ujl29u0le5T6Aj10h7',
      active: true,
      meta: { resourceType: 'User', version: '"1"' }
    }
  })
  const id = String(made.body['id'])
  const location = `http://example.org/scim/v2/Users/${id}`
  t.strictSame([Object(made.body['meta']).location, made.headers['location']], [location, location])
  t.notOk(JSON.stringify([made.body, await users(), (await app.users.events.list()).data]).includes('1mz050nq'),
    'the password is nowhere')
  t.match(await ask('POST', '/Users', ANN), { status: 409, body: { scimType: 'uniqueness', status: '409' } })
  t.match(await find(ask, 'ANN@example.org'), { body: { totalResults: 1, Resources: [{ id }] } })

  // A change of the profile is a PUT of what was read.
  const { body: read } = await ask('GET', `/Users/${id}`)
  const renamed = { ...read, name: { givenName: 'Ann', familyName: 'Roy' }, displayName: 'Ann Roy' }
  t.match(await ask('PUT', `/Users/${id}`, renamed), {
    status: 200, body: { displayName: 'Ann Roy', name: { familyName: 'Roy', formatted: 'Ann Roy' }, active: true }
  })
  t.match(await ask('PUT', `/Users/${id}`, { ...renamed, [ENTERPRISE]: { department: 'R&D' } }), {
    body: { [ENTERPRISE]: { department: 'R&D' } }
  })

  // Deactivation and reactivation, and who was deactivated is found still.
  t.match(await ask('PATCH', `/Users/${id}`, patch({ op: 'replace', value: { active: false } })), {
    status: 200, body: { active: false, displayName: 'Ann Roy' }
  })
  t.match((await users())[0], { status: 'suspended' })
  t.match(await find(ask, 'ann@example.org'), { body: { totalResults: 1, Resources: [{ active: false }] } })
  t.match(await ask('PUT', `/Users/${id}`, { ...renamed, active: undefined }), { body: { active: false } })
  t.match(await ask('PATCH', `/Users/${id}`, patch({ op: 'replace', value: { active: true } })), {
    body: { active: true }
  })

  // Group push: the look-up, the creation, members, the new name, and the end.
  t.match(await ask('GET', where('/Groups', { filter: 'displayName eq "Staff"', startIndex: '1', count: '100' })), {
    status: 200, body: { totalResults: 0 }
  })
  const { id: other } = (await ask('POST', '/Users', { ...ANN, userName: 'ben@example.org', externalId: '2' })).body
  const group = await ask('POST', '/Groups', {
    schemas: [GROUP], displayName: 'Staff', members: [{ value: id, display: 'ann@example.org' }]
  })
  t.match(group, { status: 201, body: { displayName: 'Staff', members: [{ value: id, type: 'User' }] } })
  const path = `/Groups/${String(group.body['id'])}`
  t.match(await ask('PATCH', path, patch(
    { op: 'remove', path: `members[value eq "${id}"]` },
    { op: 'add', path: 'members', value: [{ value: other, display: 'ben@example.org' }] }
  )), { status: 204 })
  t.strictSame((await ask('GET', path)).body['members'],
    [{ value: other, type: 'User', $ref: `http://example.org/scim/v2/Users/${String(other)}` }])
  const renaming = { op: 'replace', value: { id: group.body['id'], displayName: 'All staff' } }
  t.match(await ask('PATCH', path, patch(renaming)), { status: 204 })
  t.match(await ask('PUT', path, { schemas: [GROUP], displayName: 'Everybody', members: [{ value: id }] }), {
    status: 200, body: { displayName: 'Everybody', members: [{ value: id }] }
  })
  t.match(await ask('POST', '/Groups', { displayName: 'everybody' }), {
    status: 409, body: { scimType: 'uniqueness' }
  })
  t.match(await ask('DELETE', path), { status: 204 })
  t.match(await ask('GET', path), { status: 404, body: { status: '404' } })

  // Each change names the provider.
  const { data } = await app.users.events.list({ subject: id })
  t.strictSame([...new Set(data.map(({ actor }) => actor?.name))], ['provider'])
})
