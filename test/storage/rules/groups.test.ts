// What it means that users join groups and leave them, are put away and come back.
import type { GroupWrite, MembersAsked } from '../../../lib/storage/group-loop.ts'
import type { Repository } from '../../../lib/storage/repository.ts'
import type { GroupChange, GroupRecord, NewEvent } from '../../../lib/storage/storage.ts'
import { interrupted, processes, rules } from './on-stores.ts'
import {
  anyVersion, concurrently, create, eventOf, idOf, idsOf, onlyVersion, purge, putAway, RACERS, remove, restore, SINGLE,
  timeOf, upTo, userOf
} from './values.ts'
import { repositoryOf } from '../../../lib/storage/repository.ts'

const first = { order: 'asc', limit: 100, from: { offset: 0 } } as const

const groupOf = (n: number, members: Partial<GroupRecord> = {}): GroupRecord => ({
  id: idOf('grp', n),
  name: `Group ${n}`,
  nameKey: `group ${n}`,
  externalId: null,
  members: 0,
  version: 1,
  createdAt: timeOf(n),
  updatedAt: timeOf(n),
  ...members
})

const made = (n: number, members: readonly string[] = [], event: NewEvent | null = null): GroupWrite =>
  ({ type: 'create', group: groupOf(n), members, event })

const members = (n: number, asked: MembersAsked, given: Partial<GroupWrite & { type: 'update' }> = {}): GroupWrite => ({
  type: 'update',
  id: idOf('grp', n),
  changes: { members: asked },
  updatedAt: timeOf(900),
  guard: anyVersion,
  event: null,
  ...given
})

/** Who is in a group by its list, which must be what its record and the memberships say. */
async function membersIn (repository: Repository, n: number): Promise<string[]> {
  const group = idOf('grp', n)
  const { items, total } = await repository.users.list({ emailKey: null, words: null, fields: {}, group }, first)
  const { items: rows } = await repository.storage.list('memberships', { of: group, page: first })
  const ids = items.map(({ id }) => id)
  const said = { total, rows: rows.map(({ record: { member } }) => member), record: await countOf(repository, n) }
  const expected = { total: ids.length, rows: ids, record: ids.length }
  if (JSON.stringify(said) !== JSON.stringify(expected)) throw new Error(`${JSON.stringify(said)}, ${ids.join()}`)
  return ids
}

async function countOf ({ groups }: Repository, n: number): Promise<number> {
  return (await groups.find(idOf('grp', n)))?.members ?? 0
}

async function withUsers ({ users }: Repository, ...numbers: number[]): Promise<void> {
  for (const n of numbers) await users.writeOne(create(userOf(n)))
}

const ids = (...numbers: number[]): string[] => idsOf('usr', numbers)

rules('members are added, removed and replaced, and a change without a difference makes no version', async (
  t, { repository }
) => {
  const { groups } = repository
  await withUsers(repository, 1, 2, 3)
  t.match(await groups.write(made(1, ids(1, 1))), { code: 'done', group: { members: 1, version: 1 } })
  t.match(await groups.write(members(1, { add: ids(1, 2, 2), remove: ids(3) })), {
    code: 'done', isChanged: false, group: { members: 2, version: 2 }, members: { added: ids(2), removed: [] }
  })
  t.match(await groups.write(members(1, { add: ids(2), remove: ids(3) })), { group: { version: 2 }, members: null })
  t.match(await groups.write(members(1, { add: ids(1, 3), remove: ids(1) })),
    { members: { added: ids(3), removed: ids(1) } }, 'of one who is in both lists the last word is remove')
  t.strictSame(await membersIn(repository, 1), ids(2, 3))
  t.match(await groups.write(members(1, { all: ids(1, 2) })), { members: { added: ids(1), removed: ids(3) } })
  t.strictSame(await membersIn(repository, 1), ids(1, 2))
  t.match(await groups.write(members(1, { all: [] })), { group: { members: 0, version: 5 } })
  const unknown = [...ids(1), idOf('usr', 99), 'x']
  t.strictSame(await groups.write(members(1, { add: unknown })), { code: 'members_unknown', ids: unknown.slice(1) })
  t.strictSame(await groups.write(members(2, {})), { code: 'not_found' })
  t.strictSame(await groups.write(members(1, { add: ids(1) }, { guard: onlyVersion(4) })), { code: 'version_mismatch' })
  t.strictSame(await membersIn(repository, 1), [])
})

