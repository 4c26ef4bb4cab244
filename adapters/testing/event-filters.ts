import assert from 'node:assert/strict'
import type { EventsRequest, NewEvent } from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readEvents, readWholeLog } from './event-values.ts'
import type { KitStorage } from './kit-storage.ts'
import { addTo } from './tenant-values.ts'
import { anyVersion, apiKeyOf, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const ids = (...numbers: number[]): string[] => numbers.map((n) => idOf('evt', n))
const by = (id: string): Partial<NewEvent> => ({ actor: { type: 'api_key', id, name: null } })

async function create (storage: KitStorage, n: number, event: NewEvent = eventOf(n, 'user.created')): Promise<void> {
  await storage.createUser(userOf(n), keysOf(userOf(n)), null, event)
}

async function change (storage: KitStorage, user: number, event: NewEvent): Promise<void> {
  await storage.updateUser(idOf('usr', user), rename(event.id), timeOf(50), anyVersion, event)
}

/** The ids of all events that are asked for, page by page. */
async function walk (storage: KitStorage, request: Partial<EventsRequest>, limit = 2): Promise<string[]> {
  const seen: string[] = []
  while (true) {
    const page = await logOf(storage).read({ after: seen.at(-1) ?? null, limit, types: null, ...request })
    assert.ok(page !== null, 'eventLog.read: the event to go on behind is there')
    seen.push(...page.events.map(({ id }) => id))
    if (!page.more) return seen
    assert.equal(page.events.length, limit, 'eventLog.read: where more follows, the page is full')
  }
}

/** Requires that a walk in both orders finds these events. */
async function requireBoth (
  storage: KitStorage, request: Partial<EventsRequest>, expected: readonly string[]
): Promise<void> {
  const what = JSON.stringify(request).slice(0, 200)
  for (const limit of [1, 2, 100]) {
    assert.deepEqual(await walk(storage, request, limit), expected, `${what} in pages of ${limit}`)
    const back = await walk(storage, { ...request, order: 'desc' }, limit)
    assert.deepEqual(back, expected.toReversed(), `${what}, newest first, in pages of ${limit}`)
  }
}

/** Duties of stores with an event log: the newest first, and which events are read. */
export const eventFilterCases: Cases = {
  'eventLog.read: newest first is the same order reversed, and what is new does not disturb a walk': async (
    storage
  ) => {
    const log = logOf(storage)
    const empty = { events: [], more: false, position: null }
    assert.deepEqual(await log.read({ after: null, limit: 2, types: null, order: 'desc' }), empty)
    // Ids that are not in the order of the writes.
    for (const n of [5, 3, 8, 1, 9]) await create(storage, n)
    await requireBoth(storage, {}, ids(5, 3, 8, 1, 9))
    await requireBoth(storage, { types: ['user.created', 'user.deleted'] }, ids(5, 3, 8, 1, 9))
    const read = async (request: Partial<EventsRequest>) => {
      const page = await log.read({ after: null, limit: 2, types: null, order: 'desc', ...request })
      return page && [page.events.map(({ id }) => id), page.more, page.position]
    }
    assert.deepEqual(await read({}), [ids(9, 1), true, idOf('evt', 9)])
    await create(storage, 4)
    assert.deepEqual(await read({ after: idOf('evt', 1) }), [ids(8, 3), true, null])
    assert.deepEqual(await read({ after: idOf('evt', 8) }), [ids(3, 5), false, null])
    assert.deepEqual(await read({ after: idOf('evt', 5) }), [[], false, null])
    assert.deepEqual(await read({ limit: 1 }), [ids(4), true, idOf('evt', 4)])
    assert.deepEqual(await read({ types: ['user.deleted'] }), [[], false, idOf('evt', 4)])
    for (const after of [idOf('evt', 2), 'x', "' OR 1=1 --", 'evt_\u0000']) assert.equal(await read({ after }), null)
    // The oldest of a walk may be pruned meanwhile.
    await log.prune(timeOf(900), 2)
    assert.deepEqual(await read({ after: idOf('evt', 8) }), [[], false, null])
    assert.equal(await read({ after: idOf('evt', 3) }), null)
    await requireBoth(storage, {}, ids(8, 1, 9, 4))
  },

  'eventLog.read: the events of a subject, with their number newest first': async (storage) => {
    for (const n of [1, 2]) await create(storage, n)
    for (const n of [9, 4, 6]) await change(storage, 1, eventOf(n, 'user.updated'))
    await change(storage, 2, eventOf(7, 'user.updated'))
    await storage.deleteUser(idOf('usr', 1), anyVersion, { ...eventOf(3, 'user.deleted'), erase: false })
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false }, eventOf(20, 'api_key.created'))
    const subject = idOf('usr', 1)
    await requireBoth(storage, { subject }, ids(1, 9, 4, 6, 3))
    await requireBoth(storage, { subject, types: ['user.updated', 'user.deleted'] }, ids(9, 4, 6, 3))
    await requireBoth(storage, { subject: idOf('key', 1) }, ids(20))
    for (const other of [idOf('usr', 99), 'usr_\u0000', '%', '']) await requireBoth(storage, { subject: other }, [])
    const read = (request: Partial<EventsRequest>) =>
      logOf(storage).read({ after: null, limit: 1, types: null, subject, ...request })
    const totals: Array<[request: Partial<EventsRequest>, total: number | undefined]> = [
      [{}, undefined], [{ order: 'desc' }, 5], [{ order: 'desc', types: ['user.updated'] }, 3],
      [{ order: 'desc', after: idOf('evt', 4) }, 5], [{ order: 'desc', until: timeOf(6) }, 3],
      [{ order: 'desc', subject: idOf('usr', 99) }, 0]
    ]
    for (const [request, total] of totals) {
      assert.equal((await read(request))?.total, total, JSON.stringify(request))
    }
    // Behind an event of another subject.
    for (const [order, expected] of [['asc', ids(3)], ['desc', ids(6, 4)]] as const) {
      const page = await read({ order, after: idOf('evt', 7), limit: 2 })
      assert.deepEqual(page?.events.map(({ id }) => id), expected)
    }
  },

  'eventLog.read: the events by an actor, whatever its id is': async (storage) => {
    const long = 'x'.repeat(3000)
    const actors = ['key', 'Key', 'a "quoted" \\ id', '\u0000', 'Ünï😀', long, `${long}y`, 'null', '%']
    for (const [i, id] of actors.entries()) {
      await create(storage, i + 1, eventOf(i + 1, 'user.created', by(id)))
      await change(storage, i + 1, eventOf(i + 101, 'user.updated', by(id)))
    }
    await create(storage, 90, eventOf(90, 'user.created', { actor: null }))
    await change(storage, 90, eventOf(91, 'user.updated', by('key')))
    for (const [i, actor] of actors.entries()) {
      const more = actor === 'key' ? ids(91) : []
      await requireBoth(storage, { actor }, [...ids(i + 1, i + 101), ...more])
      await requireBoth(storage, { actor, types: ['user.updated'] }, [...ids(i + 101), ...more])
    }
    await requireBoth(storage, { actor: 'key', subject: idOf('usr', 90) }, ids(91))
    for (const actor of ['ke', 'key ', 'KEY', 'x'.repeat(2999), '"key"']) await requireBoth(storage, { actor }, [])
  },

  'eventLog.read: a time that is asked for is among the events, its end is not, and none is left out': async (
    storage
  ) => {
    // Times that are out of order, as those of transactions that stay open and of clocks that differ.
    const times = [5, 1, 2, 6, 2, 900, 3, 7]
    for (const [i, time] of times.entries()) {
      const type = i % 2 === 0 ? 'user.created' : 'user.restored'
      await create(storage, i, eventOf(i, type, { timestamp: timeOf(time) }))
    }
    const between = (from: number, to: number): number[] =>
      times.flatMap((time, i) => time >= from && time < to ? [i] : [])
    for (const [since, until] of [[2, 6], [1, 3], [3, 3], [0, 1], [6, 901], [7, 900], [8, 9], [6, 2]] as const) {
      const request = { since: timeOf(since), until: timeOf(until) }
      await requireBoth(storage, request, ids(...between(since, until)))
      const created = between(since, until).filter((n) => n % 2 === 0)
      await requireBoth(storage, { ...request, types: ['user.created'] }, ids(...created))
      const both = { ...request, types: ['user.created', 'user.restored'] }
      await requireBoth(storage, both, ids(...between(since, until)))
    }
    for (const time of [0, 2, 6, 7, 900, 901]) {
      await requireBoth(storage, { since: timeOf(time) }, ids(...between(time, 9999)))
      await requireBoth(storage, { until: timeOf(time) }, ids(...between(0, time)))
    }
    await requireBoth(storage, { since: timeOf(2), subject: idOf('usr', 1) }, [])
    await requireBoth(storage, { until: timeOf(2), subject: idOf('usr', 1) }, ids(1))
    const page = await logOf(storage).read({ after: null, limit: 9, types: null, until: timeOf(2) })
    assert.deepEqual([page?.more, page?.position], [false, idOf('evt', 7)])
    await logOf(storage).prune(timeOf(9999), 4)
    await requireBoth(storage, { since: timeOf(1), until: timeOf(3) }, ids(4))
  },

  'eventLog.history: of some types alone, with their number': async (storage) => {
    await create(storage, 1)
    for (const n of [2, 3]) await change(storage, 1, eventOf(n, 'user.updated'))
    await storage.deleteUser(idOf('usr', 1), anyVersion, { ...eventOf(4, 'user.deleted'), erase: false })
    const history = async (types: string[], offset = 0) => {
      const { items, total } = await logOf(storage).history(idOf('usr', 1), { offset, limit: 2, types })
      return [items.map(({ id }) => id), total]
    }
    assert.deepEqual(await history(['user.updated']), [ids(3, 2), 2])
    assert.deepEqual(await history(['user.created', 'user.deleted', 'user.updated']), [ids(4, 3), 4])
    assert.deepEqual(await history(['user.created', 'user.updated'], 1), [ids(2, 1), 3])
    assert.deepEqual(await history([]), [[], 0])
    assert.deepEqual(await history(['user.%']), [[], 0])
  },

  'eventLog.read: a walk newest first has every event of before it, whoever writes meanwhile': async (storage) => {
    for (const n of [1, 2, 3]) await create(storage, n)
    for (let n = 4; n <= 20; n++) await change(storage, 1 + n % 3, eventOf(n, 'user.updated'))
    const before = (await readWholeLog(storage)).map(({ id }) => id).reverse()
    const writing = Promise.all(Array.from({ length: 20 }, (_, i) =>
      change(storage, 1 + i % 3, eventOf(100 - i, 'user.updated'))))
    const seen = await walk(storage, { order: 'desc' }, 3)
    await writing
    assert.equal(new Set(seen).size, seen.length, 'none comes twice')
    assert.deepEqual(seen.filter((id) => before.includes(id)), before)
    const after = (await readWholeLog(storage)).map(({ id }) => id).reverse()
    assert.deepEqual(await walk(storage, { order: 'desc' }), after)
  }
}

