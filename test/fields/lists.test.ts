// Lists filtered by own fields, over HTTP and in process. What stores do: the kit.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import type { Fault } from '../../lib/core/fault.ts'
import users from '../../lib/index.ts'
import { fields, fieldsApp, withoutType } from '../helpers/fields.ts'
import { sqliteDriver } from '../helpers/sqlite.ts'
import '../helpers/watch-all.ts'

test('filters lists by fields, by type and exactly', async (t) => {
  const { app, call, send, add } = await fieldsApp(t, memory())
  await add('other@example.org', { seats: 3 })
  await add('f1@example.org', { plan: 'pro', seats: 7, active: true })
  await add('f2@example.org', { plan: 'free', seats: 7, active: false })
  const list = async (query: string) => {
    const { status, json } = await send('GET', `/users?${query}`)
    if (status === 200) return [json.meta.total, ...json.data.map(({ email }: { email: string }) => email)]
    return [status, ...json.errors.map(({ parameter, code }: Fault) => `${parameter} ${code}`)]
  }
  t.strictSame(await list('seats=7'), [2, 'f1@example.org', 'f2@example.org'])
  t.strictSame(await list('seats=7&sort=-createdAt&limit=1'), [2, 'f2@example.org'])
  t.strictSame(await list('seats=7.0e0&plan=pro'), [1, 'f1@example.org'])
  t.strictSame(await list('active=true&q=f1&email=F1@example.org'), [1, 'f1@example.org'])
  t.strictSame(await list('seats=8'), [0])
  for (const [query, code] of [
    ['seats=x', 'type'], ['seats=', 'type'], ['seats=1e999', 'type'], ['seats=7.5', 'type'], ['seats=1001', 'range'],
    ['active=1', 'type'], ['active=True', 'type'], ['plan=gold', 'choice'], ['plan=', 'choice']
  ] as const) t.strictSame(await list(query), [400, `${query.split('=')[0]} ${code}`], query)
  const several = await list('plan=a%00b&note=x&unheardOf=1')
  t.strictSame(several, [400, 'note unknown', 'unheardOf unknown', 'plan type'])
  const { errors } = (await call('GET', '/users?note=a&name=ann&unheardOf=1')).json()
  t.strictSame(errors.map(({ detail }: { detail: string }) => detail), [
    'is not a known parameter: the field is not in fields.filterable',
    'is not a known parameter: q finds users by their names',
    'is not a known parameter'
  ])
  t.strictSame(await list('plan=pro&plan=free'), [400, 'plan duplicate'])
  t.match((await call('GET', '/users?seats=7&limit=1')).headers.link, '</v1/users?seats=7&limit=1&page=2>; rel="next"')

  t.equal((await app.users.list(withoutType({ seats: 7 }))).meta.total, 2)
  const text = withoutType({ seats: '7' })
  await t.rejects(app.users.list(text), { errors: [{ parameter: 'seats', code: 'type' }] })
})

test('refuses to start without the index of a filter, and says how to create it', async (t) => {
  const storage = sqlite({ filename: ':memory:', driver: sqliteDriver })
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
  const app = Fastify()
  t.teardown(() => app.close())
  const shared = { ...storage, close: async () => {} }
  await t.rejects(async () => app.register(users, {
    storage: shared,
    fields: { schema: fields, filterable: ['plan', 'seats'] }
  }), {
    code: 'schema_behind',
    message: 'there is no index for lists filtered by plan, seats: run npx fastify-users migrate --filterable ' +
      'plan,seats, call storage.open({ migrate: true, filterable }), or register with migrate: true'
  })
})
