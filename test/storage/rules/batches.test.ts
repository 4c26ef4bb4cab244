// What several writes of users mean that are made together.
import { rules } from './on-stores.ts'
import {
  after, ATOMIC, create, done, holdersOf, idOf, idsOf, keyed, onlyVersion, readdress, remove, rename, SINGLE, update,
  userOf, usersIn
} from './values.ts'

rules('each write meets what those before it have made', async (t, { repository, write }) => {
  for (const n of [1, 2]) await write(create(userOf(n)))
  const heir = userOf(4, { email: userOf(1).email, fields: { z: 1, a: [null] } })
  const { outcomes, ...rest } = await repository.users.write([
    create(userOf(3)),
    update(3, rename('Named')),
    remove(1),
    create(heir),
    update(2, rename('User 2')),
    update(4, { ...rename('Heir'), ...readdress('Next@example.org'), fields: { plan: 'pro' } }),
    remove(2, { guard: onlyVersion(1) }),
    update(2, {}),
    update(3, ({ name, version }) => ({ fields: { name, version } }), { guard: onlyVersion(2) }),
    create(userOf(1, { name: 'Again' })),
    remove(4)
  ], SINGLE)
  const changed = after(4, {
    name: 'Heir', email: 'Next@example.org', fields: { plan: 'pro' }, createdAt: heir.createdAt
  })
  const named = after(3, { name: 'Named' })
  const last = { ...named, version: 3, fields: { name: 'Named', version: 2 } }
  const again = userOf(1, { name: 'Again' })
  t.strictSame(rest, { note: null, replayed: false })
  t.strictSame(outcomes, [
    done(userOf(3)), done(named), done(userOf(1)), done(heir), done(userOf(2), false), done(changed), done(userOf(2)),
    { code: 'not_found' }, done(last), done(again), done(changed)
  ])
  t.strictSame(await usersIn(repository), [again, last])
  const holders = await Promise.all(['user1', 'user3', 'next'].map((name) =>
    holdersOf(repository, `${name}@example.org`)))
  t.strictSame(holders, [idsOf('usr', [1]), idsOf('usr', [3]), []])
})

rules('a new user with the id of another makes the whole call fail', async (t, { repository, write }) => {
  await write(create(userOf(1)))
  const taken = create(userOf(1, { email: 'other@example.org' }))
  const twice = [create(userOf(2)), create({ ...userOf(3), id: idOf('usr', 2) })]
  for (const writes of [[create(userOf(2)), update(1, rename('New')), taken], twice]) {
    for (const options of [SINGLE, ATOMIC, keyed(1)]) {
      await t.rejects(repository.users.write(writes, options), { code: 'fault' })
    }
  }
  const free = await repository.users.write([], keyed(1))
  t.strictSame(free, { outcomes: [], note: null, replayed: false }, 'no key is kept')
  t.strictSame(await usersIn(repository), [userOf(1)])
})

rules('nothing that a call was given or has returned can change what is stored', async (t, { repository, write }) => {
  await write(create(userOf(1)))
  const note = { deep: [1] }
  const writes = [create(userOf(2, { fields: { list: [1] } })), update(1, () => ({ refused: note }))]
  const call = () => repository.users.write(writes, keyed(1, { note }))
  const expected = [done(userOf(2, { fields: { list: [1] } })), { code: 'refused', reason: { deep: [1] } }]
  for (const replayed of [false, true, true]) {
    const result = await call()
    t.strictSame(result, { outcomes: expected, note: { deep: [1] }, replayed })
    const [first, second] = result.outcomes
    if (first?.code === 'done') Object(first.user?.fields).list.push(2)
    if (second?.code === 'refused') Object(second.reason).deep.push(2)
    Object(result.note).deep.push(2)
  }
  t.strictSame((await usersIn(repository))[1]?.fields, { list: [1] })
})
