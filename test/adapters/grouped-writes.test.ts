// Concurrent writes to the SQL stores are combined, and each gets its own answer.
import { test } from 'tap'
import type { Storage, UserChanges, UserRecord, VersionGuard } from '../../lib/storage/storage.ts'
import { migrated } from '../helpers/migrated.ts'
import { anyVersion, eventOf, everyone, idOf, rename, userOf } from '../helpers/records.ts'
import { stores } from '../helpers/stores.ts'
import { addUser, changeUser, wholeLog } from '../helpers/writes.ts'

const LATER = '2026-02-02T00:00:00.000Z'
const TEXT = 'O\'"\\{}[],\n\u{1f600}é'
const numbers = (length: number) => Array.from({ length }, (_, n) => n)
const codeOf = (answer: PromiseSettledResult<unknown>): unknown =>
  answer.status === 'fulfilled' ? 'ok' : answer.reason.code

/** The number of changes in the log that take a value before the change that gives it up. */
async function takenTooEarly (storage: Storage): Promise<number> {
  const ownerOf = new Map<unknown, string>()
  let count = 0
  for (const { subject, data } of await wholeLog(storage)) {
    for (const [value, owner] of ownerOf) if (owner === subject) ownerOf.delete(value)
    const { legacyId } = Object(data).fields
    if (ownerOf.has(legacyId)) count++
    ownerOf.set(legacyId, subject)
  }
  return count
}

const onlyVersion = (version: number): VersionGuard => ({ ifVersion: [version], unlessVersion: [] })

/** A user with texts that are difficult to quote. */
const richUser = (n: number) => userOf(n, { name: TEXT, fields: { a: [null, 1.5, true, { b: TEXT }], n } })

const changing = (storage: Storage) => (n: number, changes: UserChanges, guard = anyVersion) =>
  changeUser(storage, idOf('usr', n), changes, { updatedAt: LATER, guard })

/** What an update of the nth user returns. */
const updated = (n: number, members: Partial<UserRecord>) =>
  ({ user: userOf(n, { version: 2, updatedAt: LATER, ...members }), changed: true })

