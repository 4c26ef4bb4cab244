// A job with the client and the types of the description keeps users in step with a directory.
import { test } from 'tap'
import { sync, usersOf } from '../../examples/typed-client/sync.ts'
import { testApp } from '../helpers/app.ts'

test('two concurrent jobs bring who is new, changed or gone, and nobody twice', async (t) => {
  const { app, key } = await testApp(t)
  const users = usersOf(`${await app.listen({ host: '127.0.0.1', port: 0 })}/v1`, key)
  const people = Array.from({ length: 20 }, (_, n) => ({ name: `User ${n}`, email: `u${n}@example.org` }))
  const counts = await Promise.all([sync(users, people), sync(users, people)])
  t.equal(counts.reduce((sum, { created }) => sum + created, 0), 20)
  t.equal((await app.users.list()).meta.total, 20)
  t.strictSame(await sync(users, people), { created: 0, changed: 0, same: 20, deleted: 0 })
  const later = people.map((person, n) => n === 3 ? { ...person, name: 'New' } : { ...person, hasLeft: n === 4 })
  t.strictSame(await sync(users, later), { created: 0, changed: 1, same: 18, deleted: 1 })
  t.strictSame(await sync(users, later), { created: 0, changed: 0, same: 20, deleted: 0 })
  const nowhere = usersOf('http://127.0.0.1:1', key).with({ triesMax: 1 })
  await t.rejects(sync(nowhere, [{ name: '', email: '' }]), { code: 'network' })
})
