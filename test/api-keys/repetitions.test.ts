// Contract §8: API keys that are created and rotated with an Idempotency-Key.
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/index.ts'
import { areUses, aroundCommit } from '../helpers/around.ts'
import { JSON_BODY, keyApp } from '../helpers/key-app.ts'

const INPUT = { name: 'reports', scopes: ['users:read'] }

async function server (t: Test, storage: Storage) {
  const { app, call } = await keyApp(t, { storage })
  const send = async (path: string, idempotencyKey: string, body: object = INPUT) => {
    const headers = { ...JSON_BODY, 'idempotency-key': idempotencyKey }
    const answer = await call('POST', path, { headers, payload: JSON.stringify(body) })
    const { id, key, code, detail } = answer.json()
    return { status: answer.statusCode, id, key, code, detail }
  }
  const total = async () => (await app.users.apiKeys.list()).meta.total
  return { app, call, send, total }
}

const exists = (id: string) => ({
  status: 409,
  code: 'api_key_exists',
  detail: `The first request with this Idempotency-Key created the API key ${id}, which cannot be shown again. ` +
    'Rotate or revoke it.'
})

test('a repeated creation or rotation makes no second key, and names the first', async (t) => {
  const { app, send, total } = await server(t, memory())
  const before = await total()
  const first = await send('/api-keys', 'a')
  t.match(first, { status: 201, key: /^uk_/ })
  t.match(await send('/api-keys', 'a'), exists(first.id))
  t.match(await send('/api-keys', 'a', { ...INPUT, name: 'other' }), { status: 422, code: 'idempotency_key_reused' })
  t.match(await send('/users', 'a', { name: 'Ann', email: 'ann@example.org' }), { status: 422 })
  t.match(await send('/api-keys', 'two words'), { status: 400, code: 'validation_failed' })
  t.match(await send('/api-keys', 'b', { ...INPUT, name: '' }), { status: 400 })
  t.match(await send('/api-keys', 'b'), { status: 201 }, 'a refused request keeps nothing')
  t.equal(await total(), before + 2)

  const rotate = `/api-keys/${String(first.id)}/rotate`
  const next = await send(rotate, 'c', { overlap: 0 })
  t.match(next, { status: 201, key: /^uk_/ })
  t.match(await send(rotate, 'c', { overlap: 0 }), exists(next.id))
  t.match(await send(rotate, 'c', { overlap: 1 }), { status: 422 })
  t.match(await send(rotate, 'd', { overlap: 0 }), { status: 409, code: 'api_key_inactive' })
  t.equal(await total(), before + 3)
  t.strictSame((await app.users.apiKeys.get(String(next.id))).rotatedFrom, first.id)
})

test('of concurrent requests with one Idempotency-Key one makes a key', async (t) => {
  const { send, total } = await server(t, memory())
  const before = await total()
  const created = await Promise.all(Array.from({ length: 20 }, () => send('/api-keys', 'a')))
  const [made, ...more] = created.filter(({ status }) => status === 201)
  t.strictSame(more, [])
  t.strictSame(new Set(created.filter(({ status }) => status !== 201).map(({ detail }) => detail)),
    new Set([exists(String(made?.id)).detail]))
  const rotate = `/api-keys/${String(made?.id)}/rotate`
  const rotated = await Promise.all(Array.from({ length: 20 }, () => send(rotate, 'b', { overlap: 0 })))
  t.equal(rotated.filter(({ status }) => status === 201).length, 1)
  t.equal(rotated.filter(({ code }) => code === 'api_key_exists').length, 19)
  t.equal(await total(), before + 2)
})

test('a request whose write failed, or whose answer was lost, is repeated safely', async (t) => {
  let fails: 'before' | 'after' | null = null
  const storage = memory()
  aroundCommit(storage, 'apiKeys', async (call, units) => {
    const lost = fails
    // The time of a key's last use is written after an answer.
    if (areUses(units)) return call()
    fails = null
    if (lost === 'before') throw new StorageError('unavailable', 'the connection is lost')
    const outcomes = await call()
    if (lost === 'after') throw new StorageError('unavailable', 'the connection is lost')
    return outcomes
  })
  const { send, total } = await server(t, storage)
  const before = await total()
  const { id } = await send('/api-keys', 'first')
  const requests = { creation: ['/api-keys', INPUT], rotation: [`/api-keys/${String(id)}/rotate`, {}] } as const
  for (const [name, [path, body]] of Object.entries(requests)) {
    fails = 'before'
    t.match(await send(path, `failed-${name}`, body), { status: 503 })
    t.match(await send(path, `failed-${name}`, body), { status: 201 })
    fails = 'after'
    t.match(await send(path, `lost-${name}`, body), { status: 503 })
    t.match(await send(path, `lost-${name}`, body), { status: 409, code: 'api_key_exists' })
  }
  t.equal(await total(), before + 5)
})
