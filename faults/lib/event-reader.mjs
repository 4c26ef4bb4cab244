// A reader of the event log that keeps the id of the last event, and asks for what comes after it, whatever happens.
import { setTimeout } from 'node:timers/promises'
import { openClient } from './http.mjs'

const PAUSE_MS = 50

/** All events that a service has, or null without a log. */
export async function readLog (origin, key) {
  const { send, close } = openClient(origin, key)
  const log = []
  try {
    for (let path = '/v1/events?limit=100'; ;) {
      const { status, body } = await send('GET', path)
      if (status === 404 && log.length === 0) return null
      if (status !== 200) throw new Error(`reading the events: ${status}`)
      log.push(...body.data)
      if (!body.meta.more) return log
      path = `/v1/events?limit=100&after=${log.at(-1).id}`
    }
  } finally {
    close()
  }
}

/** Reads by HTTP what comes after an event: ids; null: no answer that says so. */
export function httpReading ({ origins, random, key }) {
  const clients = new Map()
  return {
    async next (after) {
      const origin = random.pick(origins())
      if (!clients.has(origin)) clients.set(origin, openClient(origin, key))
      const path = `/v1/events?limit=100${after === null ? '' : `&after=${after}`}`
      const { status, body } = await clients.get(origin).send('GET', path, { ms: 10_000 })
      if (status === 503) return null
      // Without a log there is nothing; an event that is gone is found in the end.
      return status === 200 ? body.data.map(({ id }) => id) : []
    },
    close () {
      for (const { close } of clients.values()) close()
    }
  }
}

/** Reads events from now on. `next(after)`: how. */
export function startReader ({ next, close }) {
  const read = []
  let isStopping = false
  let isEnd = false

  async function readSome () {
    const wasStopping = isStopping
    const ids = await next(read.at(-1) ?? null)
    if (ids === null) return false
    read.push(...ids)
    // Only what was asked for after the last write counts as the end.
    if (wasStopping && ids.length === 0) isEnd = true
    return ids.length > 0
  }

  const running = (async () => {
    while (!isEnd) if (!await readSome().catch(() => false)) await setTimeout(PAUSE_MS)
  })()

  return {
    read,
    /** Reads on until the log has no more. */
    async finish () {
      isStopping = true
      await running
      close()
    },
    abandon () {
      isEnd = true
      close()
    }
  }
}