rules('users of another tenant, or of none, are no members of a tenant’s group', async (t, { repository }) => {
  const { groups, users } = repository
  await users.writeOne(create(userOf(1)), { tenant: 'acme' })
  await users.writeOne(create(userOf(2)), { tenant: 'beta' })
  await withUsers(repository, 3)
  const own = { ...groupOf(1), tenant: 'acme' }
  t.strictSame(await groups.write({ type: 'create', group: own, members: ids(1, 2, 3), event: null }),
    { code: 'members_unknown', ids: ids(2, 3) })
  t.match(await groups.write({ type: 'create', group: own, members: ids(1), event: null }), { code: 'done' })
  t.match(await groups.write(made(2, ids(3))), { code: 'done' })
  t.strictSame(await groups.write(made(3, ids(1))), { code: 'members_unknown', ids: ids(1) })
  for (const tenant of ['beta', 'none']) {
    t.strictSame(await groups.write(members(1, { remove: ids(1) }, { tenant })), { code: 'not_found' })
    t.equal(await groups.find(own.id, tenant), null)
  }
  // A removal of the tenant takes its groups, and members of groups of nobody's.
  await repository.tenants.assign('acme', { after: null, limit: 100 })
  t.strictSame(await membersIn(repository, 2), ids(3))
  while (await repository.tenants.remove('acme', 100) > 0);
  t.strictSame([await groups.find(own.id), await membersIn(repository, 2)], [null, []])
  t.strictSame((await users.list({ emailKey: null, words: null, fields: {} }, first)).items.map(({ id }) => id), ids(2))
})

rules('who is deleted or put away leaves its groups, and who is restored is back', async (t, { repository, write }) => {
  const told: GroupChange[] = []
  const scope = { onGroups: (changes: readonly GroupChange[]) => { told.push(...changes) } }
  await withUsers(repository, 1, 2, 3, 4)
  for (const n of [1, 2, 3]) await repository.groups.write(made(n, ids(1, 2, 3)))
  await write(putAway(1), scope)
  await write(remove(2), scope)
  await write(purge(3), scope)
  t.strictSame([await membersIn(repository, 1), await membersIn(repository, 2)], [[], []])
  t.equal((await repository.groups.find(idOf('grp', 1)))?.version, 4)
  t.strictSame(told.map(({ group, added, removed }) => [group.id, group.members, added, removed]),
    [1, 2, 3].flatMap((user) => [1, 2, 3].map((n) => [idOf('grp', n), 3 - user, [], ids(user)])))
  await repository.groups.write({ type: 'delete', id: idOf('grp', 2), guard: anyVersion, event: null })
  await write(restore(1), scope)
  t.strictSame([await membersIn(repository, 1), await membersIn(repository, 3)], [ids(1), ids(1)])
  t.equal((await repository.groups.ofUser(idOf('usr', 1), first)).total, 2, 'a group that was deleted has nobody back')
  t.strictSame(told.slice(9).map(({ group, added }) => [group.id, added]), [1, 3].map((n) => [idOf('grp', n), ids(1)]))
  // In the trash they are nobody’s business, and without groups nothing is kept.
  t.match(await repository.trash.find(idOf('usr', 1)), null)
  await write(putAway(4))
  t.notOk('groups' in Object((await repository.trash.find(idOf('usr', 4)))?.user))
})

rules('writes of one call change a group once, and who leaves and is back has not left', async (t, { repository }) => {
  const told: GroupChange[] = []
  const options = { ...SINGLE, onGroups: (changes: readonly GroupChange[]) => { told.push(...changes) } }
  await withUsers(repository, ...upTo(6))
  await repository.groups.write(made(1, ids(...upTo(5))))
  await repository.groups.write(made(2, ids(5)))
  const event = eventOf(70, 'user.deleted')
  await repository.users.write([
    remove(1, { event }), putAway(2), putAway(3), restore(3), purge(4), create(userOf(4)), remove(6)
  ], options)
  t.strictSame(await membersIn(repository, 1), ids(3, 5))
  t.match(await repository.groups.find(idOf('grp', 1)), { version: 2, members: 2 })
  t.strictSame(told.map(({ removed, added }) => [removed, added]), [[ids(1, 2, 4), []]])
  const recorded = (await repository.events.read({ after: null, limit: 9, types: null }))?.events ?? []
  t.match(recorded.filter(({ type }) => type === 'group.members_changed'), [{
    subject: idOf('grp', 1), data: { id: idOf('grp', 1), members: 2, version: 2, removed: ids(1, 2, 4), added: [] }
  }])
})

