// Contract §17: users are put away, restored and purged.
import { test, type Test } from 'tap'
import { type Call, testApp, type TestAppOptions } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { until } from '../helpers/until.ts'

const ann = { name: 'Ann', email: 'ann@example.org' }
const NOBODY = 'usr_01h455vb4pex5vsknk084sn02q'

/** The status of an answer, and the code of its problem. */
async function codeOf (answer: ReturnType<Call>): Promise<unknown> {
  const { statusCode, body } = await answer
  return statusCode < 400 ? statusCode : `${statusCode} ${JSON.parse(body).code}`
}

const trashed = (t: Test, options: TestAppOptions = {}) => testApp(t, { eventLog: true, trash: true, ...options })

test('deleted users are listed, the latest first, with who deleted them', async (t) => {
  const host = await trashed(t, { pageSize: { default: 2 } })
  const { app, call } = host
  const ids: string[] = []
  for (const n of [0, 1, 2]) {
    const { id } = await app.users.create({ name: `User ${n}`, email: `user${n}@example.org` })
    ids.unshift(id)
  }
  const [key] = (await app.users.apiKeys.list()).data
  for (const id of ids.toReversed()) {
    // Of one moment, they are sorted by id: the same order.
    if (id === ids[2]) await app.users.delete(id)
    else await call('DELETE', `/users/${id}`)
  }
  const first = await call('GET', '/users/deleted')
  const { data, meta } = first.json()
  t.strictSame(data.map(({ id }: { id: string }) => id), ids.slice(0, 2))
  t.strictSame(meta, { page: 1, limit: 2, total: 3 })
  t.match(first.headers['link'], '</v1/users/deleted?page=2>; rel="next"')
  t.strictSame(Object.keys(data[0]), [
    'id', 'name', 'email', 'status', 'statusReason', 'version', 'createdAt', 'updatedAt', 'deletedAt', 'deletedBy'
  ])
  t.strictSame(data[0].deletedBy, { type: 'api_key', id: key?.id, name: 'test' })
  const [last] = (await call('GET', '/users/deleted?page=2&limit=2')).json().data
  t.match(last, { id: ids[2], name: 'User 0', deletedBy: null })
  t.match(await app.users.listDeleted({ page: 2 }), { data: [{ id: ids[2], version: 1 }], meta: { total: 3 } })
  t.strictSame(await Promise.all(['page=0', 'limit=101', 'after=x', 'q=ann', 'sort=createdAt'].map((query) =>
    codeOf(call('GET', `/users/deleted?${query}`)))), Array(5).fill('400 validation_failed'))
  t.equal((await call('GET', '/users')).json().meta.total, 0)
})

test('a restored user is as it was, and what others have taken meanwhile is refused', async (t) => {
  const { app, call } = await trashed(t, {
    fields: { schema: { type: 'object', properties: { no: { type: 'integer' } } }, unique: ['no'] }
  })
  const create = async (body: object) => (await call('POST', '/users', { payload: body })).json()
  const user = await create({ ...ann, no: 1, status: 'suspended', statusReason: 'trial' })
  await call('DELETE', `/users/${user.id}`)
  const restore = () => call('POST', `/users/${user.id}/restore`)
  const other = await create({ name: 'B', email: 'ANN@example.org', no: 2 })
  const taken = await restore()
  t.match([taken.statusCode, taken.json()], [409, { code: 'email_taken', errors: [{ pointer: '/email' }] }])
  await call('PATCH', `/users/${other.id}`, { payload: { email: 'b@example.org', no: 1 } })
  t.match((await restore()).json(), { code: 'field_taken', errors: [{ pointer: '/no', code: 'taken' }] })
  await call('PATCH', `/users/${other.id}`, { payload: { no: 2 } })
  const restored = await restore()
  t.strictSame([restored.statusCode, restored.headers.etag], [200, '"2"'])
  t.strictSame(restored.json(), { ...user, version: 2, updatedAt: restored.json().updatedAt })
  t.equal(await codeOf(call('POST', '/users', { payload: { ...ann, no: 9 } })), '409 email_taken', 'it has its keys')
  t.equal(await codeOf(call('POST', '/users', { payload: { name: 'C', email: 'c@example.org', no: 1 } })),
    '409 field_taken')
  t.equal(await codeOf(call('POST', `/users/${user.id}/restore`, { payload: { name: 'x' } })),
    '400 validation_failed')
  t.equal((await app.users.listDeleted()).meta.total, 0)
})

test('an idempotency key restores a user once', async (t) => {
  const { app, call } = await trashed(t)
  const { id } = await app.users.create(ann)
  const restore = (key: string, headers: object = {}, of = id) =>
    call('POST', `/users/${of}/restore`, { headers: { 'idempotency-key': key, ...headers } })
  await app.users.delete(id)
  const other = await app.users.create(ann)
  t.equal(await codeOf(restore('k')), '409 email_taken')
  await app.users.delete(other.id)
  const first = await restore('k')
  t.strictSame([first.statusCode, first.headers['idempotency-replayed']], [200, undefined], 'a refusal is not kept')
  const again = await restore('k')
  t.strictSame([again.statusCode, again.headers['idempotency-replayed'], again.headers.etag, again.body],
    [200, 'true', first.headers.etag, first.body])
  t.equal(await codeOf(restore('k', { 'if-match': '"1"' })), '422 idempotency_key_reused')
  t.equal(await codeOf(restore('k', {}, other.id)), '422 idempotency_key_reused')
  t.equal(await codeOf(restore('not visible')), '400 validation_failed')
  await app.users.delete(id)
  t.equal(await codeOf(restore('k')), '404 user_not_found', 'it was deleted again')
  const { data } = await app.users.events.ofUser(id)
  t.strictSame(data.map(({ type }) => type), ['user.deleted', 'user.restored', 'user.deleted', 'user.created'])
  t.equal((await app.users.restore(id, { idempotencyKey: 'k' })).version, 3, 'the keys of the host are others')
})

