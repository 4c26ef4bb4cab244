import assert from 'node:assert/strict'
import type { KitStorage } from './kit-storage.ts'
import { allUsers, ATOMIC, creation, writeBatch } from './batch-values.ts'
import { soon } from './crash-cases.ts'
import { eventOf, logOf, readEvents, readWholeLog } from './event-values.ts'
import { everywhere, type ProcessCases, several } from './process-cases.ts'
import { anyVersion, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const CRASHES = 3
const WRITERS = 12
// Each is larger than the one before, so that some are under way when the first is answered.
const BATCHES = 8
const STEP = 5

/** The nth user's event of a kind: `created`, `updated` or `deleted`. */
function eventFor (n: number, kind: 'created' | 'updated' | 'deleted') {
  const place = { created: 0, updated: 1, deleted: 2 }[kind]
  return eventOf(3 * n + place, `user.${kind}`)
}

/** What a process does before it is killed: the nth user, in steps, each with its event. */
function recordedWork (storage: KitStorage, n: number) {
  const user = userOf(n)
  return [
    async () => storage.createUser(user, keysOf(user), null, eventFor(n, 'created')),
    async () => storage.updateUser(user.id, rename('New'), timeOf(1), anyVersion, eventFor(n, 'updated')),
    async () => n % 2 === 0 &&
      storage.deleteUser(user.id, anyVersion, { ...eventFor(n, 'deleted'), erase: false })
  ]
}

/** Checks that the nth user has exactly the events of the changes that were made, at least those that were answered. */
async function requireItsEvents (storage: KitStorage, n: number, answered: number): Promise<void> {
  const user = await storage.findUser(idOf('usr', n))
  const { items } = await logOf(storage).history(idOf('usr', n), { offset: 0, limit: 9 })
  const ids = items.map(({ id }) => id).reverse()
  const steps = (['created', 'updated', 'deleted'] as const).map((kind) => eventFor(n, kind).id)
  // Who is not there was never created, or is deleted.
  const made = user?.version ?? (ids.length === 0 ? 0 : 3)
  const what = `user ${n}, ${user === null ? 'who is not there' : `of version ${user.version}`}: its events`
  assert.deepEqual(ids, steps.slice(0, made), what)
  assert.ok(made >= answered, `${what}: ${answered} changes were answered`)
}

/** Duties about events and batches that take several processes, or end one. Stores without them pass. */
export const recordedProcessCases: ProcessCases = {
  'whoever reads on gets each event of writers in all processes once, in the order of versions': async (start) => {
    const started = await several(start)
    const [first] = started
    if (first === undefined || !first.storage.supports.eventLog) return
    const user = userOf(1)
    await first.storage.createUser(user, keysOf(user), null, eventOf(1000, 'user.created'))
    const seen: Array<{ id: string, version: unknown }> = []
    let isOver = false
    const reading = (async () => {
      let after: string | null = null
      for (let turn = 0; ; turn++) {
        const isLast = isOver
        // A reader may go on in another process.
        const storage: KitStorage = started[turn % started.length]?.storage ?? first.storage
        const events = await readEvents(storage, { after, limit: 3 })
        for (const { id, data } of events) seen.push({ id, version: data['version'] })
        after = events.at(-1)?.id ?? after
        if (events.length === 0 && isLast) return
      }
    })()
    const writing = everywhere(started, (storage, i) =>
      storage.updateUser(user.id, rename(`Name ${i}`), timeOf(50), anyVersion, eventOf(i, 'user.updated')))
    const { values, codes } = await writing.finally(() => { isOver = true })
    await reading
    assert.deepEqual(codes, [])
    assert.deepEqual(seen.map(({ version }) => version), Array.from({ length: values.length + 1 }, (_, i) => i + 1))
    const ids = [eventOf(1000, ''), ...values.map((_value, i) => eventOf(i, ''))].map(({ id }) => id)
    assert.deepEqual(seen.map(({ id }) => id).sort(), ids.sort())
    for (const { storage } of started) {
      assert.deepEqual((await readWholeLog(storage)).map(({ id }) => id), seen.map(({ id }) => id))
    }
  },

  'after a crash each change has its event, and each event its change': async (start) => {
    for (let round = 0; round < CRASHES; round++) {
      const { storage, kill } = await start()
      if (!storage.supports.eventLog) return
      await storage.migrate()
      const works = Array.from({ length: WRITERS }, (_, i) => ({ n: WRITERS * round + i, answered: 0 }))
      let answers = 0
      let killed: Promise<void> | null = null
      await Promise.all(works.map(async (work) => {
        for (const run of recordedWork(storage, work.n)) {
          const isAnswered = await run().then(() => true, () => false)
          if (!isAnswered) return
          work.answered++
          if (++answers === 3 + 8 * round) killed = kill()
        }
      }))
      await (killed ?? kill())
      const after = await start()
      for (const { n, answered } of works) {
        // The last step of every second user does nothing.
        await soon(() => requireItsEvents(after.storage, n, n % 2 === 0 ? answered : Math.min(answered, 2)))
      }
      const ids = (await readWholeLog(after.storage)).map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length, 'the log has each event once')
      await after.kill()
    }
  },

  'after a crash a batch is whole or not there': async (start) => {
    const { storage, kill } = await start()
    if (!storage.supports.batches) return
    await storage.migrate()
    const batches = Array.from({ length: BATCHES }, (_, batch) =>
      Array.from({ length: STEP * (batch + 1) }, (_, i) => userOf(100 * batch + i)))
    const answered = new Set<number>()
    let killed: Promise<void> | null = null
    await Promise.all(batches.map(async (users, batch) => {
      const isAnswered = await writeBatch(storage, users.map((user) => creation(user)), ATOMIC)
        .then(() => true, () => false)
      if (isAnswered) answered.add(batch)
      killed ??= kill()
    }))
    await killed
    assert.ok(answered.size > 0, 'no batch was made')
    const after = await start()
    await soon(async () => {
      const there = new Set((await allUsers(after.storage)).map(({ id }) => id))
      for (const [batch, users] of batches.entries()) {
        const count = users.filter(({ id }) => there.has(id)).length
        if (answered.has(batch)) assert.equal(count, users.length, `batch ${batch}, which was answered`)
        const isWhole = count === 0 || count === users.length
        assert.ok(isWhole, `batch ${batch} has ${count} of its ${users.length} users`)
      }
    })
  }
}
