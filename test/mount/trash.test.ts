// The option trash: what a mount without it has not, and what it needs.
import { test } from 'tap'
import Fastify from 'fastify'
import { memory } from '../../adapters/memory/index.ts'
import plugin, { type Storage } from '../../lib/index.ts'
import { type Call, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { until } from '../helpers/until.ts'

/** The status of an answer, and the code of its problem. */
async function codeOf (answer: ReturnType<Call>): Promise<string> {
  const { statusCode, body } = await answer
  return `${statusCode} ${JSON.parse(body).code}`
}

test('without the option trash there is none of it, and a deletion is final', async (t) => {
  const { app, call } = await testApp(t)
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  t.equal(await codeOf(call('GET', '/users/deleted')), '404 user_not_found', 'the id of nobody')
  t.equal(await codeOf(call('POST', `/users/${id}/restore`)), '404 not_found')
  t.equal(await codeOf(call('POST', `/users/${id}/revert`, { payload: {} })), '404 not_found', 'without an event log')
  const purge = await call('DELETE', `/users/${id}?purge=true`)
  t.strictSame([purge.statusCode, purge.json().errors.map(Object.values)],
    [400, [['purge', 'unknown', 'is not a known parameter']]])
  await t.rejects(app.users.delete(id, { purge: true }), { code: 'validation_failed' })
  await t.rejects(
    app.users.restore(id), new TypeError('fastify-users: deleted users are kept only with the option trash')
  )
  await t.rejects(app.users.listDeleted(), TypeError)
  await t.rejects(app.users.revert(id, 'evt_x'), TypeError)
  await app.users.delete(id, { purge: false })
  t.equal((await app.users.list()).meta.total, 0)
})

test('the retention of the trash is the same for all mounts on one storage', async (t) => {
  const register = async (...mounts: Array<{ storage: Storage, trash?: boolean | { retention: number } }>) => {
    const app = Fastify()
    t.teardown(() => app.close())
    for (const [i, each] of mounts.entries()) {
      app.register(plugin, { ...each, prefix: `/v${i}`, decoratorName: `users${i}` })
    }
    await app.ready()
  }
  const storage = memory()
  await t.rejects(register({ storage, trash: { retention: 60 } }, { storage, trash: true }), {
    message: /trash must be the same for all mounts on one storage: another one has \{ retention: 60 \}/
  })
  await t.rejects(register({ storage: memory(), trash: { retention: 0 } }), TypeError)
})

test('a purge that fails is tried again, and one that runs ends before the storage is closed', async (t) => {
  const log = captureLog()
  const store = memory()
  const trash = async (): Promise<number> => {
    const page = { order: 'asc', limit: 1, from: { offset: 0 } } as const
    return (await store.list('trash', { page })).total
  }
  const order: string[] = []
  let goOn: (() => void) | undefined
  const storage: Storage = {
    ...store,
    async close () { order.push(`closed with ${await trash()}`) },
    async list (name, query) {
      if (name !== 'trash' || query.upTo === undefined) return store.list(name, query)
      const times = order.push('asked')
      if (times === 1) throw new Error('the database is down')
      if (times === 2) await new Promise<void>((resolve) => { goOn = resolve })
      return store.list(name, query)
    }
  }
  const server = { logger: { stream: log.stream } }
  const { app } = await testApp(t, { storage, trash: { retention: 1 }, server })
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await app.users.delete(id)
  await until('it was tried again', () => goOn !== undefined)
  t.match(log.text(), 'could not purge deleted users; retrying in 1 s')
  const closed = app.close()
  goOn?.()
  await closed
  t.equal(order.at(-1), 'closed with 0')
})

test('who was put away before the option was off, and whose id somebody has since, is not restored', async (t) => {
  const storage = { ...memory(), close: async () => {} }
  const before = await testApp(t, { storage, trash: true })
  const { id } = await before.app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await before.app.users.delete(id)
  await before.app.close()
  const without = await testApp(t, { storage })
  const rows = [{ id, name: 'Bob', email: 'bob@example.org' }]
  t.match(await without.app.users.import(rows), { created: 1 })
  await without.app.close()
  const { app, call } = await testApp(t, { storage, trash: true })
  const refused = await call('POST', `/users/${id}/restore`)
  t.match(refused.json(), { status: 409, code: 'field_taken', errors: [{ pointer: '/id', code: 'taken' }] })
  t.equal((await app.users.get(id)).name, 'Bob')
})
