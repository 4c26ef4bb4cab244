// Contract §17: what one event of a user's history changed is set back.
import { Type } from '@sinclair/typebox'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { testApp, type TestAppOptions } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'

const NOBODY = 'evt_01h455vb4pex5vsknk084sn02q'
const text = Type.Optional(Type.String())
const fields = {
  schema: Type.Object({
    plan: text,
    seats: Type.Optional(Type.Integer()),
    address: Type.Optional(Type.Object({ city: Type.String(), zip: text })),
    'a/b~': text
  })
}

/** A host, and short ways to change users and to revert that. */
async function host (t: Test, options: TestAppOptions = {}) {
  const { app, call } = await testApp(t, { eventLog: true, fields, ...options })
  const latest = async (id: string): Promise<string> =>
    (await call('GET', `/users/${id}/events?limit=1`)).json().data[0].id
  /** Patches a user, and returns the event. */
  const patch = async (id: string, payload: object) => {
    const { statusCode } = await call('PATCH', `/users/${id}`, { payload })
    t.equal(statusCode, 200)
    return latest(id)
  }
  const create = async (email: string, more: object = {}): Promise<string> =>
    (await call('POST', '/users', { payload: { name: 'Ann', email, ...more } })).json().id
  const revert = async (id: string, event: unknown, headers: object = {}) => {
    const { statusCode, json, headers: { etag } } = await call('POST', `/users/${id}/revert`, {
      payload: { event }, headers: { ...headers }
    })
    const body = json()
    const faults = body.errors?.map((each: object) => Object.values(each).slice(0, 2).join(' '))
    return statusCode === 200 ? { etag, ...body } : [statusCode, body.code, ...faults ?? []]
  }
  return { app, call, latest, patch, create, revert }
}

test('a reversal sets back what the event changed, and nothing else', async (t) => {
  const { app, latest, patch, create, revert } = await host(t)
  const id = await create('ann@example.org', { plan: 'free', address: { city: 'Oslo', zip: '1' } })
  const renamed = await patch(id, { name: 'Anna', email: 'anna@example.org' })
  const moved = await patch(id, { plan: null, seats: 3, address: { city: 'Rome' }, 'a/b~': 'x' })
  const suspended = await patch(id, { status: 'suspended', statusReason: 'late', plan: 'pro' })

  t.match(await revert(id, renamed), {
    name: 'Ann', email: 'ann@example.org', status: 'suspended', plan: 'pro', seats: 3, etag: '"5"'
  }, 'later changes of other members stay')
  t.strictSame(await revert(id, moved), [409, 'revert_conflict', '/plan changed'], 'one has changed since')
  await patch(id, { plan: null })
  const back = await revert(id, moved)
  t.match(back, { plan: 'free', address: { city: 'Oslo', zip: '1' }, etag: '"7"' })
  t.notOk('seats' in back || 'a/b~' in back, 'what was added is removed')
  t.strictSame(await revert(id, moved), [
    409, 'revert_conflict', '/address changed', '/plan changed', '/a~1b~0 changed', '/seats changed'
  ], 'it is reverted')

  // The later event of the change has the status alone.
  const heard: unknown[] = []
  app.users.events.on('user.activated', ({ reverts }) => { heard.push(reverts) })
  t.match(await revert(id, suspended), { status: 'active', statusReason: null, plan: 'free', etag: '"8"' })
  t.equal(await app.users.isActive(id), true)
  const { data: [last] } = await app.users.events.ofUser(id, { limit: 1 })
  t.match(last, {
    type: 'user.activated',
    before: { status: 'suspended', statusReason: 'late' },
    data: { version: 8 },
    reverts: suspended
  })
  await until('listeners in process know too', () => heard.length === 1)
  t.strictSame(heard, [suspended])
  t.match(await revert(id, await latest(id)), { status: 'suspended', statusReason: 'late', etag: '"9"' },
    'a reversal can be reverted')
  t.match(await app.users.revert(id, await latest(id)), { status: 'active', version: 10 })
})

test('a reversal is refused where it cannot be made', async (t) => {
  const { app, call, latest, patch, create, revert } = await host(t)
  const [ann, bob] = [await create('ann@example.org'), await create('bob@example.org')]
  const [created, moved] = [await latest(ann), await patch(ann, { email: 'new@example.org' })]
  const ofBob = await patch(bob, { name: 'Bobby' })
  t.strictSame(await revert(ann, ofBob), [400, 'validation_failed', '/event unknown'], 'of another user')
  t.strictSame(await revert(ann, NOBODY), [400, 'validation_failed', '/event unknown'])
  t.strictSame(await revert(ann, created), [400, 'validation_failed', '/event choice'], 'of no change')
  t.strictSame(await revert(ann, 'x'), [400, 'validation_failed', '/event format'])
  t.strictSame(await revert('usr_x', moved), [404, 'user_not_found'])
  const bare = await call('POST', `/users/${ann}/revert`, { payload: { events: [] } })
  t.match(bare.json().errors, [{ pointer: '/events', code: 'unknown' }, { pointer: '/event', code: 'required' }])
  await patch(bob, { email: 'Ann@example.org' })
  t.strictSame(await revert(ann, moved), [409, 'email_taken', '/email taken'])
  t.strictSame(await revert(ann, moved, { 'if-match': '"1"' }), [412, 'precondition_failed'])
  t.equal((await app.users.get(ann)).version, 2, 'nothing was changed')
  await app.users.delete(bob, { erase: true })
  t.strictSame(await revert(bob, ofBob), [404, 'user_not_found'])
  await call('POST', '/users/import', {
    payload: JSON.stringify({ id: bob, name: 'Bobby', email: 'bob@example.org' }),
    headers: { 'content-type': 'application/x-ndjson' }
  })
  t.strictSame(await revert(bob, ofBob), [400, 'validation_failed', '/event erased'], 'its values are gone')
})

test('an idempotency key reverts a change once', async (t) => {
  const { app, patch, create, revert } = await host(t)
  const id = await create('ann@example.org')
  const [first, second] = [await patch(id, { name: 'B' }), await patch(id, { name: 'C' })]
  const key = { 'idempotency-key': 'k' }
  t.strictSame(await revert(id, first, key), [409, 'revert_conflict', '/name changed'])
  await revert(id, second)
  const done = await revert(id, first, key)
  t.match(done, { name: 'Ann', etag: '"5"' }, 'a refusal is not kept')
  await patch(id, { name: 'D' })
  t.strictSame(await revert(id, first, key), done, 'the first answer again')
  t.strictSame(await revert(id, second, key), [422, 'idempotency_key_reused'])
  await app.users.delete(id)
  t.strictSame(await revert(id, first, key), [404, 'user_not_found'])
})

test('what the schema of the host refuses by now is not set back', async (t) => {
  const storage = memory()
  const before = await host(t, { storage })
  const id = await before.create('ann@example.org', { plan: 'old' })
  const event = await before.patch(id, { plan: 'new' })
  const shared = { ...storage, close: async () => {} }
  const schema = Type.Object({ plan: Type.Literal('new') })
  const { app, revert } = await host(t, { storage: shared, fields: { schema } })
  t.strictSame(await revert(id, event), [400, 'validation_failed', ' invalid'])
  t.equal((await app.users.get(id)).version, 2)
})
