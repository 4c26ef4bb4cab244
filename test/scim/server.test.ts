// The server beyond what one provider sends: errors, discovery, lists, attributes, versions, bulk and tenants.
import { test } from 'tap'
import { ENTERPRISE, ERROR, GROUP, patch, served, USER, where } from './served.ts'

const made = (n: number) => ({ userName: `user${n}@example.org`, displayName: `User ${n}` })

test('every error has the shape of SCIM', async (t) => {
  const { app, ask, anonymous, asKey } = await served(t, {
    limits: { failures: { max: 100, window: 60 } }
  }, { requests: { max: 40, window: 60 } })
  const { key } = await app.users.apiKeys.create({ name: 'reader', scopes: ['users:read', 'scim:groups'] })
  const other = asKey(key)
  const errors = [
    [await anonymous('GET', '/Users'), 401, undefined],
    [await asKey('uk_wrong')('GET', '/Users'), 401, undefined],
    [await other('GET', '/Users'), 403, undefined],
    [await ask('GET', '/Users/x'), 404, undefined],
    [await ask('GET', '/Nothing'), 404, undefined],
    [await ask('PATCH', '/Users', patch()), 405, undefined],
    [await ask('POST', '/Users', '{', {}), 400, 'invalidSyntax'],
    [await ask('POST', '/Users', '[]'), 400, 'invalidSyntax'],
    [await ask('POST', '/Users', {}), 400, 'invalidValue'],
    [await ask('POST', '/Users', { userName: 'no address' }), 400, 'invalidValue'],
    [await ask('POST', '/Users', 'x=1', { 'content-type': 'text/plain' }), 415, undefined],
    [await ask('POST', '/Groups', { displayName: 'x'.repeat(2 ** 20) }), 413, undefined],
    [await ask('GET', where('/Users', { filter: 'userName eq bob' })), 400, 'invalidFilter'],
    [await ask('GET', where('/Users', { filter: 'displayName co "a"' })), 400, 'invalidFilter'],
    [await ask('GET', where('/Users', { filter: 'userName ne "a@example.org"' })), 400, 'invalidFilter'],
    [await ask('GET', '/Users?cursor=x'), 400, 'invalidCursor'],
    [await ask('GET', '/Users?count=many'), 400, 'invalidValue'],
    [await ask('GET', where('/Groups', { filter: 'displayName sw "a"' })), 400, 'invalidFilter'],
    [await ask('POST', '/Bulk', {}), 400, 'invalidSyntax'],
    [await ask('GET', '/Me'), 501, undefined],
    [await ask('GET', where('/Schemas', { filter: 'id pr' })), 403, undefined]
  ] as const
  for (const [{ status, headers, body }, expected, scimType] of errors) {
    t.strictSame([status, body['scimType'], body['schemas'], body['status'], typeof body['detail']],
      [expected, scimType, [ERROR], String(expected), 'string'], JSON.stringify(body))
    t.equal(headers['content-type'], 'application/scim+json; charset=utf-8')
  }
  t.match(errors[0][0].headers['www-authenticate'], 'Bearer')
  let last = errors[0][0]
  for (let i = 0; i < 45; i++) last = await ask('GET', '/Users')
  t.match(last, { status: 429, body: { status: '429', schemas: [ERROR] } })
  t.ok(last.headers['retry-after'])
  t.equal((await app.users.list()).meta.total, 0)
})

