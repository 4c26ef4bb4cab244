import assert from 'node:assert/strict'
import type { UserChanges, UserFilter, WriteOutcome } from '../../lib/storage/storage.ts'
import { update, writeBatch } from './batch-values.ts'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readWholeLog } from './event-values.ts'
import type { KitStorage } from './kit-storage.ts'
import { firstPage, idsOf, upTo } from './list-values.ts'
import {
  addUsers, anyVersion, concurrently, CONCURRENT_CALLS, everyone, idOf, keysOf, onlyVersion, rename, TEXTS, timeOf,
  userOf
} from './values.ts'

const SUSPENDED = { status: 'suspended', statusReason: 'unpaid' } as const
const ACTIVE = { status: 'active', statusReason: null } as const

function change (storage: KitStorage, n: number, changes: UserChanges, at = 900) {
  return storage.updateUser(idOf('usr', n), changes, timeOf(at), anyVersion)
}

/** Seven users with plans: 2, 3 and 6 are suspended, 3 since its creation. */
async function addSome (storage: KitStorage): Promise<void> {
  await storage.migrate({ filterable: ['plan'] })
  for (const n of upTo(7)) {
    const user = userOf(n, { fields: { plan: n % 2 === 0 ? 'pro' : 'free' }, ...(n === 3 && SUSPENDED) })
    await storage.createUser(user, keysOf(user), null)
  }
  for (const n of [2, 6, 7]) await change(storage, n, { status: 'suspended' })
  await change(storage, 7, { status: 'active' })
}

/** Which users each filter by status finds, with some other part. */
const FOUND: ReadonlyArray<readonly [filter: Partial<UserFilter>, numbers: readonly number[]]> = [
  [{ status: 'suspended' }, [2, 3, 6]],
  [{ status: 'active' }, [1, 4, 5, 7]],
  [{ status: 'suspended', fields: { plan: 'pro' } }, [2, 6]],
  [{ status: 'active', fields: { plan: 'pro' } }, [4]],
  [{ status: 'suspended', words: [['user']] }, [2, 3, 6]],
  [{ status: 'active', words: [['user', '5']] }, [5]],
  [{ status: 'active', words: [['user', '6']] }, []],
  [{ status: 'suspended', emailKey: 'user6@example.org' }, [6]],
  [{ status: 'active', emailKey: 'user6@example.org' }, []],
  [{ status: 'suspended', emailKey: 'user6@example.org', words: [['user']], fields: { plan: 'pro' } }, [6]],
  [{ status: 'suspended', emailKey: 'user6@example.org', words: [['user']], fields: { plan: 'free' } }, []]
]