test('every write of a user judges preconditions', async (t) => {
  const { app, call } = await trashed(t, { requireIfMatch: true })
  const change = { payload: { name: 'Other' } }
  /** A call, and whether the user is put away before it. */
  const rows: Array<[method: string, path: string, body: object, isAway: boolean]> = [
    ['PATCH', '', change, false], ['PUT', '', { payload: { ...ann, name: 'Other' } }, false],
    ['DELETE', '', {}, false], ['DELETE', '?purge=true', {}, false], ['DELETE', '?purge=true', {}, true],
    ['DELETE', '?erase=true', {}, true],
    ['POST', '/revert', {}, false], ['POST', '/restore', {}, true]
  ]
  for (const [method, path, given, isAway] of rows) {
    const name = `${method} ${path} ${isAway}`
    const { id, email } = await app.users.create({ name: 'Ann', email: `n${Math.random()}@example.org` })
    await app.users.update(id, { name: 'Anna' }, { ifMatch: 1 })
    const [event] = (await app.users.events.ofUser(id)).data
    if (isAway) await app.users.delete(id, { ifMatch: '*' })
    const body = path === '/revert' ? { payload: { event: event?.id } } : given
    if (method === 'PUT') Object(body).payload.email = email
    const send = (headers: object, of = id) =>
      codeOf(call(method, `/users/${of}${path}`, { ...body, headers: { ...headers } }))
    t.equal(await send({ 'if-match': '"1"' }), '412 precondition_failed', `${name}: another version`)
    t.equal(await send({ 'if-match': '*', 'if-none-match': '"2"' }), '412 precondition_failed', `${name}: this one`)
    t.equal(await send({ 'if-match': '"2" x' }), '400 validation_failed', `${name}: no entity tag`)
    if (path === '/restore') t.equal(await send({}, NOBODY), '404 user_not_found', name)
    else t.equal(await send({}), '428 precondition_required', `${name}: none`)
    if (path !== '?erase=true') t.equal(await send({ 'if-match': '*' }, NOBODY), '404 user_not_found', name)
    t.match(await send({ 'if-match': '"1", "2"' }), method === 'DELETE' ? 204 : 200, `${name}: one of the versions`)
  }
  const { id } = await app.users.create(ann)
  await app.users.delete(id, { ifMatch: 1 })
  const { data } = await app.users.batch([
    { op: 'restore', id, ifMatch: 9 }, { op: 'restore', id }, { op: 'purge', id }, { op: 'purge', id, ifMatch: 1 },
    { op: 'purge', id, ifMatch: 2 }
  ])
  t.strictSame(data.map(({ status }) => status), [412, 200, 428, 412, 204])
})

test('deleted users are purged when their retention has ended', async (t) => {
  const log = captureLog()
  const { app } = await trashed(t, { trash: { retention: 1 }, server: { logger: { stream: log.stream } } })
  const purged: unknown[] = []
  app.users.events.on('user.purged', ({ id, data, actor }) => { purged.push([id, data.id, actor]) })
  const ids: string[] = []
  for (const n of [0, 1, 2]) {
    const { id } = await app.users.create({ name: 'Ann', email: `ann${n}@example.org` })
    ids.push(id)
    await app.users.delete(id)
  }
  await until('they were purged', () => purged.length === 3)
  t.equal((await app.users.listDeleted()).meta.total, 0)
  const events = await Promise.all(ids.map(async (id) => (await app.users.events.ofUser(id)).data))
  t.strictSame(events.map(([last]) => [last?.id, last?.data.id, last?.actor]).toSorted(), purged.toSorted())
  t.match(events[0]?.[0], { type: 'user.purged', data: { name: null, email: null, status: 'active', version: 1 } })
  t.match(log.text(), 'deleted users were purged')
  await t.rejects(app.users.restore(String(ids[0])), { code: 'user_not_found' })
})

test('final deletions count towards the limit of deletions, and restorations do not', async (t) => {
  const { app, call } = await trashed(t, { limits: { deletions: { max: 3, window: 60 } } })
  const { id } = await app.users.create(ann)
  t.equal(await codeOf(call('DELETE', `/users/${id}`)), 204)
  t.equal(await codeOf(call('POST', `/users/${id}/restore`)), 200)
  const batch = await call('POST', '/users/batch', {
    payload: { operations: [{ op: 'delete', id }, { op: 'restore', id }, { op: 'purge', id }, { op: 'purge', id }] }
  })
  t.strictSame(batch.json().data.map(({ status }: { status: number }) => status), [204, 200, 204, 429])
  t.equal(await codeOf(call('DELETE', `/users/${id}?purge=true`)), '429 rate_limited')
})
