// Every form of PATCH that clients send (RFC 7644 section 3.5.2), and what none may do.
import { test } from 'tap'
import { ENTERPRISE, patch, served, USER } from './served.ts'

const START = {
  userName: 'ann@example.org',
  displayName: 'Ann Lee',
  title: 'Dr',
  name: { givenName: 'Ann', familyName: 'Lee' },
  phoneNumbers: [{ value: '1', type: 'work' }],
  [ENTERPRISE]: { department: 'Tours' }
}

test('each form of an operation on a user', async (t) => {
  const { ask } = await served(t)
  const forms: ReadonlyArray<readonly [name: string, operations: object[], expected: object]> = [
    ['replace with a path', [{ op: 'replace', path: 'title', value: 'X' }], { title: 'X' }],
    ['remove', [{ op: 'Remove', path: 'title' }], { title: undefined }],
    ['an object without a path', [{ op: 'replace', value: { title: 'X', active: false } }], {
      title: 'X', active: false
    }],
    ['names in any case', [{ op: 'add', value: { TITLE: 'X' } }], { title: 'X' }],
    ['dotted names', [{ op: 'replace', value: { 'name.givenName': 'Zoe' } }], { name: { givenName: 'Zoe' } }],
    ['a boolean as text', [{ op: 'Replace', path: 'active', value: 'False' }], { active: false }],
    ['of the extension', [{ op: 'replace', path: `${ENTERPRISE}:department`, value: 'X' }], {
      [ENTERPRISE]: { department: 'X' }
    }],
    ['the extension as an object', [{ op: 'replace', value: { [ENTERPRISE]: { department: 'X' } } }], {
      [ENTERPRISE]: { department: 'X' }
    }],
    ['a path with a filter', [{ op: 'replace', path: 'phoneNumbers[type eq "work"].value', value: '2' }], {
      phoneNumbers: [{ value: '2' }]
    }],
    ['another type has no place', [{ op: 'add', path: 'phoneNumbers', value: [{ value: '3', type: 'fax' }] }], {
      phoneNumbers: [{ value: '1' }]
    }],
    ['removal by a filter', [{ op: 'remove', path: 'phoneNumbers[type eq "work"]' }], { phoneNumbers: undefined }],
    ['an alien schema', [{ op: 'add', value: { 'urn:okta:custom:1.0:user': { a: 1 } } }], { title: 'Dr' }],
    ['what has no place', [{ op: 'add', path: 'nickName', value: 'X' }], { title: 'Dr' }],
    ['what is read-only, sent along', [{ op: 'replace', value: { id: 'x', groups: [] } }], { title: 'Dr' }],
    ['the URI of the extension as path', [{ op: 'add', path: ENTERPRISE, value: { department: 'X' } }], {
      [ENTERPRISE]: { department: 'X' }
    }],
    ['removal of the extension', [{ op: 'remove', path: ENTERPRISE }], { [ENTERPRISE]: undefined }],
    ['an addition keeps other values', [
      { op: 'add', value: { phoneNumbers: [{ value: '3', type: 'fax' }], name: { givenName: 'Z' } } }
    ], { phoneNumbers: [{ value: '1' }], name: { givenName: 'Z', familyName: 'Lee' } }],
    ['a replacement keeps other parts', [{ op: 'replace', path: 'name', value: { givenName: 'Z' } }], {
      name: { givenName: 'Z', familyName: 'Lee' }
    }],
    ['removal by a filter that holds for nothing', [
      { op: 'remove', path: 'phoneNumbers[value eq "999"]' }, { op: 'remove', path: 'phoneNumbers[type ne "work"]' },
      { op: 'remove', path: 'phoneNumbers[not (type eq "work")]' },
      { op: 'remove', path: 'phoneNumbers[type eq "work" and value eq "2"]' }
    ], { phoneNumbers: [{ value: '1' }] }],
    ['removal by a filter on values', [{ op: 'remove', path: 'phoneNumbers[value sw "1" and type pr]' }], {
      phoneNumbers: undefined
    }],
    ['a filter is judged by the operation before', [
      { op: 'replace', path: 'phoneNumbers[value eq "1"].value', value: '2' },
      { op: 'remove', path: 'phoneNumbers[value eq "1"]' }
    ], { phoneNumbers: [{ value: '2' }] }],
    ['a value by a filter that is not there yet', [
      { op: 'remove', path: 'phoneNumbers' },
      { op: 'add', path: 'phoneNumbers[type eq "work" and primary eq true].value', value: '4' }
    ], { phoneNumbers: [{ value: '4' }] }],
    ['an empty id of theirs is none', [{ op: 'add', path: 'externalId', value: '' }], { externalId: undefined }],
    ['the whole, as Google Workspace sends it', [{
      op: 'replace',
      value: { ...START, schemas: [USER, ENTERPRISE], emails: [{ value: START.userName }], active: false }
    }], { active: false, title: 'Dr' }],
    ['a password', [{ op: 'replace', path: 'password', value: 'secret-1mz050nq' }], { password: undefined }]
  ]
  for (const [name, operations, expected] of forms) {
    const { body } = await ask('POST', '/Users', START)
    const path = `/Users/${String(body['id'])}`
    const changed = await ask('PATCH', path, patch(...operations))
    t.match(changed, { status: 200, body: expected }, name)
    for (const [member, value] of Object.entries(expected)) {
      if (value === undefined) t.notOk(member in changed.body, `${name}: ${member}`)
    }
    t.equal(changed.body['displayName'], 'Ann Lee', name)
    await ask('DELETE', path)
  }
})

