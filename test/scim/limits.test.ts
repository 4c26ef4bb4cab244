// The limits of the mount hold for SCIM too: who uses both may not delete or guess more. Requests have their own.
import { test } from 'tap'
import { served } from './served.ts'

const made = (n: number) => ({ userName: `user${n}@example.org`, displayName: `User ${n}` })

test('deletions by SCIM, in bulk and by the API are counted together', async (t) => {
  const { app, ask } = await served(t, { limits: { deletions: { max: 2, window: 60 } } }, {}, [
    'scim:users', 'scim:groups'
  ])
  const paths: string[] = []
  for (let n = 0; n < 4; n++) paths.push(`/Users/${String((await ask('POST', '/Users', made(n))).body['id'])}`)
  const [first = '', ...others] = paths
  t.equal((await ask('DELETE', first)).status, 204)
  const { body: group } = await ask('POST', '/Groups', { displayName: 'G' })
  t.equal((await ask('DELETE', `/Groups/${String(group['id'])}`)).status, 204, 'groups are not counted')
  const { body } = await ask('POST', '/Bulk', { Operations: others.map((path) => ({ method: 'DELETE', path })) })
  t.match(body['Operations'], [{ status: '204' }, { status: '429' }, { status: '429' }])
  t.equal((await ask('DELETE', others[1] ?? '')).status, 429)
  t.equal((await app.users.list()).meta.total, 2)
})

test('requests are counted apart from those of the API, also in a store of the host’s', async (t) => {
  const counts = new Map<string, number>()
  class Store {
    incr (key: string, done: (error: null, result: { current: number, ttl: number }) => void): void {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      done(null, { current: counts.get(key) ?? 0, ttl: 60_000 })
    }

    child (): Store { return this }
  }
  const requests = { max: 3, window: 60 }
  const { app, asKey } = await served(t, { limits: { requests, counters: { store: Store } } }, { requests })
  const { key } = await app.users.apiKeys.create({ name: 'both', scopes: ['users:read', 'scim:users'] })
  for (const [base, path] of [['/scim/v2', '/Users'], ['/v1', '/users']] as const) {
    const statuses = []
    for (let n = 0; n < 4; n++) statuses.push((await asKey(key, base)('GET', path)).status)
    t.strictSame(statuses, [200, 200, 200, 429], base)
  }
})

test('refused keys are counted together with those of the API', async (t) => {
  const { asKey } = await served(t, { limits: { failures: { max: 2, window: 60 } } })
  const [scim, api] = [asKey('uk_wrong'), asKey('uk_wrong', '/v1')]
  t.equal((await scim('GET', '/Users')).status, 401)
  t.equal((await api('GET', '/users')).status, 401)
  t.equal((await scim('GET', '/Users')).status, 429)
  t.equal((await api('GET', '/users')).status, 429)
})
