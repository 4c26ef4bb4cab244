// When the last use of a key is stored.
import type { FastifyInstance } from 'fastify'
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { areUses, aroundCommit } from '../helpers/around.ts'
import { inject, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { until } from '../helpers/until.ts'
import '../helpers/watch-all.ts'

const use = (app: FastifyInstance, key: string) =>
  inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })

test('a failure to store the last use of a key is logged, and the request succeeds', async (t) => {
  for (const [thrown, code] of [
    [new TypeError('secret'), 'internal'],
    [Object.assign(new Error('busy'), { name: 'StorageError', code: 'unavailable' }), 'storage_unavailable']
  ] as const) {
    const log = captureLog()
    const storage = memory()
    const { app, key } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
    aroundCommit(storage, 'apiKeys', () => { throw thrown })
    t.equal((await use(app, key)).statusCode, 200)
    await app.close()
    const msg = 'could not store the time of an API key’s last use'
    t.match(log.entries().filter(({ level }) => level === 40),
      [{ msg, keyId: /^key_/, err: { code, stack: /at .*api-keys\.test/ } }])
    if (code === 'internal') t.match(log.text(), 'an unexpected TypeError')
    t.notMatch(log.text(), 'secret')
  }
})

test('does not store a use within a minute of one that another process stored', async (t) => {
  const storage = memory()
  const { app, key } = await testApp(t, { storage })
  const [record] = (await app.users.apiKeys.list()).data
  const storedAt = new Date(Date.now() - 30_000).toISOString()
  const { apiKeys } = repositoryOf(storage)
  await apiKeys.write({ type: 'touch', id: record?.id ?? '', usedAt: storedAt, ifBefore: storedAt })
  await use(app, key)
  await app.close()
  t.equal((await apiKeys.find({ id: record?.id ?? '' }))?.lastUsedAt, storedAt)
})

test('closing waits until pending uses are stored', async (t) => {
  const order: string[] = []
  const storage = { ...memory(), close: async () => { order.push('closed') } }
  const { app, key } = await testApp(t, {
    storage: aroundCommit(storage, 'apiKeys', async (call, units) => {
      if (areUses(units)) {
        await new Promise((resolve) => setImmediate(resolve))
        order.push('stored')
      }
      return call()
    })
  })
  await use(app, key)
  await app.close()
  t.strictSame(order, ['stored', 'closed'])
})

test('closing does not wait forever for a use to be stored', async (t) => {
  const storage = memory()
  const { app, key } = await testApp(t, { storage })
  aroundCommit(storage, 'apiKeys', () => new Promise(() => {}))
  await use(app, key)
  mock.timers.enable({ apis: ['setTimeout'] })
  const closed = app.close()
  // The timer starts at some point of the closing: the clock advances until it has fired.
  let hasClosed = false
  const finished = closed.then(() => { hasClosed = true })
  await until('the end of the closing', () => {
    mock.timers.tick(2000)
    return hasClosed
  })
  mock.timers.reset()
  await finished
  t.ok(hasClosed)
})
