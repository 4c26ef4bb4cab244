// What others do to the same users while an import judges and writes them.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { aroundCommit, overtaken, usersIn } from '../helpers/around.ts'
import { testApp } from '../helpers/app.ts'
import { rename, userOf } from '../helpers/records.ts'
import { addUser, changeUser, removeUser } from '../helpers/writes.ts'

const ann = { name: 'Ann', email: 'ann@example.org' }

/** Does something once, before the next commit that adds or changes a user. */
function before (storage: Storage, which: 'added' | 'changed', work: () => Promise<unknown>): void {
  let isDone = false
  aroundCommit(storage, 'users', async (call, units) => {
    if (!isDone && usersIn(units, which).length > 0) {
      isDone = true
      await work()
    }
    return call()
  })
}

function failing (storage: Storage, which: 'added' | 'changed', error: Error): void {
  aroundCommit(storage, 'users', (call, units) =>
    usersIn(units, which).length > 0 ? Promise.reject(error) : call())
}

test('somebody takes the address, or frees it, between judgement and write', async (t) => {
  const storage = memory()
  const { app } = await testApp(t, { storage })
  // As another process has it: in one, writers of a user wait for each other.
  const elsewhere = { ...storage }
  before(storage, 'added', () => addUser(storage, userOf(1, { email: ann.email })))
  t.match(await app.users.import([ann], { onConflict: 'update' }), { created: 0, updated: 1 })
  t.match((await app.users.list()).data, [{ id: userOf(1).id, name: 'Ann', version: 2 }])

  before(storage, 'changed', () =>
    changeUser(elsewhere, userOf(1).id, rename('Meanwhile'), { updatedAt: new Date().toISOString() }))
  t.match(await app.users.import([{ ...ann, name: 'Anna' }], { onConflict: 'update' }), { updated: 1 })
  t.match((await app.users.list()).data, [{ name: 'Anna', version: 4 }], 'judged again by what the other has written')

  before(storage, 'changed', () => removeUser(elsewhere, userOf(1).id))
  t.match(await app.users.import([{ ...ann, name: 'A' }], { onConflict: 'update' }), { created: 1, updated: 0 })

  const [user] = (await app.users.list()).data
  before(storage, 'changed', () => addUser(storage, userOf(2)))
  const moved = { id: user?.id, name: 'A', email: userOf(2).email }
  t.match(await app.users.import([moved], { onConflict: 'update', by: 'id' }), { updated: 0, refused: 1 })
})

test('generates a new id after a collision, and reports a storage fault as a fault', async (t) => {
  const storage = memory()
  const { app } = await testApp(t, { storage })
  let made = ''
  aroundCommit(storage, 'users', async (call, units) => {
    const [user] = usersIn(units, 'added')
    if (made !== '' || user === undefined) return call()
    made = user.id
    await addUser(storage, userOf(1, { id: made }))
    return call()
  })
  t.match(await app.users.import([ann]), { created: 1 })
  t.equal((await app.users.list()).meta.total, 2)
  failing(storage, 'added', new StorageError('fault', 'it is broken'))
  await t.rejects(app.users.import([{ ...ann, email: 'b@example.org' }]), { code: 'internal' })
  failing(storage, 'added', new TypeError('a mistake'))
  await t.rejects(app.users.import([{ ...ann, email: 'b@example.org' }]), { code: 'internal' })
})

test('a storage that fails an update, and one whose user changes for ever', async (t) => {
  const storage = memory()
  const { app } = await testApp(t, { storage })
  await app.users.create(ann)
  const { commit } = storage
  failing(storage, 'changed', new StorageError('unavailable', 'it is gone'))
  const options = { onConflict: 'update' } as const
  await t.rejects(app.users.import([{ ...ann, name: 'B' }], options), { code: 'storage_unavailable' })
  storage.commit = commit
  overtaken(storage)
  await t.rejects(app.users.import([{ ...ann, name: 'B' }], options),
    { code: 'storage_unavailable', headers: { 'retry-after': '5' } })
})
