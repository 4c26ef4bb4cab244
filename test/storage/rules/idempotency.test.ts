// What an idempotency key keeps of a call that writes users.
import type { Repository } from '../../../lib/storage/repository.ts'
import type { Idempotency, UserRecord } from '../../../lib/storage/storage.ts'
import type { WritesResult } from '../../../lib/storage/user-writes.ts'
import { rules } from './on-stores.ts'
import {
  after, create, done, idempotencyOf, keyed, onlyVersion, purge, putAway, remove, rename, restore, timeOf, update,
  userOf, usersIn
} from './values.ts'

const OTHER = { fingerprint: 'g'.repeat(43) }
const REUSED = { code: 'idempotency_key_reused' }
/** When a key of the moment 0 is free again. */
const LATER = { now: timeOf(1000), expiresAt: timeOf(2000) }

/** A call with one creation alone. */
const creation = ({ users }: Repository, user: UserRecord, n: number, more: Partial<Idempotency> = {}) =>
  users.write([create(user)], keyed(n, more))

const result = (users: Array<UserRecord | null>, replayed = false): WritesResult =>
  ({ outcomes: users.map((user) => ({ code: 'done', changed: true, user })), note: null, replayed })

rules('the key of a creation goes with its user, in whatever way that goes', async (t, { repository, write }) => {
  for (const ways of [[remove(1)], [putAway(1)], [purge(1)], [putAway(1), restore(1)]]) {
    await creation(repository, userOf(1), 1)
    t.strictSame(await write(remove(1, { guard: onlyVersion(7) })), { code: 'version_mismatch' })
    t.equal((await creation(repository, userOf(2), 1)).replayed, true, 'a deletion that is refused deletes no key')
    for (const way of ways) await write(way)
    t.strictSame(await creation(repository, userOf(2), 1, OTHER), result([userOf(2)]))
    for (const n of [1, 2]) await write(purge(n))
  }
})

rules('a key is free at its end, and what is renewed lives on without the first user', async (
  t, { repository, write }
) => {
  await creation(repository, userOf(1), 1)
  t.equal((await creation(repository, userOf(2), 1, { now: timeOf(999) })).replayed, true)
  const renewed = { ...LATER, ...OTHER }
  t.strictSame(await creation(repository, userOf(2), 1, renewed), result([userOf(2)]))
  const within = { ...renewed, now: timeOf(1999) }
  t.strictSame(await creation(repository, userOf(3), 1, within), result([userOf(2)], true))
  await write(remove(1))
  t.equal((await creation(repository, userOf(3), 1, within)).replayed, true)
  await t.rejects(creation(repository, userOf(3), 1, { now: timeOf(1500) }), REUSED, 'the fingerprint is the new one')
})

rules('keys that have ended are pruned, at that moment and not before', async (t, { repository }) => {
  await creation(repository, userOf(1), 1)
  await creation(repository, userOf(2), 2, { expiresAt: timeOf(1001) })
  await repository.users.write([create(userOf(3)), create(userOf(4))], keyed(3))
  await repository.prune(timeOf(999))
  t.equal((await creation(repository, userOf(9), 1)).replayed, true)
  await repository.prune(timeOf(1000))
  t.strictSame((await repository.storage.list('idempotency', { page: { order: 'asc', limit: 9, from: { offset: 0 } } }))
    .items.map(({ record: { id } }) => id), [idempotencyOf(2).key], 'with all that a call has kept')
  t.strictSame(await creation(repository, userOf(5), 1, OTHER), result([userOf(5)]), 'a clock goes back: it stays free')
  t.equal((await creation(repository, userOf(6), 2)).replayed, true)
})

