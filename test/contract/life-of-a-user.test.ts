// Contract §2: one user from its creation to its deletion, on every storage, and under every kind of prefix.
import { test } from 'tap'
import { inject, testApp } from '../helpers/app.ts'
import { active, ann, jsonHeaders, prefixes, UNKNOWN } from '../helpers/contract.ts'
import { stores } from '../helpers/stores.ts'

const USER_ID = /^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

// No storage knows the prefix.
const hosts = stores.flatMap((store, i) => (i === 0 ? prefixes : ['/v1']).map((pattern) => ({ store, pattern })))

for (const { store, pattern } of hosts) {
  test(`creates, reads, changes and deletes a user on ${store.name} under '${pattern}'`, async (t) => {
    const storage = await store.create(t)
    const { call, app, prefix, key } = await testApp(t, { storage, prefix: pattern })
    const created = await call('POST', '/users', { payload: { name: '  Ann\t', email: ' Ann@Example.org ' } })
    const user = created.json()
    const { location, etag } = created.headers
    t.strictSame([created.statusCode, location, etag], [201, `${prefix}/users/${user.id}`, '"1"'])
    t.match(user, {
      id: USER_ID,
      name: 'Ann',
      email: 'Ann@Example.org',
      ...active,
      version: 1,
      createdAt: TIME,
      updatedAt: user.createdAt
    })
    t.strictSame(Object.keys(user), [
      'id', 'name', 'email', 'status', 'statusReason', 'version', 'createdAt', 'updatedAt'
    ])
    const there = await inject(app, 'GET', String(location), { headers: { authorization: `Bearer ${key}` } })
    t.equal(there.body, created.body, 'Location leads to the user')

    for (const path of ['/users', `/users/${user.id}`, `/users/${UNKNOWN}`]) {
      const [get, head] = [await call('GET', path), await call('HEAD', path)]
      const { date: _a, ...getHeaders } = get.headers
      const { date: _b, ...headHeaders } = head.headers
      t.strictSame([head.statusCode, head.body, headHeaders], [get.statusCode, '', getHeaders],
        `HEAD ${path} is GET without the body`)
    }

    const changed = await call('PATCH', `/users/${user.id}`, {
      payload: { name: 'Anna' }, headers: { 'if-match': '"1"' }
    })
    t.strictSame([changed.statusCode, changed.headers.etag], [200, '"2"'])
    t.match(changed.json(), { ...user, name: 'Anna', version: 2, updatedAt: TIME })
    t.ok(changed.json().updatedAt >= user.updatedAt)
    const put = await call('PUT', `/users/${user.id}`, {
      payload: { ...Object(changed.json()), name: 'Ann', email: 'ANN@example.org' }
    })
    t.strictSame([put.statusCode, put.headers.etag, put.json().email], [200, '"3"', 'ANN@example.org'],
      'a user may change the case of its own address')

    const gone = await call('DELETE', `/users/${user.id}`, {
      headers: { ...jsonHeaders, 'if-match': '"3"' }, payload: '{}'
    })
    t.strictSame([gone.statusCode, gone.body, gone.headers['content-type']], [204, '', undefined])
    const twice = await call('DELETE', `/users/${user.id}`, { headers: jsonHeaders })
    t.equal(twice.statusCode, 404, 'deleted for good')
    const again = await call('POST', '/users', { payload: ann })
    t.equal(again.statusCode, 201, 'the address is free again')
    t.not(again.json().id, user.id)
  })
}