rules('a name is taken in its tenant, and a version guards a group', async (t, { repository: { groups } }) => {
  await groups.write(made(1))
  const same = groupOf(2, { nameKey: 'group 1' })
  t.strictSame(await groups.write({ type: 'create', group: same, members: [], event: null }), { code: 'name_taken' })
  await groups.write(made(2))
  const name = { value: 'GROUP 1', key: 'group 1' }
  t.strictSame(await groups.write(members(2, {}, { changes: { name } })), { code: 'name_taken' })
  t.match(await groups.write(members(1, {}, { changes: { name, externalId: 'x' } })),
    { isChanged: true, group: { name: 'GROUP 1', externalId: 'x', version: 2 } })
  const gone = { type: 'delete', id: idOf('grp', 1), event: null } as const
  t.strictSame(await groups.write({ ...gone, guard: onlyVersion(1) }), { code: 'version_mismatch' })
  t.match(await groups.write({ ...gone, guard: onlyVersion(2) }), { code: 'done' })
  t.strictSame((await groups.list({ nameKey: 'group 1' }, first)).total, 0)
})

processes('members who join in one process while others go in another one are counted', async (t, [one, two]) => {
  const [here, there] = [repositoryOf(one), repositoryOf(two)]
  const numbers = upTo(RACERS)
  await withUsers(here, ...numbers)
  await here.groups.write(made(1))
  await here.groups.write(made(2, ids(...numbers)))
  await Promise.all(numbers.flatMap((n) => [
    there.groups.write(members(1, { add: ids(n) })),
    n % 2 === 0
      ? here.users.writeOne(putAway(n), { onGroups () {} })
      : here.groups.write(members(2, { remove: ids(n) }))
  ]))
  const odd = numbers.filter((n) => n % 2 === 1)
  t.strictSame([await membersIn(here, 1), await membersIn(here, 2)], [ids(...odd), []])
  await concurrently((i) => there.users.writeOne(restore(i + 1)))
  const back = await membersIn(here, 1)
  t.strictSame(await membersIn(here, 2), ids(...numbers.filter((n) => n % 2 === 0)))
  t.ok(odd.every((n) => back.includes(idOf('usr', n))))
}, 'ci')

rules('a deletion meets a user who joins a group at that moment', async (t, { storage, repository }) => {
  for (const [n, onGroups] of [[1, undefined], [2, () => {}]] as const) {
    await withUsers(repository, n)
    await repository.groups.write(made(n))
    const joins = () => repository.groups.write(members(n, { add: ids(n) }))
    const { users } = repositoryOf(interrupted(storage, [joins]).storage)
    t.match(await users.writeOne(putAway(n), { onGroups }), { code: 'done' })
    t.strictSame(await membersIn(repository, n), [])
    await repository.users.writeOne(restore(n))
    t.strictSame(await membersIn(repository, n), ids(n), 'it was put away with the group')
  }
  // And a change of a group a user who goes.
  await withUsers(repository, 3)
  await repository.groups.write(made(3))
  const { groups } = repositoryOf(interrupted(storage, [() => repository.users.writeOne(remove(3))]).storage)
  t.strictSame(await groups.write(members(3, { add: ids(3) })), { code: 'members_unknown', ids: ids(3) })
})

rules('an event has at most a thousand ids', async (t, { repository, recorded }) => {
  const all = upTo(1200)
  await repository.users.write(all.map((n) => create(userOf(n))), SINGLE)
  await repository.groups.write(made(1, ids(...all), eventOf(1, 'group.created')))
  const events = (await recorded()).filter(({ type }) => type === 'group.members_changed')
  t.strictSame(events.map(({ data }) => [Object(data['added']).length, data['removed']]), [[1000, []], [200, []]])
  t.equal(new Set(events.map(({ id }) => id)).size, 2)
})
