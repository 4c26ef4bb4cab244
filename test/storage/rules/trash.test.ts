// What it means that users are put away, restored and purged.
import { rules } from './on-stores.ts'
import {
  after, awayIn, create, done, idOf, idsOf, onlyVersion, purge, putAway, remove, rename, restore, SINGLE, timeOf,
  update, upTo, userOf, usersIn
} from './values.ts'

const DESK = { type: 'api_key', id: idOf('key', 7), name: 'Desk' }
const NOT_FOUND = { code: 'not_found' }
const away = (n: number, at = 100 + n, more: Parameters<typeof userOf>[1] = {}) =>
  ({ user: userOf(n, more), deletedAt: timeOf(at), deletedBy: null })

rules('a user takes the place of another one that had its id', async (t, { repository, write }) => {
  for (const n of [1, 2]) await write(create(userOf(n)))
  for (const n of [1, 2]) await write(putAway(n))
  const again = userOf(1, { name: 'Again', email: 'again@example.org' })
  await write(create(again))
  t.strictSame(await repository.trash.find(again.id), away(1), 'a creation leaves it there')
  await write(remove(1))
  t.strictSame(await repository.trash.find(again.id), away(1), 'and so does a deletion for good')
  await write(create(again))
  const by = { deletedAt: timeOf(200), deletedBy: DESK }
  t.strictSame(await write(putAway(1, 200, { putAway: by })), done(again))
  t.strictSame(await repository.trash.find(again.id), { user: again, ...by })
  t.strictSame((await awayIn(repository)).map(({ id }) => id), idsOf('usr', [1, 2]))
})

rules('the version of a restored user goes on, and updatedAt never goes back', async (t, { write }) => {
  await write(create(userOf(1)))
  await write(update(1, rename('New'), { updatedAt: timeOf(500) }))
  for (const [i, [at, updatedAt]] of [[400, 500], [600, 600], [550, 600]].entries()) {
    await write(putAway(1, 700 + i))
    t.strictSame(await write(restore(1, { updatedAt: timeOf(Number(at)) })),
      done(userOf(1, { name: 'New', version: 3 + i, updatedAt: timeOf(Number(updatedAt)) })))
  }
  t.match(await write(update(1, rename('Last'), { guard: onlyVersion(5) })), { user: { version: 6 } })
})

rules('a purge takes who is there and who is put away with one id, judged by who is there', async (
  t, { repository, write }
) => {
  await write(create(userOf(3)))
  await write(putAway(3))
  const again = userOf(3, { name: 'Again', version: 5 })
  await write(create(again))
  t.strictSame(await write(purge(3, { guard: onlyVersion(1) })), { code: 'version_mismatch' })
  const purged = await write(purge(3, { guard: onlyVersion(5) }))
  t.strictSame(purged, { ...done(again), types: ['user.deleted', 'user.purged'] })
  t.strictSame([await usersIn(repository), await awayIn(repository)], [[], []])
})

rules('with putAwayBefore only a user goes that was put away by then', async (t, { repository, write }) => {
  for (const n of [1, 2, 3, 4]) await write(create(userOf(n)))
  for (const n of [1, 2, 3]) await write(putAway(n))
  await write(restore(3))
  const before = (n: number, at: number) => write(purge(n, { putAwayBefore: timeOf(at) }))
  t.strictSame(await before(1, 100), NOT_FOUND, 'it was put away later')
  t.strictSame(await before(3, 900), NOT_FOUND, 'it was restored')
  t.strictSame(await before(4, 900), NOT_FOUND, 'it was never put away')
  t.strictSame([await before(1, 101), await before(2, 900)], [done(userOf(1)), done(userOf(2))])
  await write(putAway(3, 300))
  t.strictSame(await before(3, 299), NOT_FOUND, 'its last deletion counts')
  await write(create(userOf(3)))
  t.strictSame(await before(3, 300), done(after(3)))
  t.strictSame([await usersIn(repository), await awayIn(repository)], [[userOf(3), userOf(4)], []], 'its heir stays')
})

rules('writes of one call see what those before them have made of the trash', async (t, { repository, write }) => {
  for (const n of upTo(5)) await write(create(userOf(n)))
  await write(putAway(5))
  const { outcomes } = await repository.users.write([
    putAway(1), restore(1), update(1, rename('Back')), putAway(2), create(userOf(6, { email: 'user2@example.org' })),
    restore(2), putAway(3), purge(3), restore(3), remove(4), purge(4), create(userOf(5)), restore(5), putAway(5, 300)
  ], SINGLE)
  t.strictSame(outcomes.map(({ code }) => code), [
    'done', 'done', 'done', 'done', 'done', 'email_taken', 'done', 'done', 'not_found', 'done', 'not_found', 'done',
    'field_taken', 'done'
  ])
  t.strictSame(outcomes[2], done(userOf(1, { name: 'Back', version: 3, updatedAt: timeOf(900) })))
  t.strictSame(outcomes[12], { code: 'field_taken', field: 'id' })
  t.strictSame((await usersIn(repository)).map(({ id }) => id), idsOf('usr', [1, 6]))
  t.strictSame((await repository.trash.list({ offset: 0, limit: 9 })).items, [away(5, 300), away(2)])
})
