// What callers of two tenants can reach of each other by an id that they choose: that of a user, or their own.
import { test, type Test } from 'tap'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'

const acme = 'acme-static-key-of-at-least-32-characters'
const beta = 'beta-static-key-of-at-least-32-characters'
const UNKNOWN = 'usr_01h455vb4pex5vsknk084sn02q'

async function host (t: Test) {
  const { app } = await testApp(t, {
    tenants: true,
    eventLog: true,
    limits: { requests: { max: 100, window: 60 } },
    // Both have the name that their owners gave them.
    apiKeys: {
      static: [
        { key: acme, name: 'backend', scopes: ALL_SCOPES, tenant: 'acme' },
        { key: beta, name: 'backend', scopes: ALL_SCOPES, tenant: 'beta' }
      ]
    }
  })
  const send = (key: string, method: string, path: string, payload?: object) => inject(app, method, path, {
    headers: { authorization: `Bearer ${key}`, ...(payload && { 'content-type': 'application/x-ndjson' }) },
    ...(payload && { payload: JSON.stringify(payload) })
  })
  const namesSeen = async (key: string, id: string) =>
    (await send(key, 'GET', `/v1/users/${id}/events`)).json().data?.map((event: { data: { name: unknown } }) =>
      event.data.name)
  return { app, send, namesSeen }
}

test('a key of a tenant chooses no id of a new user, so it meets that of nobody else', async (t) => {
  const { app, send, namesSeen } = await host(t)
  const there = await app.users.tenant('beta').create({ name: 'There', email: 'there@example.org' })
  const gone = await app.users.tenant('beta').create({ name: 'Gone', email: 'gone@example.org' })
  await app.users.tenant('beta').delete(gone.id)
  const answers = []
  for (const id of [there.id, gone.id, UNKNOWN]) {
    for (const query of ['', '?onConflict=update&by=id', '?dryRun=true', '?onConflict=skip']) {
      const row = { id, name: 'New', email: 'n@example.org' }
      const { body } = await send(acme, 'POST', `/v1/users/import${query}`, row)
      answers.push(body.replace(/"dryRun":\w+/, ''))
    }
  }
  t.equal(new Set(answers).size, 1, 'whether anybody has the id is not told')
  t.match(JSON.parse(answers[0]?.split('\n')[0] ?? ''), {
    status: 'refused', problem: { errors: [{ pointer: '/id', code: 'unknown' }] }
  })
  const own = await app.users.tenant('acme').create({ name: 'Own', email: 'own@example.org' })
  const renamed = { id: own.id, name: 'Renamed', email: own.email }
  t.match((await send(acme, 'POST', '/v1/users/import?onConflict=update&by=id', renamed)).body, '"updated":1')
  t.strictSame(await namesSeen(beta, gone.id), ['Gone', 'Gone'])
})

test('a dry run refuses ids of users of another tenant, as the import does', async (t) => {
  const { app } = await host(t)
  const { id } = await app.users.tenant('beta').create({ name: 'There', email: 'there@example.org' })
  for (const by of ['email', 'id']) {
    for (const dryRun of [true, false]) {
      const problems: unknown[] = []
      const summary = await app.users.tenant('acme').import([{ id, name: 'New', email: 'n@example.org' }], {
        by, dryRun, onConflict: 'update', onResult: (result) => { problems.push(Object(result).problem) }
      })
      t.match(summary, { created: 0, refused: 1 })
      t.match(problems, [{ code: 'field_taken', errors: [{ pointer: '/id', code: 'taken' }] }])
    }
  }
})

test('an id that the host gives again has a history in each tenant', async (t) => {
  const { app, send, namesSeen } = await host(t)
  const { id } = await app.users.tenant('beta').create({ name: 'Before', email: 'a@example.org' })
  await app.users.tenant('beta').delete(id)
  await app.users.tenant('acme').import([{ id, name: 'After', email: 'a@example.org' }])
  t.strictSame([await namesSeen(acme, id), await namesSeen(beta, id)], [['After'], ['Before', 'Before']])
  const [event] = (await send(beta, 'GET', `/v1/users/${id}/events`)).json().data
  await t.rejects(app.users.revert(id, event.id), { code: 'validation_failed' }, 'it is an event of another user')
  t.equal((await send(acme, 'DELETE', `/v1/users/${id}?erase=true`)).statusCode, 204)
  t.strictSame([await namesSeen(acme, id), await namesSeen(beta, id)], [[null, null], ['Before', 'Before']])
  await app.users.tenants.remove('acme')
  t.strictSame(await namesSeen(beta, id), ['Before', 'Before'])
})

test('callers of two tenants with one name are counted apart', async (t) => {
  const { send } = await host(t)
  const left = async (key: string) =>
    /r=(\d+)/.exec(String((await send(key, 'GET', '/v1/users')).headers['ratelimit']))?.[1]
  t.strictSame([await left(acme), await left(acme), await left(beta)], ['99', '98', '99'])
})
