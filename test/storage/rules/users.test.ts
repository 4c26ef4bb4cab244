// What creations, updates and deletions of one user mean.
import type { UserChanges, UserRecord } from '../../../lib/storage/storage.ts'
import { rules } from './on-stores.ts'
import {
  after, create, done, everyone, firstPage, holdersOf, idOf, readdress, rename, timeOf, update, userOf, wordsOf
} from './values.ts'

const ACTIVE = { status: 'active', statusReason: null } as const

rules('nothing that was given or returned can change what is stored', async (t, { repository, write }) => {
  const given = userOf(1, { fields: { list: [1] } })
  const change = (user: UserRecord | null): void => {
    Object.assign(user ?? {}, { name: 'changed by the caller' })
    Object(user?.fields).list?.push(2)
  }
  const read = async () => repository.users.find(idOf('usr', 1))
  for (const asked of [create(given), update(1, rename('New')), update(1, rename('New'))]) {
    const outcome = await write(asked)
    if (outcome.code === 'done') change(outcome.user)
    if (asked.type === 'create') change(asked.user)
    t.strictSame((await read())?.fields, { list: [1] }, asked.type)
  }
  t.strictSame(await write(update(1, (user) => {
    change(user)
    return {}
  })), done(after(1, { name: 'New', fields: { list: [1] } }), false))
  t.strictSame(await read(), after(1, { name: 'New', fields: { list: [1] } }))
})

rules('an update sets what it has, counts the version, and never takes updatedAt back', async (
  t, { repository, write }
) => {
  await write(create(userOf(9, { fields: { plan: 'free' } })))
  const steps: Array<[changes: UserChanges, at: number, expected: Partial<UserRecord>, updatedAt: number]> = [
    [rename('Early'), 8, { name: 'Early' }, 9],
    [rename('EARLY'), 60, { name: 'EARLY' }, 60],
    [readdress('New@example.org'), 50, { email: 'New@example.org' }, 60],
    [{ fields: { b: 1, a: 2 } }, 61, { fields: { b: 1, a: 2 } }, 61],
    [{ fields: { a: 2, b: 1 } }, 61, { fields: { a: 2, b: 1 } }, 61],
    [{ status: 'suspended' }, 62, { status: 'suspended' }, 62],
    [{ statusReason: 'unpaid' }, 63, { statusReason: 'unpaid' }, 63],
    [{ status: 'active' }, 64, { status: 'active' }, 64],
    [{ ...ACTIVE, ...rename('Last'), ...readdress('l@example.org') }, 65,
      { ...ACTIVE, name: 'Last', email: 'l@example.org' }, 65]
  ]
  let user = userOf(9, { fields: { plan: 'free' } })
  for (const [changes, at, expected, updatedAt] of steps) {
    user = { ...user, ...expected, version: user.version + 1, updatedAt: timeOf(updatedAt) }
    t.match(await write(update(9, changes, { updatedAt: timeOf(at) })), done(user))
    const found = await repository.users.find(user.id)
    t.strictSame(found, user)
    t.equal(JSON.stringify(found?.fields), JSON.stringify(user.fields))
  }
  const foundBy = async (text: string) =>
    (await repository.users.list({ ...everyone, words: [wordsOf(text)] }, firstPage())).total
  t.strictSame([await foundBy('last'), await foundBy('l'), await foundBy('early'), await foundBy('new')], [1, 1, 0, 0])
  t.strictSame(await holdersOf(repository, 'new@example.org'), [])
})
