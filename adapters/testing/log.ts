import assert from 'node:assert/strict'
import type { EventRecord, EventsPage, EventsRequest, Rewrite, Storage } from '../../lib/storage/storage.ts'
import type { Subject } from './cases.ts'
import { commit, eventOf, make, OK } from './rows.ts'
import { randomFrom } from './shrink.ts'
import { idOf, timeOf } from './values.ts'

const UNKNOWN = ['x', '', '%', 'evt_\u0000', "' OR 1=1 --", idOf('evt', 999), idOf('usr', 1)]
const LONG = 'x'.repeat(3000)
const ACTORS = ['key', 'Key', 'a "quoted" \\ id', '\u0000', 'Ünï😀', LONG, `${LONG}y`, 'null', '%']
const TYPES = ['user.created', 'user.updated', 'user.deleted', 'api_key.created']
const TENANTS = [undefined, 'acme', 'beta']
const DRAWN = 150

const idsIn = (events: readonly EventRecord[]): string[] => events.map(({ id }) => id)

/** Events whose ids, times, types, subjects, actors and tenants are in no order. */
const EVENTS: readonly EventRecord[] = Array.from({ length: 60 }, (_, i) => {
  const tenant = TENANTS[i * 5 % 3]
  return eventOf(i * 37 % 61, {
    type: TYPES[i * 3 % 4] ?? '',
    timestamp: timeOf(i * 11 % 17),
    subject: i % 7 === 6 ? idOf('key', 1) : idOf('usr', i % 3),
    actor: i % 10 === 9 ? null : { type: 'api_key', id: ACTORS[i % 9] ?? '', name: null },
    ...tenant !== undefined && { tenant }
  })
})

/** What a log answers, in plain JavaScript. */
function expectedPage (log: readonly EventRecord[], request: EventsRequest): EventsPage | null {
  const { after, limit, types, order = 'asc', subject, actor, since = '', until, tenant } = request
  const isOwn = (event: EventRecord): boolean => tenant === undefined || event.tenant === tenant
  const all = order === 'asc' ? [...log] : log.toReversed()
  const place = after === null ? -1 : all.findIndex((event) => event.id === after && isOwn(event))
  if (after !== null && place === -1) return null
  const isMeant = (event: EventRecord): boolean => isOwn(event) && (types === null || types.includes(event.type)) &&
    (subject === undefined || event.subject === subject) && (actor === undefined || event.actor?.id === actor) &&
    event.timestamp >= since && (until === undefined || event.timestamp < until)
  const found = all.slice(place + 1).filter(isMeant)
  const events = found.slice(0, limit)
  const more = found.length > limit
  const last = log.filter(isOwn).at(-1)?.id ?? null
  const passed = order === 'desc' ? (after === null ? last : null) : more ? events.at(-1)?.id ?? null : last
  const total = order === 'desc' && subject !== undefined ? { total: all.filter(isMeant).length } : {}
  return { events, more, position: passed, ...total }
}

async function requirePage (
  storage: Storage, log: readonly EventRecord[], asked: Partial<EventsRequest>
): Promise<void> {
  const request = { after: null, limit: 100, types: null, ...asked }
  const what = `log.read(${JSON.stringify(request).slice(0, 300)})`
  const [page, expected] = [await storage.log.read(request), expectedPage(log, request)]
  const shown = (each: EventsPage | null) => each && { ...each, events: idsIn(each.events) }
  assert.deepEqual(shown(page), shown(expected), what)
  assert.deepEqual(page?.events, expected?.events, what)
}

/** The whole log, read on after the last event of each page. */
export async function wholeLog (storage: Storage, asked: Partial<EventsRequest> = {}): Promise<EventRecord[]> {
  const all: EventRecord[] = []
  while (true) {
    const page = await storage.log.read({ after: all.at(-1)?.id ?? null, limit: 100, types: null, ...asked })
    assert.ok(page !== null, 'log.read: the event to go on behind is there')
    all.push(...page.events)
    if (!page.more) return all
    assert.equal(page.events.length, asked.limit ?? 100, 'log.read: where more follows, the page is full')
  }
}

const record = (storage: Storage, events: readonly EventRecord[]): Promise<void> => make(storage, [], events)

/** What the rewritings of the rules do: values go, a tenant comes. */
const nameless: Rewrite['make'] = (event) =>
  event.data['name'] === null ? event : { ...event, data: { ...event.data, name: null } }
const withoutActorName: Rewrite['make'] = (event) => event.actor === null || event.actor.name === null
  ? event
  : { ...event, actor: { ...event.actor, name: null } }