/** Duties about the status of users. */
export const statusCases: Cases = {
  'create: a user may be suspended from the start, for any reason': async (storage) => {
    for (const [n, statusReason] of [...TEXTS, 'x'.repeat(200), null].entries()) {
      const user = userOf(n, { status: 'suspended', statusReason })
      assert.deepEqual((await storage.createUser(user, keysOf(user), null)).user, user)
      assert.deepEqual(await storage.findUser(user.id), user)
    }
  },

  'update: a status and its reason are stored, by themselves and with other members': async (storage) => {
    await addUsers(storage, 1, 2)
    const steps: ReadonlyArray<readonly [changes: UserChanges, stored: object]> = [
      [{ status: 'suspended' }, { status: 'suspended' }],
      [{ statusReason: 'unpaid' }, { status: 'suspended', statusReason: 'unpaid' }],
      [{ status: 'active' }, { status: 'active', statusReason: 'unpaid' }],
      [{ statusReason: null }, {}],
      [{ ...SUSPENDED, ...rename('Name') }, { ...SUSPENDED, name: 'Name' }],
      [{ statusReason: null, fields: { plan: 'pro' } }, { status: 'suspended', name: 'Name', fields: { plan: 'pro' } }],
      // As a replacement has it: the status that is stored already, and another name.
      [
        { status: 'suspended', statusReason: null, fields: { plan: 'pro' }, ...rename('Other') },
        { status: 'suspended', name: 'Other', fields: { plan: 'pro' } }
      ],
      [{ ...ACTIVE, ...rename('Last') }, { name: 'Last', fields: { plan: 'pro' } }]
    ]
    for (const [i, [changes, stored]] of steps.entries()) {
      const user = userOf(1, { version: 2 + i, updatedAt: timeOf(901 + i), ...stored })
      assert.deepEqual(await change(storage, 1, changes, 901 + i), { user, changed: true }, `step ${i}`)
      assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
    }
    assert.deepEqual(await storage.findUser(idOf('usr', 2)), userOf(2), 'nobody else is changed')
    assert.equal(await change(storage, 9, SUSPENDED), null)
  },

  'update: a status and a reason that are stored already change nothing': async (storage) => {
    await addUsers(storage, 1)
    const same: UserChanges[] = [{ status: 'active' }, { statusReason: null }, { ...ACTIVE, ...rename('User 1') }]
    for (const changes of same) {
      assert.deepEqual(await change(storage, 1, changes), { user: userOf(1), changed: false })
    }
    await change(storage, 1, SUSPENDED)
    const user = userOf(1, { ...SUSPENDED, version: 2, updatedAt: timeOf(900) })
    for (const changes of [SUSPENDED, { status: 'suspended' as const }, { statusReason: 'unpaid' }]) {
      assert.deepEqual(await change(storage, 1, changes, 950), { user, changed: false })
    }
  },

  'update: a guard and a taken address refuse a change of the status as any other': async (storage) => {
    await addUsers(storage, 1, 2)
    const [id, taken] = [idOf('usr', 1), { email: { value: 'User2@Example.org', key: 'user2@example.org' } }]
    await assert.rejects(storage.updateUser(id, SUSPENDED, timeOf(900), onlyVersion(2)), { code: 'version_mismatch' })
    await assert.rejects(change(storage, 1, { ...SUSPENDED, ...taken }), { code: 'email_taken' })
    assert.deepEqual(await storage.findUser(id), userOf(1))
    const made = await storage.updateUser(id, SUSPENDED, timeOf(0), onlyVersion(1))
    assert.deepEqual(made?.user, userOf(1, { ...SUSPENDED, version: 2 }), 'updatedAt never goes back')
  },

  'listUsers: a status filters with an exact total, alone and with every other part of a filter': async (storage) => {
    await addSome(storage)
    for (const [part, numbers] of FOUND) {
      const filter = { ...everyone, ...part }
      for (const order of ['asc', 'desc'] as const) {
        const ids = order === 'asc' ? idsOf(numbers) : idsOf(numbers).reverse()
        for (const from of [{ offset: 0 }, { offset: 1 }, { after: idOf('usr', 3) }]) {
          const { items, total } = await storage.listUsers(filter, { order, limit: 2, from })
          const rest = 'offset' in from
            ? ids.slice(from.offset)
            : ids.filter((id) => order === 'asc' ? id > from.after : id < from.after)
          assert.deepEqual({ ids: items.map(({ id }) => id), total }, { ids: rest.slice(0, 2), total: ids.length },
            JSON.stringify({ ...part, order, from }))
        }
      }
    }
    assert.equal((await storage.listUsers(everyone, firstPage(1))).total, 7)
  },

  'readUsers: a status filters, alone and with every other part of a filter': async (storage) => {
    await addSome(storage)
    for (const [part, numbers] of FOUND) {
      const read: string[] = []
      const filter = { ...everyone, ...part }
      await storage.readUsers(filter, 'asc', async (users) => { read.push(...users.map(({ id }) => id)) })
      assert.deepEqual(read, idsOf(numbers), JSON.stringify(part))
    }
  },

  'update: of concurrent changes of the status and of the name none is lost': async (storage) => {
    await addUsers(storage, 1)
    const { codes } = await concurrently((i) => change(storage, 1, i % 2 === 0
      ? { status: i % 4 === 0 ? 'suspended' : 'active', statusReason: `reason ${i}` }
      : rename(`Name ${i}`), 901 + i))
    assert.deepEqual(codes, [])
    const user = await storage.findUser(idOf('usr', 1))
    assert.equal(user?.version, 1 + CONCURRENT_CALLS)
    assert.equal(Number(user?.statusReason?.slice('reason '.length)) % 4 === 0, user?.status === 'suspended',
      'a status has the reason that came with it')
  }
}

