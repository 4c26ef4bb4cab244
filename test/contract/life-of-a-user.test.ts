// Contract §2: one user from its creation to its deletion, on every storage under every kind of prefix.
import { test } from 'tap'
import { inject, testApp } from '../helpers/app.ts'
import { active, ann, bob, jsonHeaders, prefixes, UNKNOWN } from '../helpers/contract.ts'
import { stores } from '../helpers/stores.ts'

const USER_ID = /^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

for (const store of stores) {
  for (const pattern of prefixes) {
    test(`creates, reads, changes and deletes a user on ${store.name} under '${pattern}'`, async (t) => {
      const storage = await store.create(t)
      const { call: request, app, prefix, key } = await testApp(t, { storage, prefix: pattern })

      const created = await request('POST', '/users', { payload: { name: '  Ann\t', email: ' Ann@Example.org ' } })
      const user = created.json()
      t.equal(created.statusCode, 201)
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
      t.equal(created.headers.location, `${prefix}/users/${user.id}`)
      t.equal(created.headers.etag, '"1"')
      t.equal(
        (
          await inject(app, 'GET', String(created.headers.location), {
            headers: { authorization: `Bearer ${key}` }
          })
        ).body,
        created.body,
        'Location leads to the user'
      )

      for (const path of ['/users', `/users/${user.id}`, `/users/${UNKNOWN}`]) {
        const [get, head] = [await request('GET', path), await request('HEAD', path)]
        const { date: _a, ...getHeaders } = get.headers
        const { date: _b, ...headHeaders } = head.headers
        t.strictSame(
          [head.statusCode, head.body, headHeaders],
          [get.statusCode, '', getHeaders],
          `HEAD ${path} is GET without the body`
        )
      }

      const changed = await request('PATCH', `/users/${user.id}`, {
        payload: { name: 'Anna' },
        headers: { 'if-match': '"1"' }
      })
      t.equal(changed.statusCode, 200)
      t.equal(changed.headers.etag, '"2"')
      t.match(changed.json(), { ...user, name: 'Anna', version: 2, updatedAt: TIME })
      t.ok(changed.json().updatedAt >= user.updatedAt)
      const put = await request('PUT', `/users/${user.id}`, {
        payload: { ...Object(changed.json()), name: 'Ann', email: 'ANN@example.org' }
      })
      t.strictSame(
        [put.statusCode, put.headers.etag, put.json().email],
        [200, '"3"', 'ANN@example.org'],
        'a user may change the case of its own address'
      )
      await request('POST', '/users', { payload: bob })
      t.equal(
        (await request('PATCH', `/users/${user.id}`, { payload: { email: 'BOB@EXAMPLE.ORG' } })).json().code,
        'email_taken'
      )

      const gone = await request('DELETE', `/users/${user.id}`, {
        headers: { ...jsonHeaders, 'if-match': '"3"' },
        payload: '{}'
      })
      t.strictSame([gone.statusCode, gone.body, gone.headers['content-type']], [204, '', undefined])
      t.equal(
        (await request('DELETE', `/users/${user.id}`, { headers: jsonHeaders })).statusCode,
        404,
        'deleted for good'
      )
      const again = await request('POST', '/users', { payload: ann })
      t.equal(again.statusCode, 201, 'the address is free again')
      t.not(again.json().id, user.id)
    })
  }
}