for (const { name, create: make } of stores.filter(({ name }) => name !== 'memory')) {
  test(`${name}: concurrent creations each get their own answer`, async (t) => {
    const storage = await migrated(t, await make(t))
    // Those that others meet are there before: which of two concurrent ones is first is not said.
    const taken = [7, 50, 60]
    for (const n of taken) await addUser(storage, userOf(n))
    const requests: Array<[user: UserRecord, code: string]> = [
      // These exist with another name, so they are other creations of their ids.
      ...numbers(200).map((n): [UserRecord, string] => [richUser(n), taken.includes(n) ? 'fault' : 'ok']),
      [userOf(300, { email: 'USER50@example.org' }), 'email_taken'],
      [userOf(60, { email: 'x@example.com' }), 'fault'],
      [userOf(301, { name: 'a\ud800b' }), 'fault'],
      [userOf(302), 'ok']
    ]
    const answers = await Promise.allSettled(requests.map(([user]) => addUser(storage, user)))
    t.strictSame(answers.map(codeOf), requests.map(([, code]) => code))
    const { items, total } = await storage.users.list(everyone, { order: 'asc', limit: 1000, from: { offset: 0 } })
    t.strictSame(items, [...numbers(200).map((n) => taken.includes(n) ? userOf(n) : richUser(n)), userOf(302)])
    t.equal(total, 201)
  })

  test(`${name}: concurrent updates each get their own answer`, async (t) => {
    const storage = await migrated(t, await make(t))
    await Promise.all(numbers(100).map((n) => addUser(storage, userOf(n))))
    const change = changing(storage)
    const fields = (n: number) => ({ n, text: '"\\' })
    const answers = await Promise.allSettled([
      ...numbers(40).map((n) => change(n, rename(`new ${n}`))),
      ...numbers(10).map((n) => change(40 + n, rename(`if ${n}`), onlyVersion(1))),
      ...numbers(10).map((n) => change(50 + n, { fields: fields(n) }, onlyVersion(1))),
      ...numbers(10).map((n) => change(60 + n, { ...rename('both'), fields: { n } })),
      change(70, rename(userOf(70).name)),
      change(71, { fields: {} }),
      change(999, rename('nobody')),
      change(72, rename('stale'), onlyVersion(2)),
      change(73, rename('huge'), onlyVersion(2 ** 40)),
      change(75, { email: { value: 'user1@example.org', key: 'user1@example.org' } }),
      change(76, { email: { value: 'New@example.com', key: 'new@example.com' } }),
      change(77, rename('unless'), { ifVersion: null, unlessVersion: [1] })
    ])
    const results = answers.map((answer) => answer.status === 'fulfilled' ? answer.value : answer.reason.code)
    t.strictSame(results, [
      ...numbers(40).map((n) => updated(n, { name: `new ${n}` })),
      ...numbers(10).map((n) => updated(40 + n, { name: `if ${n}` })),
      ...numbers(10).map((n) => updated(50 + n, { fields: fields(n) })),
      ...numbers(10).map((n) => updated(60 + n, { name: 'both', fields: { n } })),
      { user: userOf(70), changed: false },
      { user: userOf(71), changed: false },
      'not_found',
      'version_mismatch',
      'version_mismatch',
      'email_taken',
      updated(76, { email: 'New@example.com' }),
      'version_mismatch'
    ])
  })

  test(`${name}: records that a unique value is given up before it is taken`, async (t) => {
    const storage = await migrated(t, await make(t), { unique: ['legacyId'] })
    let n = 0
    const create = (id: number, legacyId: string) => {
      const user = userOf(id, { fields: { legacyId } })
      return addUser(storage, user, { event: eventOf(n++, 'user.created') })
    }
    const change = (id: number, legacyId: string) =>
      changeUser(storage, idOf('usr', id), { fields: { legacyId } }, {
        updatedAt: LATER, event: eventOf(n++, 'user.updated')
      })
    for (let id = 0; id < 60; id += 3) {
      await Promise.all([0, 1, 2].map((i) => create(id + i, `${id + i}`)))
      const answers = await Promise.allSettled([
        // Those that follow it wait for it.
        change(id, `other ${id}`),
        change(id + 2, `${id + 1}`),
        change(id + 1, `free ${id}`)
      ])
      const [first, taken, last] = answers.map(codeOf)
      t.strictSame([first, last], ['ok', 'ok'])
      t.match(taken, /^(?:ok|field_taken)$/)
    }
    t.equal(await takenTooEarly(storage), 0)
  })

  test(`${name}: a text that can not be stored fails alone among concurrent updates`, async (t) => {
    const storage = await migrated(t, await make(t))
    await Promise.all(numbers(3).map((n) => addUser(storage, userOf(n))))
    const names = ['good', 'a\0b', 'good']
    const answers = await Promise.allSettled(names.map((each, n) => changing(storage)(n, rename(each))))
    t.strictSame(answers.map(codeOf), ['ok', 'fault', 'ok'])
  })

  test(`${name}: concurrent updates of one user are made one after the other, under a guard just one`, async (t) => {
    const storage = await migrated(t, await make(t))
    await Promise.all(numbers(2).map((n) => addUser(storage, userOf(n))))
    const change = changing(storage)
    const all = await Promise.all(numbers(50).map((n) => change(0, rename(`try ${n}`))))
    const versions = all.map((each) => each.user.version).sort((a, b) => a - b)
    t.strictSame(versions, numbers(50).map((n) => n + 2))
    const guarded = await Promise.allSettled(numbers(50).map((n) => change(1, rename(`try ${n}`), onlyVersion(1))))
    t.equal(guarded.filter(({ status }) => status === 'fulfilled').length, 1)
    t.strictSame([...new Set(guarded.map(codeOf))].sort(), ['ok', 'version_mismatch'])
  })
}
