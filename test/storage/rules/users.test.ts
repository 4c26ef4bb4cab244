// What creations, updates and deletions of one user mean.
import type { UserChanges, UserRecord, VersionGuard } from '../../../lib/storage/storage.ts'
import { rules } from './on-stores.ts'
import {
  after, create, done, eventOf, everyone, everythingIn, firstPage, holdersOf, idOf, onlyVersion, readdress, remove,
  rename, timeOf, update, userOf, usersIn, wordsOf
} from './values.ts'

const NO_VERSION: VersionGuard[] = [
  onlyVersion(2), onlyVersion(), onlyVersion(0, 10), { ifVersion: null, unlessVersion: [1] },
  { ifVersion: [1], unlessVersion: [2, 1] }
]
const SUSPENDED = { status: 'suspended', statusReason: 'unpaid' } as const
const ACTIVE = { status: 'active', statusReason: null } as const

rules('a new user is there as it was given, with all of its keys', async (t, { repository, write }) => {
  const user = userOf(1, { fields: { z: 1, a: { deep: [null, ''] } }, ...SUSPENDED })
  t.strictSame(await write(create(user)), done(user))
  t.strictSame(await repository.users.find(user.id), user)
  t.equal(JSON.stringify((await repository.users.find(user.id))?.fields), JSON.stringify(user.fields))
  const found = await repository.users.list({ ...everyone, words: [['user', 'example']] }, firstPage())
  t.strictSame(found, { items: [user], total: 1 })
})

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

rules('an address and a unique value are of one user, until it leaves them', async (t, { repository, write }) => {
  const fields = { legacyId: 7 }
  await write(create(userOf(1)))
  await write(create(userOf(2, { fields })))
  const before = await everythingIn(repository)
  const emailTaken = { code: 'email_taken' }
  const fieldTaken = { code: 'field_taken', field: 'legacyId' }
  const event = eventOf(1, 'user.created')
  for (const [refused, outcome] of [
    [create(userOf(3, { email: 'USER1@example.org' }), { event }), emailTaken],
    [update(2, { ...rename('X'), ...readdress('USER1@example.org') }, { event }), emailTaken],
    [create(userOf(3, { fields }), { event }), fieldTaken],
    [update(1, { ...rename('X'), fields }, { event }), fieldTaken]
  ] as const) {
    t.strictSame(await write(refused), outcome, refused.type)
    t.strictSame(await everythingIn(repository), before)
  }
  t.match(await write(update(1, readdress('USER1@example.org'))), { changed: true }, 'its own, in another case')
  await write(update(1, readdress('next@example.org')))
  t.match(await write(create(userOf(4, { email: 'user1@example.org' }))), { code: 'done' })
  await write(update(1, readdress('last@example.org')))
  t.strictSame(await write(create(userOf(5, { email: 'user1@example.org' }))), emailTaken, 'it is of another one now')
  await write(remove(1))
  await write(remove(2))
  t.match(await write(create(userOf(6, { email: 'last@example.org', fields }))), { code: 'done' })
  t.strictSame(await holdersOf(repository, 'user1@example.org'), [idOf('usr', 4)])
})