test('discovery says what there is, with a key or, if the host says so, without', async (t) => {
  for (const openDiscovery of [false, true]) {
    const { ask, anonymous } = await served(t, {}, { openDiscovery })
    for (const path of [
      '/ServiceProviderConfig', '/ResourceTypes', '/Schemas', '/ResourceTypes/User', `/Schemas/${USER}`
    ]) {
      t.equal((await anonymous('GET', path)).status, openDiscovery ? 200 : 401, path)
      t.equal((await ask('GET', path)).status, 200)
    }
    t.equal((await anonymous('GET', '/Users')).status, 401)
    t.equal((await ask('GET', '/Schemas/x')).status, 404)
    const { body } = await ask('GET', '/Schemas')
    t.strictSame(Object(body['Resources']).map(({ id }: { id: string }) => id), [USER, ENTERPRISE, GROUP])
    const [own, , group] = Object(body['Resources'])
    const named = (list: Array<{ name: string }>, name: string) => list.find((each) => each.name === name)
    t.match(named(own.attributes, 'userName'), { required: true, caseExact: false, uniqueness: 'server' })
    t.match(named(own.attributes, 'emails'), { mutability: 'readOnly', multiValued: true })
    t.match(named(own.attributes, 'userType'), { type: 'boolean', mutability: 'readWrite' })
    t.match(named(own.attributes, 'title'), { type: 'string', caseExact: true, required: false })
    const phone = Object(named(own.attributes, 'phoneNumbers')).subAttributes
    t.match(named(phone, 'type'), { canonicalValues: ['work'] })
    t.match(named(phone, 'primary'), { mutability: 'readOnly' })
    const members = Object(named(group.attributes, 'members')).subAttributes
    t.match(named(members, '$ref'), { type: 'reference', referenceTypes: ['User'] })
    const config = (await ask('GET', '/ServiceProviderConfig')).body
    t.match(config, {
      patch: { supported: true },
      bulk: { supported: true, maxOperations: 1000, maxPayloadSize: 1048576 },
      etag: { supported: true },
      sort: { supported: true },
      pagination: { cursor: true, index: true }
    })
  }
  const { ask } = await served(t, { groups: false })
  t.equal((await ask('GET', '/Groups')).status, 404)
  t.match((await ask('GET', '/ResourceTypes')).body, { totalResults: 1 })
})

test('lists have exact totals, by index and by cursor, in an order and with a filter', async (t) => {
  const { app, ask } = await served(t)
  for (let n = 0; n < 7; n++) {
    const department = n % 2 === 0 ? 'Tours' : 'Sales'
    await ask('POST', '/Users', { ...made(n), externalId: `e${n}`, [ENTERPRISE]: { department } })
  }
  const list = async (query: Record<string, string>) => {
    const { body } = await ask('GET', where('/Users', query))
    const names = Object(body['Resources']).map(({ userName }: { userName: string }) => Number(userName[4]))
    return { ...Object(body), names }
  }
  t.match(await list({}), { totalResults: 7, itemsPerPage: 7, startIndex: 1, names: [0, 1, 2, 3, 4, 5, 6] })
  t.match(await list({ startIndex: '3', count: '2' }), {
    totalResults: 7, itemsPerPage: 2, startIndex: 3, names: [2, 3]
  })
  t.match(await list({ startIndex: '0', count: '-1' }), { totalResults: 7, itemsPerPage: 0, names: [] })
  t.match(await list({ sortBy: 'userName', sortOrder: 'descending', count: '2' }), { names: [6, 5] })
  for (const [filter, names] of [
    [`${ENTERPRISE}:department eq "Tours"`, [0, 2, 4, 6]],
    [`${ENTERPRISE}:department sw "Sa"`, [1, 3, 5]],
    [`${ENTERPRISE}:department pr and userName eq "user2@example.org"`, [2]],
    ['userName eq "user2@example.org" or userName eq "user3@example.org"', [2, 3]],
    ['externalId eq "e4" and active eq true', [4]], ['externalId eq "e4" and active eq false', []],
    ['meta.created gt "2020-01-01T00:00:00Z" and emails.value eq "user6@example.org"', [6]],
    ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
    ['emails[type eq "work" and value eq "user1@example.org"]', [1]],
    ['emails[primary eq true].value eq "user1@example.org"', [1]]
  ] as const) {
    const found = await list({ filter })
    t.strictSame([found.names, found['totalResults']], [names, names.length], filter)
  }
  // By cursor each comes once, though users come and go meanwhile.
  const walked: number[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { names, nextCursor, totalResults }: Record<string, never> = Object(await list({ cursor, count: '3' }))
    walked.push(...Object(names))
    t.equal(totalResults, 7)
    cursor = nextCursor
    if (walked.length === 3) {
      await app.users.delete((await app.users.list({ email: 'user0@example.org' })).data[0]?.id ?? '')
      await ask('POST', '/Users', made(7))
    }
  }
  t.strictSame(walked, [0, 1, 2, 3, 4, 5, 6, 7])
  const everything = await ask('POST', '/Groups', { displayName: 'G' })
  const both = async (asked: object) => {
    const { status, body } = await ask('POST', '/.search', asked)
    const found: Array<{ id: string }> = Object(body['Resources'] ?? [])
    return [status, body['totalResults'], found.map(({ id }) => id.slice(0, 3))]
  }
  t.equal(everything.status, 201)
  t.strictSame(await both({ startIndex: 6, count: 5 }), [200, 8, ['usr', 'usr', 'grp']])
  t.strictSame(await both({ filter: 'displayName eq "g"', count: null, attributes: [] }), [200, 1, ['grp']])
  t.strictSame(await both({ filter: 'userName pr', count: 1 }), [200, 7, ['usr']])
  t.equal((await both({ filter: 'nickName pr' }))[0], 400)
  t.match(await list({ sortBy: 'title' }), { totalResults: 7 }, 'an order that there is none for is ignored')
  for (const [value, total] of [['true', 7], ['"True"', 7], ['"false"', 0]] as const) {
    t.match(await list({ filter: `active eq ${value}` }), { totalResults: total }, value)
  }
  for (const value of ['null', '1', '"x"']) {
    t.equal((await ask('GET', where('/Users', { filter: `active eq ${value}` }))).status, 400, value)
  }
  const search = await ask('POST', '/Users/.search', { filter: 'userName eq "user3@example.org"', count: 1 })
  t.match(search, { status: 200, body: { totalResults: 1, Resources: [{ userName: 'user3@example.org' }] } })
})

