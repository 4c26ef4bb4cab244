// A mount on users that were stored under other fields: it serves them as they are, and loses nothing.
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users, { type Storage } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { ann, fields, withoutType } from '../helpers/fields.ts'
import { captureLog } from '../helpers/log.ts'
import '../helpers/watch-all.ts'

const MEMBERS = ['id', 'name', 'email', 'status', 'statusReason', 'version', 'createdAt', 'updatedAt']

const prepare = async (t: Test) => {
  // The mounts share the store, so none of them may close it.
  const shared: Storage = { ...memory(), close: async () => {} }
  const first = await testApp(t, { storage: shared, fields: { schema: fields } })
  const stored = withoutType({ ...ann, plan: 'pro', seats: 3, address: { city: 'Oslo' } })
  const { id } = await first.app.users.create(stored)
  return { shared, id, first: first.app.users }
}

test('a mount without fields shows none; its PATCH keeps them, its PUT removes them', async (t) => {
  const { shared, id, first } = await prepare(t)
  const bare = await testApp(t, { storage: shared })
  t.strictSame(Object.keys(await bare.app.users.get(id)), MEMBERS)
  await bare.app.users.update(id, { name: 'Anna' })
  t.match(await first.get(id), { name: 'Anna', plan: 'pro', seats: 3, version: 2 })
  const put = () => bare.call('PUT', `/users/${id}`, { payload: { ...ann, name: 'Anna' } })
  t.match(await put(), { statusCode: 200, headers: { etag: '"3"' } }, 'removed fields are a change')
  t.strictSame(Object.keys(await first.get(id)), MEMBERS)
  t.match(await put(), { statusCode: 200, headers: { etag: '"3"' } })
})

test('a mount with newer fields serves older users as stored, and logs the first of them', async (t) => {
  const { shared, id, first } = await prepare(t)
  const log = captureLog()
  const app = Fastify({ logger: { stream: log.stream } })
  t.teardown(() => app.close())
  const newer = Type.Object({
    plan: Type.Integer(),
    level: Type.Integer(),
    address: Type.Optional(Type.Object({ city: Type.String({ minLength: 9 }) })),
    team: Type.Optional(Type.String())
  })
  await app.register(users, { storage: shared, fields: { schema: newer } })
  for (let n = 0; n < 3; n++) t.match(await app.users.get(id), { plan: 'pro', address: { city: 'Oslo' } })
  t.notOk('seats' in await app.users.get(id), 'only declared fields are shown')
  const lines = log.entries().filter(({ msg }) => String(msg).includes('does not match the option fields'))
  t.match(lines, [{ level: 40, userId: id }])
  t.equal(lines.length, 1, 'logged once')
  t.notMatch(log.text(), 'Oslo')

  const fewer = captureLog()
  const { seats, ...kept } = fields.properties
  const other = Fastify({ logger: { stream: fewer.stream } })
  t.teardown(() => other.close())
  await other.register(users, { storage: shared, fields: { schema: Type.Object(kept) } })
  t.notOk('seats' in await other.users.get(id))
  t.notMatch(fewer.text(), 'does not match', 'a field that was removed is no mismatch')

  const update = (patch: object) => app.users.update(id, withoutType(patch))
  t.match(await update({ team: 'blue' }), { team: 'blue', plan: 'pro' }, 'a patch checks only what it changes')
  const short = { pointer: '/address/city', code: 'too_short' }
  await t.rejects(update({ address: { city: 'Rome' } }), { errors: [short] })
  t.match(await update({ plan: 5 }), { plan: 5 })
  t.match(await first.get(id), { seats: 3 }, 'fields that are not declared stay')
})
