// Contract §17: the status of a user in bodies, answers, filters, files and events.
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'

const ann = { name: 'Ann', email: 'ann@example.org' }
const late = { status: 'suspended', statusReason: 'late' } as const

test('a status is set, kept, replaced and found', async (t) => {
  const { app, call } = await testApp(t, { eventLog: true })
  const created = await call('POST', '/users', { payload: { ...ann, status: 'suspended', statusReason: ' late ' } })
  const { id } = created.json()
  const send = async (method: string, payload: object) => {
    const { statusCode, headers: { etag }, json } = await call(method, `/users/${id}`, { payload })
    const { status, statusReason } = json()
    return [statusCode, etag, status, statusReason]
  }
  t.match(await app.users.get(id), { ...late, version: 1 }, 'a reason is trimmed')
  t.strictSame(await send('PATCH', { status: 'suspended', statusReason: 'late' }), [200, '"1"', 'suspended', 'late'])
  t.strictSame(await send('PATCH', { statusReason: 'very late' }), [200, '"2"', 'suspended', 'very late'])
  t.strictSame(await send('PATCH', { status: 'active' }), [200, '"3"', 'active', 'very late'], 'each is a member')
  t.strictSame(await send('PATCH', { statusReason: null, name: 'Anna' }), [200, '"4"', 'active', null])
  t.strictSame(await send('PATCH', { ...late, name: 'Ann' }), [200, '"5"', 'suspended', 'late'])
  t.strictSame(await send('PUT', ann), [200, '"6"', 'active', null], 'a replacement without it activates')
  t.strictSame(await send('PUT', { ...ann, status: 'suspended' }), [200, '"7"', 'suspended', null])
  t.strictSame(await send('PUT', { ...ann, ...late }), [200, '"8"', 'suspended', 'late'])

  const { data } = await app.users.events.ofUser(id)
  t.strictSame(data.map(({ type, data: { version, status }, before }) => [type, version, status, before]), [
    ['user.updated', 8, 'suspended', { statusReason: null }],
    ['user.suspended', 7, 'suspended', { status: 'active' }],
    ['user.activated', 6, 'active', { status: 'suspended', statusReason: 'late' }],
    ['user.suspended', 5, 'suspended', { status: 'active', statusReason: null }],
    ['user.updated', 5, 'suspended', { name: 'Anna', status: 'active', statusReason: null }],
    ['user.updated', 4, 'active', { name: 'Ann', statusReason: 'very late' }],
    ['user.activated', 3, 'active', { status: 'suspended' }],
    ['user.updated', 2, 'suspended', { statusReason: 'late' }],
    ['user.created', 1, 'suspended', undefined]
  ])

  await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  await app.users.create({ name: 'Ann', email: 'cora@example.org' })
  const found = async (query: string) => {
    const { data, meta } = (await call('GET', `/users?${query}`)).json()
    return [meta.total, ...data.map(({ email }: { email: string }) => email)]
  }
  t.strictSame(await found('status=suspended'), [1, 'ann@example.org'])
  t.strictSame(await found('status=active&limit=1&sort=-createdAt'), [2, 'cora@example.org'])
  t.strictSame(await found('status=active&q=ann'), [1, 'cora@example.org'])
  const all: string[] = []
  for await (const { email } of app.users.iterate({ status: 'active' })) all.push(email)
  t.strictSame(all, ['bob@example.org', 'cora@example.org'])

  const table = (await call('GET', '/users/export?format=csv&columns=email,status,statusReason&sort=-createdAt')).body
  t.strictSame(table.split('\r\n'), [
    '"email","status","statusReason"', '"cora@example.org","active",null', '"bob@example.org","active",null',
    '"ann@example.org","suspended","late"', ''
  ])
  const other = await testApp(t)
  const headers = { 'content-type': 'text/csv' }
  const { body: whole } = await call('GET', '/users/export?format=csv')
  await other.call('POST', '/users/import', { headers, payload: whole })
  t.strictSame((await other.app.users.list()).data.map(({ status, statusReason }) => [status, statusReason]),
    [['suspended', 'late'], ['active', null], ['active', null]], 'it comes back from a table')
  const { body: lines } = await call('GET', '/users/export?status=suspended')
  t.match(JSON.parse(lines), { id, ...late })
})

test('faults of a status are named', async (t) => {
  const { app, call } = await testApp(t)
  const { id } = await app.users.create(ann)
  const wrong = { status: 'deleted', statusReason: 'x'.repeat(201) }
  const faults = ['/status choice', '/statusReason too_long']
  const errorsOf = (body: { errors?: Array<{ pointer: string, code: string }> }) =>
    body.errors?.map(({ pointer, code }) => `${pointer} ${code}`)
  for (const [method, path] of [['POST', '/users'], ['PUT', `/users/${id}`], ['PATCH', `/users/${id}`]] as const) {
    const { body } = await call(method, path, { payload: { ...ann, ...wrong } })
    t.strictSame(errorsOf(JSON.parse(body)), faults, method)
  }
  for (const [payload, expected] of [
    [{ status: null }, '/status choice'], [{ status: true }, '/status choice'],
    [{ statusReason: 5 }, '/statusReason type'],
    [{ statusReason: '' }, '/statusReason too_short'], [{ statusReason: 'a\u0000' }, '/statusReason characters']
  ] as const) {
    t.strictSame(errorsOf((await call('PATCH', `/users/${id}`, { payload })).json()), [expected])
  }
  for (const query of ['status=', 'status=Active', 'status=active&status=active']) {
    t.match((await call('GET', `/users?${query}`)).json(), { errors: [{ parameter: 'status' }] }, query)
  }
  t.match(await app.users.get(id), { status: 'active', statusReason: null, version: 1 })
})