test('attributes are chosen and left out', async (t) => {
  const { ask } = await served(t)
  const { body: { id } } = await ask('POST', '/Users', {
    ...made(1), title: 'Dr', name: { givenName: 'U', familyName: 'One' }, [ENTERPRISE]: { department: 'Tours' }
  })
  const keys = async (query: string) => Object.keys((await ask('GET', `/Users/${String(id)}?${query}`)).body)
  t.strictSame(await keys('attributes=userName'), ['schemas', 'id', 'userName'])
  t.strictSame(await keys(`attributes=${USER}:username,meta`), ['schemas', 'id', 'userName', 'meta'])
  const { body: named } = await ask('GET', `/Users/${String(id)}?attributes=name.familyName`)
  t.strictSame(named['name'], { familyName: 'One' })
  t.strictSame((await ask('GET', `/Users/${String(id)}?attributes=${ENTERPRISE}:department`)).body[ENTERPRISE],
    { department: 'Tours' })
  t.strictSame(await keys(`attributes=${ENTERPRISE}`), ['schemas', 'id', ENTERPRISE])
  t.notOk((await keys(`excludedAttributes=${ENTERPRISE}`)).includes(ENTERPRISE))
  t.strictSame(await keys('attributes=urn:x:y:title'), ['schemas', 'id'], 'of another schema')
  const without = await keys('excludedAttributes=emails,id,title,name.givenName')
  t.strictSame(without, ['schemas', 'id', 'userName', 'name', 'displayName', 'active', ENTERPRISE, 'meta'])
})

test('a version is judged in the write', async (t) => {
  const { ask } = await served(t)
  const { body: { id } } = await ask('POST', '/Users', made(1))
  const path = `/Users/${String(id)}`
  const rename = patch({ op: 'replace', path: 'displayName', value: 'New' })
  t.equal((await ask('PATCH', path, rename, { 'if-match': '"2"' })).status, 412)
  t.match(await ask('PATCH', path, rename, { 'if-match': '"1"' }), { status: 200, headers: { etag: '"2"' } })
  t.equal((await ask('GET', path, undefined, { 'if-none-match': '"2"' })).status, 304)
  t.equal((await ask('PUT', path, made(1), { 'if-match': '"1"' })).status, 412)
  t.equal((await ask('DELETE', path, undefined, { 'if-match': '"1"' })).status, 412)
  const group = (await ask('POST', '/Groups', { displayName: 'G' })).body
  const at = `/Groups/${String(group['id'])}`
  const joined = await ask('PATCH', at, patch({ op: 'add', path: 'members', value: [{ value: id }] }))
  t.equal(joined.headers['etag'], '"2"')
  t.equal((await ask('PATCH', at, patch({ op: 'remove', path: 'members' }), { 'if-match': '"1"' })).status, 412)
  t.equal((await ask('GET', at)).body['members']?.['length'], 1)
})