const typesIn = (outcomes: readonly WriteOutcome[]) =>
  outcomes.map((outcome) => outcome.code === 'done' ? outcome.types : outcome.code)

/** Duties about the outcomes of changes of the status. */
export const statusOutcomeCases: Cases = {
  'update: the outcome of a change of the status has the types of its events': async (storage) => {
    await addUsers(storage, 1)
    const steps: ReadonlyArray<readonly [changes: UserChanges, types: string[] | undefined]> = [
      [{ status: 'suspended' }, ['user.suspended']],
      [SUSPENDED, undefined],
      [{ status: 'suspended', ...rename('Name') }, undefined],
      [{ ...ACTIVE, ...rename('Other') }, ['user.updated', 'user.activated']],
      [{ status: 'suspended', fields: { plan: 'pro' } }, ['user.updated', 'user.suspended']],
      [ACTIVE, ['user.activated']],
      [{ status: 'active' }, undefined]
    ]
    for (const [changes, types] of steps) {
      assert.deepEqual(typesIn((await writeBatch(storage, [update(1, changes)])).outcomes), [types],
        JSON.stringify(changes))
    }
  }
}

const withEvent = (storage: KitStorage, n: number, changes: UserChanges) =>
  storage.updateUser(idOf('usr', 1), changes, timeOf(900 + n), anyVersion, eventOf(n, 'user.updated'))

/** Types, versions, and what was before. */
const seen = async (storage: KitStorage) =>
  (await readWholeLog(storage)).map(({ type, data: { version }, before }) => [type, version, before])

/** Duties of stores with an event log. */
export const statusEventCases: Cases = {
  'eventLog: a change of the status has an event of its own type, with other members behind theirs': async (
    storage
  ) => {
    await addUsers(storage, 1)
    await withEvent(storage, 1, { status: 'suspended' })
    await withEvent(storage, 2, { statusReason: 'unpaid' })
    await withEvent(storage, 3, { ...ACTIVE, ...rename('Name') })
    await withEvent(storage, 4, { ...SUSPENDED, fields: { plan: 'pro' } })
    await withEvent(storage, 5, { ...SUSPENDED, fields: { plan: 'pro' } })
    await withEvent(storage, 6, { ...SUSPENDED, ...rename('Last') })
    await withEvent(storage, 7, { statusReason: null, ...rename('Very last') })
    assert.deepEqual(await seen(storage), [
      ['user.suspended', 2, { status: 'active' }],
      ['user.updated', 3, { statusReason: null }],
      ['user.updated', 4, { name: 'User 1', status: 'suspended', statusReason: 'unpaid' }],
      ['user.activated', 4, { status: 'suspended', statusReason: 'unpaid' }],
      ['user.updated', 5, { fields: {}, status: 'active', statusReason: null }],
      ['user.suspended', 5, { status: 'active', statusReason: null }],
      ['user.updated', 6, { name: 'Name' }],
      ['user.updated', 7, { name: 'Last', statusReason: 'unpaid' }]
    ])
    const events = await readWholeLog(storage)
    const given = [0, 1, 2, 4, 6, 7].map((i) => events[i]?.id)
    assert.deepEqual(given, [1, 2, 3, 4, 6, 7].map((n) => idOf('evt', n)), 'the first event has the id that was given')
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length, 'the second event has an id of its own')
    for (const { id } of events) assert.equal((await logOf(storage).find(id))?.id, id)
    const { status, statusReason } = Object(events.at(-1)?.data)
    assert.deepEqual({ status, statusReason }, { status: 'suspended', statusReason: null })
  },

  'eventLog.erase: takes the reasons of a user, and leaves the status': async (storage) => {
    await addUsers(storage, 1)
    await withEvent(storage, 1, SUSPENDED)
    await withEvent(storage, 2, { ...ACTIVE, ...rename('Name') })
    await logOf(storage).erase(idOf('usr', 1))
    const events = await readWholeLog(storage)
    assert.deepEqual(events.map(({ data: { status, statusReason } }) => [status, statusReason]),
      [['suspended', null], ['active', null], ['active', null]])
    assert.deepEqual(events.map(({ before }) => before), [
      { status: 'active', statusReason: null },
      { name: null, status: 'suspended', statusReason: null },
      { status: 'suspended', statusReason: null }
    ])
  }
}
