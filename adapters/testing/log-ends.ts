import assert from 'node:assert/strict'
import type { EventRecord, PrunedEvents, Storage } from '../../lib/storage/storage.ts'
import type { Subject } from './cases.ts'
import { wholeLog } from './log.ts'
import { awaitedLater, concurrently, CONCURRENT_CALLS, turns } from './concurrency.ts'
import { addNth, eventOf, make, move, nextOf, nth, rowIn, unitOf } from './rows.ts'
import { untilMade } from './attempts.ts'
import { idOf, timeOf } from './values.ts'

const idsIn = (events: readonly EventRecord[]): string[] => events.map(({ id }) => id)
const ids = (...numbers: number[]): string[] => numbers.map((n) => idOf('evt', n))
const ROUNDS = 30

/** Records an event of each number, one after the other: of its type and time, if they are given. */
async function recordAll (
  storage: Storage, numbers: readonly number[], members: (i: number) => Partial<EventRecord> = () => ({})
): Promise<void> {
  for (const [i, n] of numbers.entries()) await make(storage, [], [eventOf(n, members(i))])
}

/** Reads on from where it was, until nothing more is there and `isOver` was true before. */
async function follow (storage: Storage, isOver: () => boolean, limit: number): Promise<EventRecord[]> {
  const seen: EventRecord[] = []
  while (true) {
    const isLast = isOver()
    const page = await storage.log.read({ after: seen.at(-1)?.id ?? null, limit, types: null })
    assert.ok(page !== null, 'log.read: the event to go on behind is there')
    seen.push(...page.events)
    if (page.events.length === 0 && isLast) return seen
    if (page.events.length === 0) await turns(1)
  }
}

/** Changes the nth mark, with an event that has its version. */
const changeWithEvent = (
  storage: Storage, n: number, event: number
): Promise<boolean> => untilMade(storage, async () => {
  const was = await rowIn(storage, 'marks', nth.marks(n).record.id) ?? nth.marks(n)
  const version = was.record.version + 1
  const data = { version, mark: n }
  return unitOf([move('marks', was)], [eventOf(event, { subject: idOf('usr', n), data })])
})

