// Two processes on one database: what one remembers or has read is not what the other has left.
import { type Repository, repositoryOf } from '../../../lib/storage/repository.ts'
import type { UserWrite } from '../../../lib/storage/user-writes.ts'
import { until } from '../../helpers/until.ts'
import { interrupted, processes } from './on-stores.ts'
import {
  addKey, addKeys, after, apiKeyOf, ATOMIC, awayIn, concurrently, create, done, idOf, idsOf, keyed, onlyVersion,
  purge, putAway, RACERS, readdress, remove, rename, restore, revoke, SINGLE, tally, timeOf, update, upTo, userOf,
  usersIn, makes, writesKeys
} from './values.ts'

const NOT_FOUND = { code: 'not_found' }
const ADMIN = { scopes: ['keys:write'] }
const KEEP = { keepOneWith: ['keys:write'] }
const dated = (at: number) => ({ updatedAt: timeOf(at) })

processes('what a process remembers of a user is never believed wrongly', async (t, [first, second]) => {
  const [one, other] = [repositoryOf(first), repositoryOf(second)]
  const imported = userOf(1, { name: 'Imported', version: 2, updatedAt: timeOf(950) })
  const changes = makes(update(1, rename('X'), dated(910)))
  const rows: Array<[string, happens: (repository: Repository) => Promise<unknown>, UserWrite, expected: object]> = [
    ['it was changed', changes, update(1, { fields: { a: 1 } }),
      done(after(1, { name: 'X', fields: { a: 1 }, version: 4, ...dated(910) }))],
    ['it was changed to what is asked for', changes, update(1, rename('X')),
      done(after(1, { name: 'X', version: 3, ...dated(910) }), false)],
    ['it was changed from what is asked for', changes, update(1, rename('Mine')),
      done(after(1, { name: 'Mine', version: 4, ...dated(910) }))],
    ['the guard is for the other version', changes, update(1, rename('Y'), { guard: onlyVersion(3) }),
      done(after(1, { name: 'Y', version: 4, ...dated(910) }))],
    ['the guard was for its version', changes, remove(1, { guard: onlyVersion(2) }), { code: 'version_mismatch' }],
    ['it was deleted', makes(remove(1)), update(1, rename('X')), NOT_FOUND],
    ['it was deleted before a deletion', makes(remove(1)), remove(1), NOT_FOUND],
    ['its id was given again', makes(remove(1), create(imported)), update(1, { fields: { a: 1 } }),
      done({ ...imported, fields: { a: 1 }, version: 3 })],
    ['its id was given again before a deletion', makes(remove(1), create(imported)), remove(1), done(imported)],
    ['it was given to a tenant', ({ tenants }) => tenants.assign('acme', { after: null, limit: 99 }),
      update(1, { fields: { a: 1 } }), done(after(1, { name: 'Mine', fields: { a: 1 }, tenant: 'acme', version: 3 }))],
    ['it was put away and restored', makes(putAway(1), restore(1, dated(910))), update(1, rename('X')),
      done(after(1, { name: 'X', version: 4, ...dated(910) }))]
  ]
  for (const [what, happens, write, expected] of rows) {
    await one.users.writeOne(create(userOf(1)))
    await one.users.writeOne(update(1, rename('Mine')))
    await happens(other)
    t.strictSame(await one.users.writeOne(write), expected, what)
    await other.users.writeOne(purge(1))
  }
})

processes('who was removed with a tenant by another process is not there', async (t, [first, second]) => {
  const [one, other] = [repositoryOf(first), repositoryOf(second)]
  const scope = { tenant: 'acme' }
  for (const n of [1, 2, 3]) {
    await one.users.writeOne(create(userOf(n)), scope)
    await one.users.writeOne(update(n, rename('X')), scope)
  }
  while (await other.tenants.remove('acme', 2) > 0);
  t.strictSame(await one.users.writeOne(update(1, rename('Y')), scope), NOT_FOUND)
  t.strictSame(await one.users.writeOne(remove(2)), NOT_FOUND)
  await one.users.writeOne(create(userOf(3, { version: 2, name: 'Again', updatedAt: timeOf(950) })))
  await one.tenants.remove('acme', 2)
  t.match(await one.users.writeOne(update(3, { fields: { a: 1 } })), { user: { name: 'Again', version: 3 } })
  t.strictSame((await usersIn(other)).map(({ id }) => id), idsOf('usr', [3]))
})

