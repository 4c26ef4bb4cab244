// Whose Idempotency-Key a caller sends: that of its own key, of the keys that this one follows, and of no other.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { createKeyOwners } from '../../lib/api-keys/key-owner.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { inject, testApp } from '../helpers/app.ts'
import { JSON_BODY, keyApp } from '../helpers/key-app.ts'

const [FIRST, SECOND] = ['a-static-key-of-more-than-32-characters!', 'another-static-key-of-over-32-characters']
const creation = (email: string) =>
  ({ headers: { ...JSON_BODY, 'idempotency-key': 'one' }, payload: { name: 'A', email } })

test('a static key that moves up in the list is not taken for the one before it', async (t) => {
  const { app } = await testApp(t, { apiKeys: { static: [FIRST, SECOND] } })
  const { app: later } = await testApp(t, { apiKeys: { static: [SECOND] } })
  const actorOf = async (server: typeof app, key: string) => {
    const told = new Promise((resolve) => server.users.events.on('user.created', ({ actor }) => resolve(actor)))
    const payload = { name: 'A', email: `${key.slice(0, 5)}@example.org` }
    await inject(server, 'POST', '/v1/users', { headers: { authorization: `Bearer ${key}` }, payload })
    return told
  }
  const before = await actorOf(app, SECOND)
  t.match(before, { type: 'static', id: /^static-[0-9a-f]{12}$/ })
  t.strictSame(await actorOf(later, SECOND), before)
  t.not(JSON.stringify(await actorOf(app, FIRST)), JSON.stringify(before))
})

test('a rotated key repeats what its predecessors made, and no other key does', async (t) => {
  const { app, as } = await keyApp(t)
  const first = await app.users.apiKeys.create({ name: 'first', scopes: ['users:write'] })
  const other = await app.users.apiKeys.create({ name: 'other', scopes: ['users:write'] })
  const made = await as(first.key)('POST', '/users', creation('a@example.org'))
  t.equal(made.statusCode, 201)
  let { id } = first
  for (let i = 0; i < 3; i++) {
    const next = await app.users.apiKeys.rotate(id, { overlap: 60 })
    const again = await as(next.key)('POST', '/users', creation('a@example.org'))
    t.strictSame([again.statusCode, again.headers['idempotency-replayed'], again.body], [201, 'true', made.body])
    const reused = await as(next.key)('POST', '/users', creation('b@example.org'))
    t.strictSame([reused.statusCode, reused.json().code], [422, 'idempotency_key_reused'])
    id = next.id
  }
  const own = await as(other.key)('POST', '/users', creation('b@example.org'))
  t.strictSame([own.statusCode, own.headers['idempotency-replayed']], [201, undefined])
  const before = await as(first.key)('POST', '/users', creation('a@example.org'))
  t.equal(before.headers['idempotency-replayed'], 'true', 'while they overlap, the old key too')
})

test('looks up each key of a chain once, and leaves a circle', async (t) => {
  const rotations = new Map([['c', 'b'], ['b', 'a'], ['y', 'x'], ['x', 'y'], ['q', 'gone']])
  const asked: string[] = []
  const record = (id: string) => Object({ id, rotatedFrom: rotations.get(id) ?? null })
  const storage = memory()
  storage.find = async (_name, [by]) => {
    const id = by !== undefined && 'id' in by ? by.id : ''
    asked.push(id)
    return [id === 'gone' ? null : Object({ record: record(id), keys: null, of: null })]
  }
  const ownerOf = createKeyOwners(repositoryOf(storage))
  const owner = async (id: string) =>
    (await ownerOf({
      principal: { type: 'api_key', id, name: null, scopes: [] }, record: record(id), expiresAt: null
    })).id
  t.equal(await owner('c'), 'a')
  t.equal(await owner('b'), 'a')
  t.equal(await owner('c'), 'a')
  t.strictSame(asked, ['b', 'a'])
  t.equal(await owner('a'), 'a')
  t.equal(await owner('q'), 'gone')
  t.match(await owner('y'), /[xy]/)
  t.equal(await ownerOf({ principal: { type: 'host', id: 'h', name: null, scopes: [] }, record: null, expiresAt: null })
    .then(({ type, id }) => `${type} ${id}`), 'host h')
})
