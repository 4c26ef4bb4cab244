// app.users: in process what the routes do over HTTP, with the same rules, errors and order of checks.
import { test } from 'tap'
import type { UserInput, UserPatch } from '../lib/index.ts'
import { testApp } from './helpers/app.ts'
import { stores } from './helpers/stores.ts'

const UNKNOWN = 'usr_01h455vb4pex5vsknk084sn02q'
const UNKNOWN_KEY = 'key_01h455vb4pex5vsknk084sn02q'

// What a caller without types can pass.
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value))

for (const store of stores) {
  test(`users in process on ${store.name}`, async (t) => {
    const { app: { users }, call } = await testApp(t, { storage: await store.create(t), pageSize: { default: 2, max: 3 } })
    const ann = await users.create({ name: ' Ann ', email: 'Ann@example.org' })
    t.match(ann, { id: /^usr_/, name: 'Ann', email: 'Ann@example.org', version: 1, createdAt: ann.updatedAt })
    t.strictSame(await users.get(ann.id), ann)
    const { version, ...shown } = ann
    t.strictSame((await call('GET', `/users/${ann.id}`)).json(), shown, 'HTTP shows the same user')

    const wrong: UserInput = untyped({ name: 5, x: 1 })
    await t.rejects(users.create(wrong), { name: 'UsersError', code: 'validation_failed', statusCode: 400, errors: [{ pointer: '/email', code: 'required' }, { pointer: '/x', code: 'unknown' }, { pointer: '/name', code: 'type' }] })
    await t.rejects(users.create({ name: 'B', email: 'ANN@example.org' }), { code: 'email_taken', statusCode: 409, errors: [{ pointer: '/email', code: 'taken' }] })
    await t.rejects(users.get(UNKNOWN), { code: 'user_not_found', statusCode: 404 })
    await t.rejects(users.get(untyped(5)), { code: 'user_not_found' })

    t.match(await users.update(ann.id, { name: 'Anna' }, { ifMatch: 1 }), { name: 'Anna', version: 2 })
    t.match(await users.update(ann.id, { name: 'Anna' }, { ifMatch: [1, 2], ifNoneMatch: 7 }), { version: 2 }, 'no change, no new version')
    await t.rejects(users.update(ann.id, { name: 'X' }, { ifMatch: 1 }), { code: 'precondition_failed', statusCode: 412 })
    await t.rejects(users.update(ann.id, { name: 'X' }, { ifNoneMatch: '*' }), { code: 'precondition_failed' })
    await t.rejects(users.update(ann.id, { name: 'X' }, { ifNoneMatch: [2, 3] }), { code: 'precondition_failed' })
    await t.rejects(users.update(UNKNOWN, { name: 'X' }, { ifMatch: '*' }), { code: 'user_not_found' })
    const nothing: UserPatch = untyped({ name: null })
    await t.rejects(users.update(UNKNOWN, nothing), { code: 'validation_failed' }, 'validation comes before existence')

    await t.rejects(users.create({ name: 'B', email: 'b@b.co' }, untyped({ idempotencykey: 'x' })), { code: 'validation_failed', errors: [{ parameter: 'idempotencykey', code: 'unknown' }] })
    await t.rejects(users.update(ann.id, { name: 'X' }, untyped('"2"')), { code: 'validation_failed' })
    t.equal((await users.update(ann.id, {}, untyped(null))).version, 2, 'null is no options')
    t.equal((await users.iterate(untyped(null)).next()).value?.id, ann.id)
    const others = []
    for (const n of [1, 2, 3, 4, 5, 6]) others.push(await users.create({ name: `User ${n}`, email: `${n}@example.org` }))
    t.match(await users.list(), { data: [{ id: ann.id }, { id: others[0]?.id }], meta: { page: 1, limit: 2, total: 7 } })
    t.match(await users.list({ page: 2, limit: 3, sort: '-createdAt' }), { data: [{ id: others[2]?.id }, {}, {}], meta: { page: 2, limit: 3, total: 7 } })
    t.strictSame((await users.list({ after: ann.id, limit: 1 })).meta, { limit: 1, total: 7 })
    t.equal((await users.list({ q: 'user' })).meta.total, 6)
    await t.rejects(users.list({ limit: 4 }), { code: 'validation_failed', errors: [{ parameter: 'limit', code: 'range' }] })
    await t.rejects(users.list(untyped({ page: '1' })), { code: 'validation_failed', errors: [{ parameter: 'page', code: 'range' }] }, 'a number is a number')
    await t.rejects(users.list(untyped({ email: 5, q: 5, sort: 1, after: 1, x: 1 })), { errors: [{ parameter: 'x' }, { parameter: 'sort' }, { parameter: 'after' }, { parameter: 'email', code: 'type' }, { parameter: 'q' }] })

    const everyone = [ann.id, ...others.map(({ id }) => id)]
    const met = []
    for await (const { id } of users) met.push(id)
    t.strictSame(met, everyone)
    const back = []
    for await (const { id } of users.iterate({ sort: '-createdAt', q: 'user' })) back.push(id)
    t.strictSame(back, everyone.slice(1).reverse())
    const walk = users.iterate()
    t.equal((await walk.next()).value?.id, ann.id)
    t.strictSame(await walk.return(), { done: true, value: undefined }, 'a walk may stop anywhere')
    await t.rejects(users.iterate({ q: 'x' }).next(), { code: 'validation_failed' })
    await t.rejects(users.iterate(untyped({ page: 2, filter: 'x' })).next(), { code: 'validation_failed', errors: [{ parameter: 'page', code: 'unknown' }, { parameter: 'filter', code: 'unknown' }] })

    for (const options of [{ ifMatch: '"2"' }, { ifMatch: 1.5 }, { ifMatch: null }, { ifMatch: [0] }, { ifMatch: ['2'] }, { ifNoneMatch: {} }]) {
      await t.rejects(users.update(ann.id, { name: 'X' }, untyped(options)), { code: 'validation_failed', errors: [{ parameter: Object.keys(options)[0], code: 'type' }] }, JSON.stringify(options))
      await t.rejects(users.delete(ann.id, untyped(options)), { code: 'validation_failed' })
    }
    await t.rejects(users.update(ann.id, { name: 'X' }, { ifMatch: NaN }), { code: 'validation_failed' })
    await t.rejects(users.update(ann.id, { name: 5, ...untyped({}) }, untyped({ ifmatch: 7 })), { errors: [{ parameter: 'ifmatch', code: 'unknown' }, { pointer: '/name', code: 'type' }] }, 'a slip is not ignored')
    t.equal((await users.get(ann.id)).version, 2)
    await t.rejects(users.delete(ann.id, { ifMatch: 9 }), { code: 'precondition_failed' })
    t.equal(await users.delete(ann.id, { ifMatch: 2 }), undefined)
    await t.rejects(users.delete(ann.id), { code: 'user_not_found' })
    await t.rejects(users.delete('x'), { code: 'user_not_found' })
  })

  test(`API keys in process on ${store.name}`, async (t) => {
    const { app: { users: { apiKeys } } } = await testApp(t, { storage: await store.create(t) })
    const made = await apiKeys.create({ name: ' Deploy ' })
    const { key, ...record } = made
    t.match(made, { id: /^key_/, name: 'Deploy', scopes: ['users:read', 'users:write', 'users:delete'], start: /^uk_[0-9A-Za-z]{12}$/, key: /^uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/ })
    t.ok(key.startsWith(made.start))
    t.equal(Date.parse(made.expiresAt ?? '') - Date.parse(made.createdAt), 365 * 24 * 3600 * 1000, 'a year by default')
    t.strictSame(await apiKeys.get(made.id), record, 'the text is shown once')
    t.notMatch(JSON.stringify(await apiKeys.list()), key.slice(16))

    t.equal('expiresAt' in await apiKeys.create({ name: 'ever', expiresAt: null }), false)
    t.equal((await apiKeys.create({ name: 'then', expiresAt: '2999-01-01T01:00:00+01:00' })).expiresAt, '2999-01-01T00:00:00.000Z')
    const short = await apiKeys.create({ name: 'short', scopes: ['keys:read', 'keys:read'], expiresIn: 90 })
    t.strictSame(short.scopes, ['keys:read'])
    t.equal(Date.parse(short.expiresAt ?? '') - Date.parse(short.createdAt), 90_000)

    const faults = async (input: object) => {
      try {
        await apiKeys.create(untyped(input))
        return []
      } catch (error) {
        return Object(error).errors.map(({ pointer, code }: { pointer: string, code: string }) => `${pointer} ${code}`)
      }
    }
    t.strictSame(await faults({}), ['/name required'])
    t.strictSame(await faults({ name: 5, scopes: 'x', expiresIn: '1', expiresAt: 5, other: 1 }), ['/other unknown', '/name type', '/scopes type', '/expiresAt invalid', '/expiresIn type'])
    t.strictSame(await faults({ name: ' ', scopes: ['users:read', 'admin'], expiresIn: 0 }), ['/name too_short', '/scopes/1 choice', '/expiresIn range'])
    t.strictSame(await faults({ name: 'x', scopes: [], expiresAt: '2000-01-01T00:00:00Z' }), ['/scopes too_short', '/expiresAt past'])
    for (const expiresAt of ['tomorrow', '2999-01-01', '2999-13-01T00:00:00Z', '2999-02-30T00:00:00Z', '2999-00-10T00:00:00Z', '2999-01-01T00:00:00', '']) t.strictSame(await faults({ name: 'x', expiresAt }), ['/expiresAt format'])
    for (const expiresIn of [1.5, -1, 1e15]) t.strictSame(await faults({ name: 'x', expiresIn }), ['/expiresIn range'])
    t.strictSame(await faults({ name: 'x', expiresAt: null, expiresIn: 5 }), ['/expiresIn exclusive'])

    t.strictSame((await apiKeys.list({ page: 2, limit: 2 })).meta, { page: 2, limit: 2, total: 5 })
    await t.rejects(apiKeys.list({ limit: 0 }), { code: 'validation_failed' })
    await t.rejects(apiKeys.list(untyped({ sort: 'name', q: 'ab' })), { errors: [{ parameter: 'q', code: 'unknown' }, { parameter: 'sort', code: 'choice' }] })
    const all = (await apiKeys.list()).data
    t.strictSame(await apiKeys.list({ sort: '-createdAt', after: all[2]?.id ?? '', limit: 1 }), { data: [all[1]], meta: { limit: 1, total: 5 } })
    t.equal((await apiKeys.list(untyped({}))).meta.page, 1)
    await t.rejects(apiKeys.get(UNKNOWN_KEY), { code: 'api_key_not_found', statusCode: 404 })
    await t.rejects(apiKeys.get('x'), { code: 'api_key_not_found' })

    const next = await apiKeys.rotate(short.id, { overlap: 60 })
    t.match(next, { name: 'short', scopes: ['keys:read'], rotatedFrom: short.id, key: /^uk_/ })
    t.equal(Date.parse(next.expiresAt ?? '') - Date.parse(next.createdAt), 90_000, 'the successor lives as long')
    t.ok(Date.parse((await apiKeys.get(short.id)).expiresAt ?? '') <= Date.parse(next.createdAt) + 60_000)
    const ever = (await apiKeys.list()).data.find(({ name }) => name === 'ever')
    const successor = await apiKeys.rotate(ever?.id ?? '')
    t.equal('expiresAt' in successor, false, 'or for ever')
    t.equal(Date.parse((await apiKeys.get(ever?.id ?? '')).expiresAt ?? '') - Date.parse(successor.createdAt), 24 * 3600 * 1000, 'a day of overlap by default')
    const again = await apiKeys.rotate((await apiKeys.rotate(successor.id, { overlap: 60 })).id, { overlap: 60 })
    t.equal('expiresAt' in again, false, 'what a rotation shortened is not passed on')
    const year = await apiKeys.create({ name: 'year' })
    await apiKeys.rotate(year.id, { overlap: 60 })
    const second = await apiKeys.rotate(year.id, { overlap: 60 })
    t.equal(Date.parse(second.expiresAt ?? '') - Date.parse(second.createdAt), 365 * 24 * 3600 * 1000)
    const last = await apiKeys.create({ name: 'last', expiresAt: '9999-12-31T23:59:59.999Z' })
    t.equal((await apiKeys.rotate(last.id)).expiresAt, '9999-12-31T23:59:59.999Z')
    for (const overlap of [-1, 1.5, 604_801]) await t.rejects(apiKeys.rotate(made.id, { overlap }), { code: 'validation_failed', errors: [{ pointer: '/overlap', code: 'range' }] })
    await t.rejects(apiKeys.rotate(made.id, untyped({ overlap: 'x', y: 1 })), { errors: [{ pointer: '/y' }, { pointer: '/overlap', code: 'type' }] })
    await t.rejects(apiKeys.rotate(UNKNOWN_KEY), { code: 'api_key_not_found' })

    const revoked = await apiKeys.revoke(made.id)
    t.match(revoked, { id: made.id, revokedAt: /Z$/ })
    t.strictSame(await apiKeys.revoke(made.id), revoked, 'twice is once')
    await t.rejects(apiKeys.rotate(made.id), { code: 'api_key_inactive', statusCode: 409 })
    await t.rejects(apiKeys.revoke(UNKNOWN_KEY), { code: 'api_key_not_found' })
    await t.rejects(apiKeys.revoke('x'), { code: 'api_key_not_found' })
  })

  test(`requireIfMatch on ${store.name}`, async (t) => {
    const { app: { users }, call } = await testApp(t, { storage: await store.create(t), requireIfMatch: true })
    const { id } = await users.create({ name: 'A', email: 'a@b.co' })
    for (const [method, payload] of [['PATCH', {}], ['PUT', { name: 'A', email: 'a@b.co' }], ['DELETE', undefined]] as const) {
      const options = payload === undefined ? {} : { payload }
      const without = await call(method, `/users/${id}`, options)
      t.match([without.statusCode, without.json()], [428, { code: 'precondition_required', errors: [{ header: 'if-match', code: 'required' }] }])
      t.equal((await call(method, `/users/${UNKNOWN}`, options)).statusCode, 404, 'existence comes before')
      t.equal((await call(method, `/users/${id}`, { ...options, headers: { 'if-none-match': '"7"' } })).statusCode, 428)
      t.equal((await call(method, `/users/${id}`, { ...options, headers: { 'if-match': '"7"' } })).statusCode, 412)
    }
    t.equal((await call('PATCH', `/users/${id}`, { payload: { x: 1 } })).statusCode, 400, 'validation comes before')
    await t.rejects(users.update(id, { name: 'B' }), { code: 'precondition_required', statusCode: 428 })
    await t.rejects(users.delete(id), { code: 'precondition_required' })
    await users.update(id, { name: 'B' }, { ifMatch: '*' })
    t.equal((await call('DELETE', `/users/${id}`, { headers: { 'if-match': '"2"' } })).statusCode, 204)
  })
}