test('an operation that is wrong undoes all of them', async (t) => {
  const { ask } = await served(t)
  const { body } = await ask('POST', '/Users', START)
  const path = `/Users/${String(body['id'])}`
  const good = { op: 'replace', path: 'title', value: 'X' }
  for (const [bad, scimType] of [
    [{ op: 'move', path: 'title' }, 'invalidSyntax'], [{ op: 'remove' }, 'noTarget'],
    [{ op: 'replace', value: 'x' }, 'invalidValue'], [{ op: 'replace', path: 'title[', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 5, value: 'x' }, 'invalidPath'], ['x', 'invalidSyntax'],
    [{ op: 'replace', path: 'title', value: { a: 1 } }, 'invalidValue'],
    [{ op: 'replace', path: 'title', value: ['a', 'b'] }, 'invalidValue'],
    [{ op: 'replace', path: 'title', value: 5 }, 'invalidValue'],
    [{ op: 'replace', path: 'active', value: 'perhaps' }, 'invalidValue'],
    [{ op: 'remove', path: 'userName' }, 'mutability'],
    [{ op: 'replace', path: 'userName', value: null }, 'invalidValue'],
    [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'], [{ op: 'remove', path: 'meta.created' }, 'mutability'],
    [{ op: 'replace', path: 'phoneNumbers[value eq "999"].value', value: '2' }, 'noTarget'],
    [{ op: 'remove', path: 'title[value eq "Dr"]' }, 'invalidPath'],
    [{ op: 'replace', path: '__proto__.x', value: 1 }, 'invalidPath'],
    [{ op: 'replace', path: 'userName', value: 'no address' }, 'invalidValue']
  ] as const) {
    const answer = await ask('PATCH', path, patch(good, Object(bad)))
    t.match(answer, { status: 400, body: { scimType } }, JSON.stringify(bad))
  }
  for (const wrong of [{}, { Operations: 'x' }, []]) {
    t.match(await ask('PATCH', path, wrong), { status: 400, body: { scimType: 'invalidSyntax' } })
  }
  t.match(await ask('GET', path), { body: { title: 'Dr', meta: { version: '"1"' } } })
})

test('no name or value reaches a prototype', async (t) => {
  const { ask } = await served(t)
  const { body } = await ask('POST', '/Users', START)
  const path = `/Users/${String(body['id'])}`
  const before = Object.getOwnPropertyNames(Object.prototype)
  const hostile = ['__proto__', 'constructor', 'prototype', 'constructor.prototype', 'hasOwnProperty', 'toString.x']
  for (const name of hostile) {
    for (const body of [
      patch({ op: 'add', path: name, value: { polluted: true } }), patch({ op: 'add', path: `name.${name}`, value: 1 }),
      patch({ op: 'add', path: `phoneNumbers[${name} eq "x"].value`, value: 1 }),
      `{"Operations":[{"op":"add","value":{${JSON.stringify(name)}:{"polluted":true}}}]}`,
      `{"Operations":[{"op":"add","path":"name","value":{${JSON.stringify(name)}:{"polluted":true}}}]}`
    ]) {
      const { status } = await ask('PATCH', path, body)
      t.ok(status === 200 || status === 400, `${name}: ${status}`)
    }
    t.ok([200, 400].includes((await ask('GET', `/Users?attributes=${name}&filter=${name}%20eq%20%22x%22`)).status))
  }
  t.strictSame(Object.getOwnPropertyNames(Object.prototype), before)
  t.equal(Object({})['polluted'], undefined)
  t.match(await ask('GET', path), { body: { title: 'Dr', name: { givenName: 'Ann' } } })
})

test('each form of an operation on a group', async (t) => {
  const { ask } = await served(t)
  const ids: string[] = []
  for (let n = 0; n < 4; n++) {
    ids.push(String((await ask('POST', '/Users', { userName: `u${n}@example.org` })).body['id']))
  }
  const [a = '', b = '', c = '', d = ''] = ids
  const members = (...some: string[]) => some.map((value) => ({ value }))
  for (const [name, operations, expected] of [
    ['add', [{ op: 'add', path: 'members', value: members(c) }], [a, b, c]],
    ['add one as an object', [{ op: 'Add', path: 'members', value: { value: c } }], [a, b, c]],
    ['add without a path', [{ op: 'add', value: { members: members(c), displayName: 'New' } }], [a, b, c]],
    ['remove by a filter', [{ op: 'remove', path: `members[value eq "${a}"]` }], [b]],
    ['remove several', [{ op: 'remove', path: `members[value eq "${a}" or value eq "${b}"]` }], []],
    ['remove by values', [{ op: 'Remove', path: 'members', value: members(a) }], [b]],
    ['remove all', [{ op: 'remove', path: 'members' }], []],
    ['replace', [{ op: 'replace', path: 'members', value: members(c, d) }], [c, d]],
    ['replace without a path', [{ op: 'replace', value: { members: members(d) } }], [d]],
    ['in turn', [
      { op: 'replace', path: 'members', value: members(c) }, { op: 'add', path: 'members', value: members(d) },
      { op: 'remove', path: `members[value eq "${c}"]` }
    ], [d]],
    ['who is none is removed already', [{ op: 'remove', path: `members[value eq "${d}"]` }], [a, b]],
    ['who is one is added already', [{ op: 'add', path: 'members', value: members(a, a) }], [a, b]]
  ] as const) {
    const { body } = await ask('POST', '/Groups', { displayName: name, members: members(a, b) })
    const path = `/Groups/${String(body['id'])}`
    t.equal((await ask('PATCH', path, patch(...operations))).status, 204, name)
    const left: Array<{ value: string }> = Object((await ask('GET', path)).body['members'] ?? [])
    t.strictSame(left.map(({ value }) => value), expected, name)
    await ask('DELETE', path)
  }
  const { body } = await ask('POST', '/Groups', { displayName: 'G', members: members(a) })
  const path = `/Groups/${String(body['id'])}`
  for (const [operation, scimType] of [
    [{ op: 'add', path: 'members', value: members('usr_nobody', b) }, 'invalidValue'],
    [{ op: 'remove', path: 'displayName' }, 'mutability'],
    [{ op: 'replace', path: 'displayName', value: '' }, 'invalidValue'],
    [{ op: 'remove', path: 'members[display eq "x"]' }, 'invalidPath'],
    [{ op: 'remove', path: 'members.value' }, 'mutability'],
    [{ op: 'remove', path: `members[value eq "${a}"].type` }, 'mutability'],
    [{ op: 'replace', path: `members[value eq "${a}"]`, value: { value: b } }, 'mutability'],
    [{ op: 'add', path: `externalId[value eq "${b}"]`, value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'id', value: 'x' }, 'mutability']
  ] as const) {
    t.match(await ask('PATCH', path, patch({ op: 'add', path: 'members', value: members(c) }, operation)), {
      status: 400, body: { scimType }
    })
  }
  t.strictSame(Object((await ask('GET', path)).body['members']).length, 1, 'none by half')
  t.match(await ask('PUT', path, { members: [] }), { status: 400, body: { scimType: 'invalidValue' } })
})