rules('the id of another user is a mistake of the program', async (t, { repository, write }) => {
  await write(create(userOf(1)))
  await t.rejects(write(create(userOf(1, { email: 'other@example.org' }))), { code: 'fault' })
  t.strictSame(await usersIn(repository), [userOf(1)])
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

rules('what is stored already is not written, and a new status has types of its own', async (
  t, { repository, write }
) => {
  await write(create(userOf(1)))
  const steps: Array<[changes: UserChanges, changed: boolean, types: string[] | undefined]> = [
    [{}, false, undefined],
    [{ ...rename('User 1'), ...readdress('User1@Example.org'), fields: {}, ...ACTIVE }, false, undefined],
    [{ name: { value: 'User 1', key: 'another' } }, false, undefined],
    [{ status: 'suspended' }, true, ['user.suspended']],
    [{ status: 'suspended', statusReason: null }, false, undefined],
    [SUSPENDED, true, undefined],
    [{ statusReason: 'unpaid' }, false, undefined],
    [{ status: 'suspended', ...rename('Name') }, true, undefined],
    [{ ...ACTIVE, ...rename('Other') }, true, ['user.updated', 'user.activated']],
    [{ status: 'suspended', fields: { plan: 'pro' } }, true, ['user.updated', 'user.suspended']],
    [{ status: 'active', ...readdress('x@example.org') }, true, ['user.updated', 'user.activated']]
  ]
  let version = 1
  for (const [i, [changes, changed, types]] of steps.entries()) {
    const outcome = await write(update(1, changes, { updatedAt: timeOf(900 + i) }))
    version += changed ? 1 : 0
    const user = await repository.users.find(idOf('usr', 1))
    t.equal(user?.version, version)
    t.strictSame(outcome, { ...done(user, changed), ...(types !== undefined && { types }) }, JSON.stringify(changes))
  }
})

rules('a guard accepts exactly its versions, and is judged first', async (t, { repository, write }) => {
  const users = [1, 2].map((n) => userOf(n))
  for (const user of users) await write(create(user))
  const event = eventOf(1, 'user.updated')
  for (const guard of NO_VERSION) {
    for (const changes of [rename('X'), {}, readdress('user2@example.org'), () => t.fail('asked') && {}]) {
      t.strictSame(await write(update(1, changes, { guard, event })), { code: 'version_mismatch' })
    }
    t.strictSame(await write(remove(1, { guard, event, erase: true })), { code: 'version_mismatch' })
    t.strictSame(await write(update(9, {}, { guard })), { code: 'not_found' })
    t.strictSame(await write(remove(9, { guard })), { code: 'not_found' })
  }
  t.strictSame(await everythingIn(repository), [users, [], []])
  t.match(await write(update(1, rename('A'), { guard: onlyVersion(7, 1) })), { user: { version: 2 } })
  const unless = { ifVersion: null, unlessVersion: [1, 3, 2 ** 40] }
  t.match(await write(update(1, rename('B'), { guard: unless })), { user: { version: 3 } })
  t.match(await write(remove(1, { guard: { ifVersion: [2, 3], unlessVersion: [2] } })), { user: { version: 3 } })
})

rules('changes that are asked for are of the user as it is, and may be refused', async (t, { repository, write }) => {
  await write(create(userOf(1, { fields: { n: 1 } })))
  const asked: UserRecord[] = []
  t.match(await write(update(1, (user) => {
    asked.push(user)
    return { fields: { n: Number(user.fields['n']) + 1 } }
  })), { changed: true, user: { fields: { n: 2 } } })
  t.strictSame(asked, [userOf(1, { fields: { n: 1 } })])
  const reason = { pointer: ['/n'] }
  const refused = await write(update(1, () => ({ refused: reason })))
  t.strictSame(refused, { code: 'refused', reason: { pointer: ['/n'] } })
  if (refused.code === 'refused') Object(refused.reason).pointer.push('x')
  t.strictSame(reason, { pointer: ['/n'] }, 'the reason is a copy')
  t.strictSame(await usersIn(repository), [after(1, { fields: { n: 2 } })])
})

rules('a deletion gives the last state, and the user is nowhere', async (t, { repository, write }) => {
  for (const n of [1, 2]) await write(create(userOf(n)))
  await write(update(1, rename('Last')))
  t.strictSame(await write(remove(1)), done(after(1, { name: 'Last' })))
  t.strictSame(await write(remove(1)), { code: 'not_found' })
  t.strictSame(await write(update(1, rename('X'))), { code: 'not_found' })
  t.strictSame(await everythingIn(repository), [[userOf(2)], [], []])
  t.strictSame(await holdersOf(repository, 'user1@example.org'), [])
})

rules('words of own fields are made of the fields that are written', async (t, { repository, write }) => {
  const scope = { wordsOf: ({ note }: Record<string, unknown>) => typeof note === 'string' ? wordsOf(note) : [] }
  const foundBy = async (text: string) => {
    const { items } = await repository.users.list({ ...everyone, words: [wordsOf(text)] }, firstPage())
    return items.length
  }
  await write(create(userOf(1, { fields: { note: 'alpha' } })), scope)
  t.equal(await foundBy('alpha'), 1)
  await write(update(1, rename('Beta')), scope)
  t.strictSame([await foundBy('alpha beta'), await foundBy('user1')], [1, 1], 'the other words stay')
  await write(update(1, { fields: { note: 'gamma' } }), scope)
  t.strictSame([await foundBy('alpha'), await foundBy('gamma')], [0, 1])
  await write(update(1, { fields: { note: 'delta' } }))
  t.strictSame([await foundBy('gamma'), await foundBy('delta')], [0, 0], 'new fields without words have none')
})