test('operations of a bulk request are made in turn, and refer to each other', async (t) => {
  const { app, ask, asKey } = await served(t)
  const operations = [
    { method: 'POST', path: '/Users', bulkId: 'a', data: made(1) },
    { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'G', members: [{ value: 'bulkId:a' }] } },
    { method: 'PATCH', path: '/Users/bulkId:a', data: patch({ op: 'replace', path: 'active', value: false }) },
    { method: 'POST', path: '/Users', bulkId: 'b', data: made(1) },
    { method: 'DELETE', path: '/Groups/bulkId:g', version: '"9"' },
    { method: 'POST', path: '/Users', data: made(2) },
    { method: 'DELETE', path: '/Users/x' }
  ]
  const { status, body } = await ask('POST', '/Bulk', { Operations: operations })
  t.equal(status, 200)
  t.match(body['Operations'], [
    { method: 'POST', bulkId: 'a', status: '201', version: '"1"' }, { bulkId: 'g', status: '201' }, { status: '200' },
    { bulkId: 'b', status: '409', response: { scimType: 'uniqueness' } }, { status: '412' },
    { status: '400', response: { scimType: 'invalidSyntax' } },
    { status: '404', location: 'http://example.org/scim/v2/Users/x' }
  ])
  t.match((await app.users.list()).data, [{ status: 'suspended' }])
  t.equal((await app.users.groups.list()).data[0]?.members, 1)
  const ended = await ask('POST', '/Bulk', { failOnErrors: 1, Operations: [operations[6], operations[5]] })
  t.equal(ended.body['Operations']?.['length'], 1)
  const tooMany = await ask('POST', '/Bulk', { Operations: Array(1001).fill(operations[6]) })
  t.match([tooMany.status, tooMany.body['detail']], [413, /1000/])
  const { key } = await app.users.apiKeys.create({ name: 'half', scopes: ['scim:groups'] })
  const half = await asKey(key)('POST', '/Bulk', { Operations: [operations[0]] })
  t.match(half.body['Operations'], [{ status: '403' }])
})

test('each tenant has its provider, and a path with a tenant only confirms', async (t) => {
  const { app, asKey } = await served(t, { tenants: true }, { prefix: '/:tenant/scim' })
  const clients = await Promise.all(['acme', 'beta'].map(async (tenant) => {
    const { key } = await app.users.tenant(tenant).apiKeys.create({ name: 'p', scopes: ['scim:users', 'scim:groups'] })
    return { own: asKey(key, `/${tenant}/scim`), foreign: asKey(key, `/${tenant === 'acme' ? 'beta' : 'acme'}/scim`) }
  }))
  const [acme, beta] = clients
  if (acme === undefined || beta === undefined) throw new Error('no clients')
  const { body: { id } } = await acme.own('POST', '/Users', made(1))
  t.equal((await beta.own('POST', '/Users', made(1))).status, 201)
  t.match((await app.users.list()).data.map(({ tenant }) => tenant), ['acme', 'beta'])
  for (const [method, path, body] of [
    ['GET', `/Users/${String(id)}`], ['PATCH', `/Users/${String(id)}`, patch()], ['DELETE', `/Users/${String(id)}`]
  ] as const) t.equal((await beta.own(method, path, body)).status, 404, method)
  t.match((await beta.own('POST', '/Groups', { displayName: 'G', members: [{ value: id }] })), {
    status: 400, body: { scimType: 'invalidValue' }
  })
  t.equal((await acme.foreign('GET', '/Users')).status, 404)
  t.equal((await beta.own('GET', '/Users')).body['totalResults'], 1)
})