/** The same of a store with tenants. */
export const tenantEventFilterCases: Cases = {
  'eventLog.read, tenants: newest first and with filters a tenant has its own events alone': async (storage) => {
    for (const [tenant, n] of [['acme', 1], ['beta', 2], ['acme', 3], [undefined, 4], ['beta', 5]] as const) {
      await addTo(storage, tenant, n)
    }
    const tenant = 'acme'
    const actor = idOf('key', 7)
    await requireBoth(storage, { tenant }, ids(1, 3))
    // One actor has made them all.
    await requireBoth(storage, { tenant, actor }, ids(1, 3))
    await requireBoth(storage, { tenant, actor, types: ['user.created'] }, ids(1, 3))
    await requireBoth(storage, { tenant: 'beta', actor }, ids(2, 5))
    await requireBoth(storage, { tenant, since: timeOf(2) }, ids(3))
    await requireBoth(storage, { tenant, until: timeOf(3) }, ids(1))
    await requireBoth(storage, { tenant, subject: idOf('usr', 3) }, ids(3))
    await requireBoth(storage, { tenant, subject: idOf('usr', 2) }, [])
    const read = (request: Partial<EventsRequest>) =>
      logOf(storage).read({ after: null, limit: 1, types: null, order: 'desc', tenant, ...request })
    assert.equal((await read({}))?.position, idOf('evt', 3))
    assert.equal((await read({ subject: idOf('usr', 2) }))?.total, 0)
    assert.equal((await read({ subject: idOf('usr', 3) }))?.total, 1)
    assert.equal(await read({ after: idOf('evt', 2) }), null, 'the event of another tenant is not known')
    assert.equal((await readEvents(storage, { actor })).length, 5)
    const page = { offset: 0, limit: 9, types: ['user.created'], tenant }
    assert.deepEqual(await logOf(storage).history(idOf('usr', 2), page), { items: [], total: 0 })
  }
}
