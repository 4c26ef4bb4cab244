// A client whose types come from the description of the service does the main job over HTTP.
import { test } from 'tap'
import { usersClient } from '../../examples/typed-client/client.ts'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit } from '../helpers/around.ts'
import { testApp } from '../helpers/app.ts'

test('the typed client creates, changes, lists and deletes users', async (t) => {
  const storage = memory()
  let busy = 1
  aroundCommit(storage, 'idempotency', async (call) => {
    if (busy-- === 1) throw new StorageError('idempotency_in_progress', 'the first is still running')
    return call()
  })
  const { app, key } = await testApp(t, { storage })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const { create, change, everyone, remove } = usersClient(origin, key)

  const ann = await create({ name: 'Ann', email: 'ann@example.org' }, 'first')
  t.match(ann, { name: 'Ann', email: 'ann@example.org' })
  t.strictSame(await create({ name: 'Ann', email: 'ann@example.org' }, 'first'), ann, 'a repeated creation')
  t.equal(await create({ name: 'Bob', email: 'ANN@example.org' }, 'second'), null, 'the address is taken')
  for (let n = 1; n < 5; n++) await create({ name: `User ${n}`, email: `user${n}@example.org` }, `user-${n}`)

  const names: string[] = []
  for await (const { name } of everyone(2)) names.push(name)
  t.strictSame(names, ['Ann', 'User 1', 'User 2', 'User 3', 'User 4'])

  const left: string[] = []
  for await (const { id, name } of everyone(2)) {
    left.push(name)
    if (name === 'User 1') await remove(id)
  }
  t.strictSame(left, names, 'a deletion meanwhile hides nobody')

  const id = ann?.id ?? ''
  const louder = () => change(id, ({ name }) => ({ name: `${name}!` }))
  t.match(await louder(), { name: 'Ann!' })
  const raced = await Promise.all(Array.from({ length: 5 }, louder))
  t.ok(raced.every((user) => user !== null))
  t.match(await app.users.get(id), { name: 'Ann!!!!!!', version: 7 }, 'each was made on the result of the one before')

  t.equal(await remove(id), true)
  t.equal(await remove(id), false)
  t.equal(await change(id, () => ({ name: 'x' })), null)
  const [other] = (await app.users.list()).data
  const withoutKey = usersClient(origin, 'uk_nobody')
  const refused: Array<[string, () => Promise<unknown>]> = [
    ['validation_failed', () => create({ name: '', email: 'x@example.org' }, 'third')],
    ['validation_failed', () => change(other?.id ?? '', () => ({ name: '' }))],
    ['invalid_api_key', () => withoutKey.create({ name: 'x', email: 'x@example.org' }, 'x')],
    ['invalid_api_key', () => withoutKey.change(id, () => ({}))],
    ['invalid_api_key', () => withoutKey.remove(id)],
    ['invalid_api_key', () => withoutKey.everyone().next()]
  ]
  for (const [code, call] of refused) await t.rejects(call, { name: 'Error', problem: { code } })
})