rules('a call that changes nothing keeps its key, one that is undone does not', async (t, { repository, write }) => {
  await write(create(userOf(1)))
  for (const [n, writes] of [[], [remove(99)], [update(1, {})], [update(1, () => ({ refused: 1 }))]].entries()) {
    const first = await repository.users.write(writes, keyed(n, { note: n }))
    t.strictSame(await repository.users.write([create(userOf(3))], keyed(n)), { ...first, replayed: true })
  }
  const undone = { ...keyed(9), atomic: true }
  t.strictSame((await repository.users.write([create(userOf(2)), remove(99)], undone)).outcomes,
    [done(userOf(2)), { code: 'not_found' }])
  const made = await repository.users.write([create(userOf(2))], { ...keyed(9, OTHER), atomic: true })
  t.strictSame(made, result([userOf(2)]))
  const again = await repository.users.write([], { ...keyed(9, OTHER), atomic: true })
  t.strictSame(again, result([userOf(2)], true), 'an atomic call keeps it too')
})

rules('outcomes lose each user that is deleted, and no other', async (t, { repository, write }) => {
  for (const n of [1, 2]) await write(create(userOf(n)))
  const writes = [
    create(userOf(3)), create(userOf(4)), update(1, rename('New')), remove(2), create(userOf(5)),
    update(5, rename('New')), remove(5), update(1, {})
  ]
  await repository.users.write(writes, keyed(1))
  const same = done(after(1, { name: 'New' }), false)
  const outcomes = async () => (await repository.users.write([], keyed(1))).outcomes
  t.strictSame(await outcomes(), [
    done(userOf(3)), done(userOf(4)), done(after(1, { name: 'New' })), done(null), done(null), done(null), done(null),
    same
  ], 'those that the call itself has deleted too')
  await write(remove(3))
  t.strictSame((await outcomes()).slice(0, 3), [done(null), done(userOf(4)), done(after(1, { name: 'New' }))])
  for (const n of [1, 4]) await write(putAway(n))
  t.strictSame(await outcomes(), [...Array(7).fill(done(null)), done(null, false)])
  t.strictSame((await repository.users.write(writes, keyed(1))).replayed, true, 'the key itself stays')
})

rules('one creation alone with a note is a call like others: its key stays', async (t, { repository, write }) => {
  await creation(repository, userOf(1), 1, { note: 'n' })
  t.strictSame(await creation(repository, userOf(2), 1), { ...result([userOf(1)], true), note: 'n' })
  await write(remove(1))
  t.strictSame(await creation(repository, userOf(2), 1), { ...result([null], true), note: 'n' })
  const taken = userOf(3, { email: userOf(4).email })
  await write(create(userOf(4)))
  for (const replayed of [false, true]) {
    t.strictSame(await creation(repository, taken, 2, { note: 0 }),
      { outcomes: [{ code: 'email_taken' }], note: 0, replayed }, 'a refusal is kept')
  }
  t.strictSame(await usersIn(repository), [userOf(4)])
})

rules('a renewed key of a call has nothing of the first one', async (t, { repository, write }) => {
  await repository.users.write([create(userOf(1)), create(userOf(2))], keyed(1))
  const renewed = { ...LATER, ...OTHER, note: 2 }
  const writes = [create(userOf(6)), create(userOf(3)), remove(6), remove(99)]
  const first = await repository.users.write(writes, keyed(1, renewed))
  t.strictSame(first, {
    outcomes: [done(userOf(6)), done(userOf(3)), done(userOf(6)), { code: 'not_found' }], note: 2, replayed: false
  })
  const outcomes = [done(null), done(userOf(3)), done(null), { code: 'not_found' }]
  await write(remove(1))
  t.strictSame(await repository.users.write([], keyed(1, renewed)), { outcomes, note: 2, replayed: true })
  await repository.prune(timeOf(2000))
  const last = await repository.users.write([], keyed(1, { ...renewed, fingerprint: 'h'.repeat(43) }))
  t.strictSame(last, { outcomes: [], note: 2, replayed: false })
})

rules('keys of two tenants never meet', async (t, { repository }) => {
  const call = (n: number, tenant: string) =>
    repository.users.write([create(userOf(n))], { ...keyed(1), tenant })
  t.strictSame(await call(1, 'acme'), result([userOf(1, { tenant: 'acme' })]))
  t.strictSame(await call(2, 'beta'), result([userOf(2, { tenant: 'beta' })]))
  t.strictSame(await creation(repository, userOf(3), 1), result([userOf(3)]))
  t.strictSame(await call(4, 'acme'), result([userOf(1, { tenant: 'acme' })], true))
})
