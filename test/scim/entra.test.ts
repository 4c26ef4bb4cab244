// What Entra ID sends, by its document "Develop and plan provisioning for a SCIM endpoint", with and without the flag
// aadOptscim062020.
import { test } from 'tap'
import { type Ask, ENTERPRISE, GROUP, patch, served, USER, where } from './served.ts'

const UNKNOWN = '9f1a0b6e-5a1e-4d2b-8c5b-0b6a4d7f3c11'

const BABS = {
  schemas: [USER, ENTERPRISE],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName: 'Babs@contoso.example.com',
  active: true,
  emails: [{ primary: true, type: 'work', value: 'babs@mail.example.com' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Babs Jensen', familyName: 'Jensen', givenName: 'Babs' },
  roles: []
}

const find = (ask: Ask, filter: string) => ask('GET', where('/Users', { filter }))

test('Entra ID', async (t) => {
  const { app, ask } = await served(t)
  // The test of the connection asks for somebody who can't be there.
  for (const filter of [
    `userName eq "${UNKNOWN}"`, `externalId eq "${UNKNOWN}"`, `emails[type eq "work"].value eq "${UNKNOWN}"`,
    `id eq "${UNKNOWN}"`
  ]) {
    t.match(await find(ask, filter), { status: 200, body: { totalResults: 0, Resources: [] } }, filter)
  }
  const made = await ask('POST', '/Users', BABS)
  t.match(made, {
    status: 201,
    body: { userName: 'Babs@contoso.example.com', displayName: 'Babs Jensen', externalId: BABS.externalId }
  })
  const id = String(made.body['id'])
  const path = `/Users/${id}`
  for (const filter of [
    'userName eq "babs@contoso.example.com"', `externalId eq "${BABS.externalId}"`,
    'emails[type eq "work"].value eq "babs@contoso.example.com"', `${USER}:userName eq "babs@contoso.example.com"`
  ]) t.match(await find(ask, filter), { body: { totalResults: 1, Resources: [{ id }] } }, filter)

  // Changes without the flag and with it: each form is in patch.test.ts.
  t.match(await ask('PATCH', path, patch(
    { op: 'Replace', path: 'active', value: 'False' },
    { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '555-0100' },
    { op: 'Add', path: `${ENTERPRISE}:manager`, value: '26118915-6090-4610-87e4-49d8ca9f808d' },
    { op: 'Replace', path: 'userType', value: 'True' }
  )), {
    status: 200,
    body: {
      active: false,
      phoneNumbers: [{ value: '555-0100', type: 'work' }],
      userType: true,
      [ENTERPRISE]: { manager: { value: '26118915-6090-4610-87e4-49d8ca9f808d' } }
    }
  })
  const value = {
    displayName: 'Barbara Jensen', 'name.familyName': 'Smith', 'phoneNumbers[type eq "work"].value': '555-0101'
  }
  t.match(await ask('PATCH', path, patch({ op: 'replace', value })), {
    body: {
      displayName: 'Barbara Jensen',
      name: { familyName: 'Smith', givenName: 'Babs' },
      phoneNumbers: [{ value: '555-0101' }]
    }
  })
  const off = { op: 'Replace', path: 'active', value: [{ $ref: null, value: 'False' }] }
  const left = await ask('PATCH', path, patch({ op: 'Remove', path: `${ENTERPRISE}:manager` }, off))
  t.notOk('manager' in Object(left.body[ENTERPRISE]))
  t.match(await find(ask, 'userName eq "babs@contoso.example.com"'), { body: { Resources: [{ active: false }] } },
    'who is inactive is answered still')

  // Groups, whose members nobody asks for.
  t.match(await ask('GET', where('/Groups', {
    excludedAttributes: 'members', filter: 'displayName eq "Engineering"'
  })), { status: 200, body: { totalResults: 0 } })
  const group = await ask('POST', '/Groups', {
    schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'Engineering',
    meta: { resourceType: 'Group' }
  })
  t.match(group, { status: 201, body: { externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159' } })
  const groupId = String(group.body['id'])
  const groupPath = `/Groups/${groupId}`
  t.match(await ask('PATCH', groupPath, patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] })), {
    status: 204
  })
  const without = await ask('GET', `${groupPath}?excludedAttributes=members`)
  t.strictSame([without.body['displayName'], 'members' in without.body], ['Engineering', false])
  t.match(await ask('GET', where('/Groups', { filter: `id eq "${groupId}" and members eq "${id}"` })), {
    body: { totalResults: 1 }
  })
  const leave = { op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] }
  t.match(await ask('PATCH', groupPath, patch(leave)), { status: 204 })
  t.match(await ask('GET', where('/Groups', { filter: `id eq "${groupId}" and members eq "${id}"` })), {
    body: { totalResults: 0 }
  })
  t.match(await ask('GET', where('/Groups', { filter: 'externalId eq "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159"' })), {
    body: { Resources: [{ displayName: 'Engineering' }] }
  })
  t.match(await ask('DELETE', groupPath), { status: 204 })
  t.match(await ask('DELETE', path), { status: 204 })
  t.match(await ask('DELETE', path), { status: 404 })
  t.equal((await app.users.listDeleted()).meta.total, 1, 'with the trash a user can come back')
})
