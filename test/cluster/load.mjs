// Clients and a reader of the feed on one mount, with the checkers of the fault suite.
import assert from 'node:assert/strict'
import { checkEvents } from '../../faults/lib/check-events.mjs'
import { check } from '../../faults/lib/check.mjs'
import { startClients } from '../../faults/lib/clients.mjs'
import { httpReading, readLog, startReader } from '../../faults/lib/event-reader.mjs'
import { openClient } from '../../faults/lib/http.mjs'
import { randomOf } from '../../faults/lib/random.mjs'
import { createRecord, isOk, isWrite } from '../../faults/lib/record.mjs'
import { until } from '../../faults/lib/until.mjs'
import { readAll } from '../../faults/lib/views.mjs'

const CLIENTS = 4
const HOT_USERS = 2
const ZERO = ['lost', 'twice', 'phantom', 'versions', 'counts', 'answers']

/** Users that all clients change. */
async function createHot (record, { origin, key }, prefix) {
  const { send, close } = openClient(origin, key)
  const hot = []
  for (let i = 0; i < HOT_USERS; i++) {
    const email = `${prefix}-hot-${i}@example.org`
    const operation = record.begin({ kind: 'create', client: -1, email, name: 'Hot' })
    const { status, body } = await send('POST', '/v1/users', { body: { name: 'Hot', email } })
    assert.equal(status, 201, JSON.stringify(body))
    record.end(operation, { status, id: body.id, answer: body })
    hot.push({ id: body.id, version: 1 })
  }
  close()
  return hot
}

/** Has clients use a mount until `stop()`; then `verify()` throws if anything is not as they were told. */
export async function startLoad (mount, seed) {
  const { origin, key, storage } = mount
  const random = randomOf(seed)
  const record = createRecord()
  const prefix = `m${seed}`
  const hot = await createHot(record, mount, prefix)
  const origins = () => [origin]
  const end = startClients(CLIENTS, {
    record, random: random.fork(), origins, key, prefix, hot, idempotent: true, readers: 0
  })
  const reader = startReader(httpReading({ origins, random: random.fork(), key }))
  const writesSince = (moment) => record.operations.filter((each) => isWrite(each) && each.sent >= moment)

  return {
    acknowledgedSince: (moment) => writesSince(moment).filter(isOk).length,
    refusedSince: (moment) => writesSince(moment).filter(({ status }) => status === 503).length,

    /** Waits until so many more writes have been answered with success. */
    async acknowledged (more, ms = 60_000) {
      const wanted = record.acknowledged() + more
      await until(`${more} more writes`, () => record.acknowledged() >= wanted, ms)
    },

    /** Ends the clients, without repeating what failed. */
    stop: () => end({ abandon: true }),

    /** Within the windows, and so many milliseconds after each, requests may have been refused. */
    async verify (windows, grace) {
      await reader.finish()
      const { users: final, total } = await readAll(origin, key)
      const { users, counted, wrong } = await storage.verifyCounts()
      const log = await readLog(origin, key)
      const events = checkEvents({ log, final, read: reader.read })
      const figures = check({ operations: record.operations, final, totals: [total, users, counted], windows, grace })
      const problems = [
        ...ZERO.filter((kind) => figures[kind] > 0).map((kind) => `${kind} ${figures[kind]}`),
        ...figures.reasons,
        ...events.slice(0, 5).map((reason) => `events: ${reason}`),
        ...wrong > 0 ? [`${wrong} wrong counts`] : []
      ]
      assert.deepEqual(problems, [], `${figures.acknowledged} acknowledged`)
    }
  }
}