const isOf = (of: Rewrite['of'], event: EventRecord): boolean => 'subject' in of
  ? event.subject === of.subject
  : 'actor' in of ? event.actor?.id === of.actor : (event.tenant ?? null) === of.tenant

/** Duties about the recorded events. */
export const logSubject: Subject = {
  needs: {},
  cases: {
    'log.read: pages in both orders have what is asked for, and say whether more follows': async (storage) => {
      await requirePage(storage, [], {})
      await requirePage(storage, [], { order: 'desc', subject: idOf('usr', 1) })
      await record(storage, EVENTS)
      const some: Array<Partial<EventsRequest>> = [
        {}, { types: ['user.updated'] }, { types: ['user.deleted', 'user.updated', 'user.deleted'] }, { types: [] },
        { types: ['user', 'user.%', 'USER.CREATED', '\u0000'] }, { subject: idOf('usr', 1) },
        { subject: idOf('key', 1), types: ['user.created'] },
        ...ACTORS.map((actor) => ({ actor })),
        ...['ke', 'key ', 'KEY', 'x'.repeat(2999), '"key"', ''].map((actor) => ({ actor })),
        { actor: 'key', subject: idOf('usr', 0) }, ...[0, 3, 16, 17].map((time) => ({ since: timeOf(time) })),
        ...[0, 3, 16, 17].map((time) => ({ until: timeOf(time) })), { since: timeOf(3), until: timeOf(9) },
        { since: timeOf(9), until: timeOf(3) }, { tenant: 'acme' }, { tenant: 'none' },
        { tenant: 'beta', actor: 'key' },
        { tenant: 'acme', subject: idOf('usr', 1) }, { tenant: 'acme', since: timeOf(5), types: ['user.created'] }
      ]
      for (const order of ['asc', 'desc'] as const) {
        for (const asked of some) {
          const all = expectedPage(EVENTS, { after: null, limit: 100, types: null, ...asked })?.events.length ?? 0
          for (const limit of [1, Math.max(1, all), 100]) await requirePage(storage, EVENTS, { ...asked, order, limit })
        }
        for (const subject of UNKNOWN) await requirePage(storage, EVENTS, { subject, order })
        for (const after of UNKNOWN) {
          assert.equal(await storage.log.read({ after, limit: 9, types: null, order }), null, after)
        }
      }
    },

    'log.read: drawn requests find exactly their events behind any of them': async (storage, { seed }) => {
      await record(storage, EVENTS)
      const random = randomFrom(seed)
      const one = <Item>(items: readonly [Item, ...Item[]]): Item =>
        items[Math.floor(random() * items.length)] ?? items[0]
      const maybe = (members: object): object => random() < 0.3 ? members : {}
      for (let i = 0; i < DRAWN; i++) {
        const at = (): string => timeOf(Math.floor(random() * 18))
        await requirePage(storage, EVENTS, {
          order: one(['asc', 'desc']),
          limit: one([1, 2, 5, 100]),
          after: one([null, EVENTS[Math.floor(random() * EVENTS.length)]?.id ?? null]),
          ...maybe({ types: one([['user.created'], ['user.updated', 'api_key.created'], []]) }),
          ...maybe({ subject: one([idOf('usr', 0), idOf('usr', 1), idOf('key', 1)]) }),
          ...maybe({ actor: one(['key', 'Key', 'null', '%']) }),
          ...maybe({ since: at() }),
          ...maybe({ until: at() }),
          ...maybe({ tenant: one(['acme', 'beta']) })
        })
      }
    },

    'log.find, log.before: by id, in the order of the log': async (storage) => {
      assert.deepEqual([await storage.log.find(idOf('evt', 1)), await storage.log.before(idOf('evt', 1))], [null, null])
      await record(storage, EVENTS)
      for (const event of EVENTS.slice(0, 12)) assert.deepEqual(await storage.log.find(event.id), event)
      for (const id of [...UNKNOWN, `${idOf('evt', 1)}0`]) assert.equal(await storage.log.find(id), null, id)
      for (const tenant of [undefined, 'acme', 'beta', 'none']) {
        const log = EVENTS.filter((event) => tenant === undefined || event.tenant === tenant)
        for (const id of [0, 1, 17, 30, 44, 60, 61, 99].map((n) => idOf('evt', n))) {
          const from = log.findIndex((event) => event.id >= id)
          const expected = (from === -1 ? log.at(-1) : log[from - 1])?.id ?? null
          assert.equal(await storage.log.before(id, tenant), expected, `before ${id} of ${tenant}`)
        }
      }
    },

    'log.history: the events of one subject, newest first, with their number': async (storage) => {
      await record(storage, EVENTS)
      for (const subject of [idOf('usr', 0), idOf('usr', 2), idOf('key', 1), ...UNKNOWN.slice(0, 4)]) {
        for (const asked of [
          {}, { tenant: 'acme' }, { tenant: 'none' }, { types: ['user.updated'] }, { types: [] }, { types: ['user.%'] },
          { types: ['user.created', 'user.deleted'], tenant: 'beta' }
        ] as const) {
          const { tenant, types }: { tenant?: string, types?: readonly string[] } = asked
          const all = EVENTS.filter((event) => event.subject === subject &&
            (tenant === undefined || event.tenant === tenant) && (types?.includes(event.type) ?? true)).reverse()
          for (const [offset, limit] of [[0, 100], [0, 2], [3, 4], [900, 1]] as const) {
            const { items, total } = await storage.log.history(subject, { offset, limit, ...asked })
            assert.deepEqual([items, total], [all.slice(offset, offset + limit), all.length], JSON.stringify(asked))
          }
        }
      }
    },

    'log.rewrite: what is meant is written anew, keeps its place, and is counted': async (storage) => {
      await record(storage, EVENTS)
      let log = [...EVENTS]
      const steps: Array<[of: Rewrite['of'], make: Rewrite['make']]> = [
        [{ subject: idOf('usr', 1) }, nameless], [{ actor: 'Key' }, withoutActorName], [{ actor: 'null' }, nameless],
        [{ actor: LONG }, nameless],
        [{ tenant: 'beta' }, nameless], [{ tenant: null }, (event) => ({ ...event, tenant: 'acme' })],
        [{ subject: idOf('usr', 2) }, (event) => event.type === 'user.created' ? { ...event, requestId: null } : event],
        [{ subject: 'x' }, nameless], [{ actor: '%' }, (event) => ({ ...event, before: { name: 'Before' } })]
      ]
      for (const [of, make] of steps) {
        const meant = log.filter((event) => isOf(of, event) && make(event) !== event).length
        assert.equal(await storage.log.rewrite({ of, make }, Infinity), meant, JSON.stringify(of))
        log = log.map((event) => isOf(of, event) ? make(event) : event)
        assert.deepEqual(await wholeLog(storage), log, JSON.stringify(of))
      }
      for (const tenant of ['acme', 'beta']) await requirePage(storage, log, { tenant })
      await requirePage(storage, log, { subject: idOf('usr', 1), order: 'desc' })
      assert.deepEqual(await storage.log.find(log[5]?.id ?? ''), log[5])
      const again = await storage.log.rewrite({ of: { tenant: 'beta' }, make: nameless }, Infinity)
      assert.equal(again, 0, 'nothing is left')
    },

    'log.rewrite: at most as many as are asked for, and goes on': async (storage) => {
      await record(storage, EVENTS)
      const of = { subject: idOf('usr', 1) }
      const all = EVENTS.filter((event) => isOf(of, event)).length
      const counts = [0, 1, 2].map((i) => Math.min(7, all - 7 * i))
      for (const count of [...counts, 0]) {
        if (count < 0) continue
        assert.equal(await storage.log.rewrite({ of, make: nameless }, 7), count)
      }
      assert.deepEqual(await wholeLog(storage), EVENTS.map((event) => isOf(of, event) ? nameless(event) : event))
    },

    'commit, log.rewrite: the rewritings of a unit come after its events, and see them': async (storage) => {
      // More than a store may read together.
      const many = Array.from({ length: 1100 }, (_, i) => eventOf(1000 + i, { subject: idOf('usr', 1) }))
      const before = [...EVENTS.slice(0, 9), ...many]
      await record(storage, before)
      const of = { subject: idOf('usr', 1) }
      const more = [eventOf(900, { subject: idOf('usr', 1) }), eventOf(901, { subject: idOf('usr', 2) })]
      const rewrites = [{ of, make: nameless }, { of: { actor: idOf('key', 7) }, make: withoutActorName }]
      assert.deepEqual(await commit(storage, [], more, rewrites), OK)
      const log = [...before, ...more].map((event) => isOf(of, event) ? nameless(event) : event)
        .map((event) => event.actor?.id === idOf('key', 7) ? withoutActorName(event) : event)
      assert.deepEqual(await wholeLog(storage), log)
      const { total } = await storage.log.history(idOf('usr', 1), { offset: 0, limit: 1 })
      assert.equal(total, log.filter((event) => isOf(of, event)).length)
    }
  }
}