/** Duties about the end of the log and its beginning. */
export const logPruningSubject: Subject = {
  needs: {},
  cases: {
    'log.prune: takes the oldest events that are older than a time, and never the newest': async (storage) => {
      const numbers = [1, 2, 3, 4, 6, 5]
      await recordAll(storage, numbers)
      const { log } = storage
      const left = async () => idsIn(await wholeLog(storage))
      // The event 2 is older too, but not its successor: a reader that has seen it can read on.
      assert.equal(await log.prune(timeOf(3), 100), 1)
      assert.deepEqual(await left(), ids(2, 3, 4, 6, 5))
      assert.equal(await log.read({ after: idOf('evt', 1), limit: 9, types: null }), null)
      assert.equal(await log.find(idOf('evt', 1)), null)
      assert.equal((await log.history(eventOf(1).subject, { offset: 0, limit: 9 })).total, 5)
      assert.equal(await log.before(idOf('evt', 2)), null)
      assert.equal(await log.prune(timeOf(1), 100), 0)
      assert.equal(await log.prune(timeOf(100), 2), 2)
      assert.deepEqual(await left(), ids(4, 6, 5))
      assert.equal(await log.prune(timeOf(100), 100), 2)
      assert.deepEqual(await left(), ids(5))
      assert.equal(await log.prune(timeOf(100), 100), 0)
      await recordAll(storage, [7])
      assert.deepEqual(idsIn((await log.read({ after: idOf('evt', 5), limit: 9, types: null }))?.events ?? []), ids(7))
    },

    'log.prune: with times in no order it ends at the first event to keep, and leaves no gap': async (storage) => {
      const times = [5, 1, 2, 6, 1, 2, 7]
      await recordAll(storage, times.map((_, i) => i), (i) => ({ timestamp: timeOf(times[i] ?? 0) }))
      const steps: Array<[before: number, limit: number, pruned: number]> = [
        [3, 100, 0], [5, 100, 0], [6, 1, 1], [6, 100, 1], [2, 100, 0], [6, 100, 0], [7, 100, 3], [7, 100, 0],
        [8, 100, 1]
      ]
      let gone = 0
      for (const [before, limit, pruned] of steps) {
        const count = await storage.log.prune(timeOf(before), limit)
        gone += pruned
        const left = ids(0, 1, 2, 3, 4, 5, 6).slice(gone)
        const what = `of the times ${times.join()} those before ${before}, limit ${limit}`
        assert.deepEqual([count, idsIn(await wholeLog(storage))], [pruned, left], what)
      }
    },

    'log.pruned: each type with its last event, in the order of the log, and the greatest id up to it': async (
      storage
    ) => {
      assert.deepEqual(await storage.log.pruned(), [])
      const types = ['created', 'created', 'updated', 'updated', 'deleted', 'created', 'updated']
      await recordAll(storage, [5, 3, 9, 4, 7, 6, 1], (i) => ({ type: `user.${types[i]}`, timestamp: timeOf(i) }))
      const entry = (type: string, n: number, greatest: number): PrunedEvents =>
        ({ type: `user.${type}`, id: idOf('evt', n), greatestId: idOf('evt', greatest) })
      const steps = [
        [1, [entry('created', 5, 5)]],
        [1, [entry('created', 3, 5)]],
        [0, [entry('created', 3, 5)]],
        [2, [entry('created', 3, 5), entry('updated', 4, 9)]],
        [1, [entry('created', 3, 5), entry('updated', 4, 9), entry('deleted', 7, 9)]],
        [9, [entry('updated', 4, 9), entry('deleted', 7, 9), entry('created', 6, 9)]],
        [9, [entry('updated', 4, 9), entry('deleted', 7, 9), entry('created', 6, 9)]]
      ] as const
      for (const [limit, expected] of steps) {
        await storage.log.prune(timeOf(limit === 0 ? 0 : 900), Math.max(limit, 1))
        assert.deepEqual(await storage.log.pruned(), expected)
      }
      assert.deepEqual(idsIn(await wholeLog(storage)), ids(1))
    },

    'log.read, log.history, log.prune, log.rewrite: long logs are complete': async (storage, { records }) => {
      const events = Array.from({ length: records }, (_, i) => eventOf(i, { subject: idOf('usr', i % 2) }))
      await make(storage, [], events)
      const limit = records - 1
      const page = await storage.log.read({ after: null, limit, types: null })
      assert.deepEqual(page, { events: events.slice(0, limit), more: true, position: events[limit - 1]?.id })
      const ofOne = events.filter(({ subject }) => subject === idOf('usr', 1)).reverse()
      const history = await storage.log.history(idOf('usr', 1), { offset: 0, limit: 10_000 })
      assert.deepEqual(history, { items: ofOne, total: ofOne.length })
      const last = await storage.log.history(idOf('usr', 1), { offset: ofOne.length - 3, limit: 9 })
      assert.deepEqual(last, { items: ofOne.slice(-3), total: ofOne.length })
      const nameless = (event: EventRecord) => ({ ...event, data: { name: null } })
      const rewrite = { of: { subject: idOf('usr', 1) }, make: nameless }
      assert.equal(await storage.log.rewrite(rewrite, Infinity), ofOne.length)
      const named = (await wholeLog(storage)).filter(({ data }) => data['name'] !== null)
      assert.deepEqual(named, events.filter(({ subject }) => subject === idOf('usr', 0)))
      assert.equal(await storage.log.prune(timeOf(10 * records), limit), limit)
      assert.deepEqual(idsIn(await wholeLog(storage)), idsIn(events.slice(limit)))
    }
  }
}

