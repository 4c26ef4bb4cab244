// Concurrent calls of one process, judged by what is there afterwards.
import { rulesOutside } from './on-stores.ts'
import {
  concurrently, create, done, idOf, onlyVersion, RACERS, readdress, remove, rename, tally, update, upTo, userOf, usersIn
} from './values.ts'

rulesOutside('of concurrent creations with one address, one unique value or one id one is made', async (
  t, { repository, write }
) => {
  const byAddress = await concurrently((i) => write(create(userOf(i, { email: i % 2 === 0 ? 'a@b.org' : 'A@B.org' }))))
  t.strictSame([tally(byAddress.values), byAddress.codes], [{ done: 1, email_taken: RACERS - 1 }, []])
  const byField = await concurrently((i) => write(create(userOf(100 + i, { fields: { legacyId: 'x' } }))))
  t.strictSame(tally(byField.values), { done: 1, field_taken: RACERS - 1 })
  const byId = await concurrently((i) => write(create({ ...userOf(200 + i), id: idOf('usr', 300) })))
  t.strictSame([tally(byId.values), byId.codes], [{ done: 1 }, Array(RACERS - 1).fill('fault')])
  t.equal((await usersIn(repository)).length, 3)
})

rulesOutside('of concurrent updates none is lost, and of those with one version or one address one is made', async (
  t, { repository, write }
) => {
  for (const n of upTo(RACERS)) await write(create(userOf(n)))
  const guard = onlyVersion(1)
  const guarded = await concurrently((i) => write(update(1, rename(`Winner ${i}`), { guard })))
  t.strictSame(tally(guarded.values), { done: 1, version_mismatch: RACERS - 1 })
  const winner = guarded.values.find(({ code }) => code === 'done')
  t.strictSame(winner, done(await repository.users.find(idOf('usr', 1))))
  const free = await concurrently((i) => write(update(2, i % 2 === 0
    ? { status: i % 4 === 0 ? 'suspended' : 'active', statusReason: `reason ${i}` }
    : rename(`Name ${i}`))))
  t.strictSame([tally(free.values), free.codes], [{ done: RACERS }, []])
  const user = await repository.users.find(idOf('usr', 2))
  t.equal(user?.version, 1 + RACERS)
  t.equal(Number(user?.statusReason?.slice('reason '.length)) % 4 === 0, user?.status === 'suspended')
  const address = await concurrently((i) => write(update(i + 1, readdress('one@example.org'))))
  t.strictSame(tally(address.values), { done: 1, email_taken: RACERS - 1 })
})

rulesOutside('of concurrent deletions one is made, and it has every update that was answered', async (
  t, { repository, write }
) => {
  await write(create(userOf(1)))
  const { values, codes } = await concurrently((i) =>
    write(i % 2 === 0 && i >= RACERS / 2 ? remove(1) : update(1, rename(`Name ${i}`))))
  t.strictSame(codes, [])
  const versions = values.flatMap((outcome) => outcome.code === 'done' ? [outcome.user?.version ?? 0] : [])
  const last = Math.max(...versions)
  t.strictSame(versions.toSorted((a, b) => a - b), [...upTo(last).slice(1), last], 'the deletion has the last version')
  t.strictSame(await usersIn(repository), [])
})

rulesOutside('a change that is asked for meets the latest user', async (t, { repository, write }) => {
  await write(create(userOf(1, { fields: { n: 0 } })))
  const { values } = await concurrently((i) => write(update(1, i % 2 === 0
    ? rename(`Name ${i}`)
    : ({ fields }) => ({ fields: { n: Number(fields['n']) + 1 } }))))
  t.strictSame(tally(values), { done: RACERS })
  const [user] = await usersIn(repository)
  t.match(user, { fields: { n: RACERS / 2 }, version: 1 + RACERS })
})
