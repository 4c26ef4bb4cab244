// requireIfMatch: no change without a condition.
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { stores } from '../helpers/stores.ts'

const UNKNOWN = 'usr_01h455vb4pex5vsknk084sn02q'

for (const store of stores) {
  test(`requireIfMatch refuses changes without If-Match, over HTTP and in process, on ${store.name}`, async (t) => {
    const {
      app: { users },
      call
    } = await testApp(t, { storage: await store.create(t), requireIfMatch: true })
    const { id } = await users.create({ name: 'A', email: 'a@b.co' })
    for (const [method, payload] of [
      ['PATCH', {}],
      ['PUT', { name: 'A', email: 'a@b.co' }],
      ['DELETE', undefined]
    ] as const) {
      const options = payload === undefined ? {} : { payload }
      const without = await call(method, `/users/${id}`, options)
      t.match(
        [without.statusCode, without.json()],
        [428, { code: 'precondition_required', errors: [{ header: 'if-match', code: 'required' }] }]
      )
      t.equal((await call(method, `/users/${UNKNOWN}`, options)).statusCode, 404, 'existence comes before')
      t.equal(
        (await call(method, `/users/${id}`, { ...options, headers: { 'if-none-match': '"7"' } })).statusCode,
        428
      )
      t.equal((await call(method, `/users/${id}`, { ...options, headers: { 'if-match': '"7"' } })).statusCode, 412)
    }
    t.equal((await call('PATCH', `/users/${id}`, { payload: { x: 1 } })).statusCode, 400, 'validation comes before')
    await t.rejects(users.update(id, { name: 'B' }), { code: 'precondition_required', statusCode: 428 })
    await t.rejects(users.delete(id), { code: 'precondition_required' })
    await users.update(id, { name: 'B' }, { ifMatch: '*' })
    t.equal((await call('DELETE', `/users/${id}`, { headers: { 'if-match': '"2"' } })).statusCode, 204)
  })
}