/** Duties about the log while others write. */
export const logRaceSubject: Subject = {
  needs: {},
  cases: {
    'log.read: whoever reads on gets each event of concurrent writers once, in the order of versions': async (
      storage
    ) => {
      await addNth(storage, 'marks', 1, 2, 3)
      let isOver = false
      const reading = awaitedLater(follow(storage, () => isOver, 3))
      await concurrently((i) => changeWithEvent(storage, 1 + i % 3, 1000 - i), 3 * CONCURRENT_CALLS)
        .finally(() => { isOver = true })
      const seen = await reading
      assert.equal(new Set(idsIn(seen)).size, 3 * CONCURRENT_CALLS)
      assert.deepEqual(idsIn(await wholeLog(storage)), idsIn(seen), 'the order of two events never changes')
      for (const n of [1, 2, 3]) {
        const versions = seen.filter(({ subject }) => subject === idOf('usr', n)).map(({ data }) => data['version'])
        assert.deepEqual(versions, Array.from({ length: CONCURRENT_CALLS }, (_, i) => i + 2))
      }
      const back = await wholeLog(storage, { order: 'desc', limit: 7 })
      assert.deepEqual(idsIn(back), idsIn(seen).reverse())
    },

    'log.read: an event follows those that were committed before it was written': async (storage) => {
      // One after the other, among others that go on.
      const recording = new AbortController()
      const beside = awaitedLater(concurrently(async (i) => {
        for (let n = 0; !recording.signal.aborted; n++) {
          await storage.commit([unitOf([], [eventOf(2000 + 10 * n + i, { subject: idOf('usr', 9) })])])
          await turns(1)
        }
      }, 3))
      const numbers = Array.from({ length: 40 }, (_, i) => 900 - i)
      await recordAll(storage, numbers).finally(() => recording.abort())
      await beside
      assert.deepEqual(idsIn(await wholeLog(storage, { subject: eventOf(1).subject })), ids(...numbers))
      const { items } = await storage.log.history(eventOf(1).subject, { offset: 0, limit: 100 })
      assert.deepEqual(idsIn(items), ids(...numbers).reverse())
    },

    'log.read: a walk newest first has every event of before it, whoever writes meanwhile': async (storage) => {
      const numbers = Array.from({ length: 20 }, (_, i) => 100 + i)
      await recordAll(storage, numbers)
      const writing = awaitedLater(concurrently((i) => turns(i).then(() => make(storage, [], [eventOf(50 - i)]))))
      const seen: string[] = []
      for (let n = 200, more = true; more; n++) {
        const page = await storage.log.read({ after: seen.at(-1) ?? null, limit: 3, types: null, order: 'desc' })
        seen.push(...idsIn(page?.events ?? []))
        more = page?.more ?? false
        await make(storage, [], [eventOf(n)])
      }
      await writing
      assert.equal(new Set(seen).size, seen.length, 'none comes twice')
      assert.deepEqual(seen.filter((id) => ids(...numbers).includes(id)), ids(...numbers).reverse())
    },

    'log.read, find: a change and its event become visible in one step': async (storage) => {
      await addNth(storage, 'marks', 1)
      const reading = new AbortController()
      const writing = awaitedLater((async () => {
        let was = nth.marks(1)
        for (let n = 1; !reading.signal.aborted; n++) {
          const next = nextOf(was)
          await make(storage, [move('marks', was, next)], [eventOf(n, { data: { version: next.record.version } })])
          was = next
          await turns(1)
        }
      })())
      let after: string | null = null
      let recorded = 1
      const readOn = async () => {
        for (let more = true; more;) {
          const page = await storage.log.read({ after, limit: 1000, types: null })
          recorded = Number(page?.events.at(-1)?.data['version'] ?? recorded)
          after = page?.events.at(-1)?.id ?? after
          more = page?.more ?? false
        }
      }
      const present = async () => (await rowIn(storage, 'marks', nth.marks(1).record.id))?.record.version ?? 0
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const before = await present()
          await readOn()
          assert.ok(recorded >= before, 'a change that can be read has its event in the log')
          assert.ok(await present() >= recorded, 'an event that can be read has its change in the row')
        }
      } finally {
        reading.abort()
        await writing.catch(() => {})
      }
      await writing
    },

    'log.prune: concurrent calls take each event once, and note the last of each type': async (storage) => {
      await make(storage, [], Array.from({ length: 41 }, (_, i) => eventOf(i)))
      const counts = await concurrently(() => storage.log.prune(timeOf(900), 3), 8)
      assert.equal(counts.reduce((sum, count) => sum + count, 0), 24)
      assert.deepEqual(idsIn(await wholeLog(storage)), ids(...Array.from({ length: 17 }, (_, i) => 24 + i)))
      const [last] = ids(23)
      assert.deepEqual(await storage.log.pruned(), [{ type: 'user.updated', id: last, greatestId: last }])
    }
  }
}