processes('who is moved between the readings of a purge is purged', async (t, [first, second]) => {
  const other = repositoryOf(second)
  for (const [move, reads] of [[putAway(1), 'trash'], [restore(1), 'users']] as const) {
    for (const way of ['writeOne', 'write'] as const) {
      await other.users.writeOne(create(userOf(1)))
      if (move.type === 'restore') await other.users.writeOne(putAway(1))
      let isMoved = false
      /** The one place is read before the move, and the other one after it. */
      const around = async <Rows> (name: string, read: () => Promise<Rows>): Promise<Rows> => {
        if (name !== reads) await until('the move', () => isMoved)
        const rows = await read()
        if (name === reads && !isMoved) {
          await other.users.writeOne(move)
          isMoved = true
        }
        return rows
      }
      const { users } = repositoryOf({
        ...first,
        find: (name, keys) => around(name, () => first.find(name, keys)),
        users: { ...first.users, find: (id) => around('users', () => first.users.find(id)) }
      })
      const outcome = way === 'writeOne'
        ? await users.writeOne(purge(1))
        : (await users.write([purge(1)], SINGLE)).outcomes[0]
      t.match(outcome, { code: 'done' }, `${move.type}, ${way}`)
      t.strictSame([await usersIn(other), await awayIn(other)], [[], []])
    }
  }
})

processes('a new id that another has given meanwhile is a mistake of the program', async (t, [first, second]) => {
  const other = repositoryOf(second)
  for (const [does, amid] of [
    [makes(create(userOf(1))), makes(create(userOf(1, { email: 'x@example.org' })))],
    [writesKeys(addKey(1)), writesKeys(addKey(1, { start: apiKeyOf(9).start }))],
    [writesKeys(addKey(2)), writesKeys(addKey(3, { start: apiKeyOf(2).start }))]
  ] as const) {
    await t.rejects(does(repositoryOf(interrupted(first, [() => amid(other)]).storage)), { code: 'fault' })
  }
})

processes('of concurrent writes of two processes none is lost', async (t, [first, second]) => {
  const both = [repositoryOf(first), repositoryOf(second)] as const
  const at = (i: number): Repository => both[i % 2 === 0 ? 0 : 1]
  const [one] = both
  for (const n of [1, 2, 3]) await one.users.writeOne(create(userOf(n, { fields: { n: 0 } })))
  await addKeys(one, ...upTo(8).map((n) => apiKeyOf(n, ADMIN)))
  const count = ({ fields }: { fields: Record<string, unknown> }) => ({ fields: { n: Number(fields['n']) + 1 } })
  const updates = await concurrently((i) => at(i).users.writeOne(update(1, count)))
  t.strictSame([tally(updates.values), updates.codes], [{ done: RACERS }, []])
  t.match(await one.users.find(idOf('usr', 1)), { fields: { n: RACERS }, version: 1 + RACERS })
  const orders = await concurrently((i) => at(i).users.write(
    (i % 4 < 2 ? [2, 3] : [3, 2]).map((n) => update(n, count)), i % 3 === 0 ? ATOMIC : SINGLE))
  t.strictSame(orders.codes, [])
  t.match((await usersIn(one)).slice(1), Array(2).fill({ fields: { n: RACERS }, version: 1 + RACERS }))
  const address = await concurrently((i) => at(i).users.writeOne(update(i % 3 + 1, readdress('one@example.org'))))
  t.equal(address.values.filter(({ code }) => code === 'email_taken').length >= RACERS / 2, true)
  const keyless = await concurrently((i) => at(i).users.write([create(userOf(100 + i))], keyed(1)))
  t.equal(keyless.values.filter(({ replayed }) => !replayed).length, 1)
  const revocations = await concurrently((i) => at(i).apiKeys.write(revoke(i + 1, 100, KEEP)), 8)
  t.strictSame(tally(revocations.values), { done: 7, last_admin_key: 1 })
})
