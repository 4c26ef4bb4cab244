import type { EventRecord, Storage } from '../../../lib/storage/storage.ts'
import { ALL, EVERYONE, logs, type Mistake, right, store, units, untyped } from './wrappers.ts'

const byId = (a: EventRecord, b: EventRecord): number => a.id < b.id ? -1 : 1
/** Orders events by their ids. */
const readsById = (failed: string): Mistake => logs(failed, 'events come in the order of their ids', (log) => ({
  async read (request) {
    const page = await log.read(request)
    return page && { ...page, events: page.events.toSorted(byId) }
  }
}))

/** Most likely mistakes in the log of events, and in opening. */
export const logMistakes: Mistake[] = [
  logs('log.read: pages in both orders', 'a full page says that more follows', (log) => ({
    async read (request) {
      const page = await log.read(request)
      return page && { ...page, more: page.events.length === request.limit }
    }
  })),
  logs('log.read: drawn requests', 'a time that is asked for is not among the events', (log) => ({
    async read (request) {
      const page = await log.read(request)
      return page && { ...page, events: page.events.filter(({ timestamp }) => timestamp !== request.since) }
    }
  })),
  logs('log.find, log.before', 'the event before is that of the id before', (log) => ({
    async before (id, tenant) {
      const page = await log.read({ after: null, limit: 10_000, types: null, ...tenant !== undefined && { tenant } })
      return page?.events.toSorted(byId).findLast((event) => event.id < id)?.id ?? null
    }
  })),
  logs('log.history: the events of one subject', 'the number is that of all types', (log) => ({
    async history (subject, page) {
      const { types, ...others } = page
      return { items: (await log.history(subject, page)).items, total: (await log.history(subject, others)).total }
    }
  })),
  logs('log.rewrite: what is meant', 'all that was looked at is counted', (log) => ({
    async rewrite ({ of, make }, limit) {
      let count = 0
      await log.rewrite({ of, make: (event) => { count++; return make(event) } }, limit)
      return count
    }
  })),
  logs('log.rewrite: at most as many', 'all are written anew', (log) => ({
    rewrite: (rewrite) => log.rewrite(rewrite, Infinity)
  })),
  units('commit, log.rewrite: the rewritings of a unit', 'rewritings come before the events', async (storage, unit) => {
    await right(storage, { ...unit, events: [] })
    return right(storage, { writes: [], events: unit.events, rewrites: [] })
  }),
  logs('log.prune: takes the oldest events', 'all that are older are pruned', (log) => ({
    prune: (before) => log.prune(before, Infinity)
  })),
  logs('log.prune: with times in no order', 'an event of the time goes too', (log) => ({
    prune: (before, limit) => log.prune(new Date(Date.parse(before) + 1).toISOString(), limit)
  })),
  logs('log.pruned', 'types are in the order of their names', (log) => ({
    pruned: async () => (await log.pruned()).toSorted((a, b) => a.type < b.type ? -1 : 1)
  })),
  logs('log.read, log.history, log.prune', 'a page has at most 500 events', (log) => ({
    read: (request) => log.read({ ...request, limit: Math.min(request.limit, 500) })
  })),
  readsById('log.read: whoever reads on'),
  readsById('log.read: an event follows those'),
  logs('log.read: a walk newest first', 'pages are cut by offset', (log) => {
    const seen = new Map<string, number>()
    return {
      async read (request) {
        if (request.order !== 'desc' || request.limit > 20) return log.read(request)
        const page = await log.read({ ...request, after: null, limit: 10_000 })
        const start = request.after === null ? 0 : (seen.get(request.after) ?? 0) + 1
        const events = page?.events.slice(start, start + request.limit) ?? []
        events.forEach(({ id }, i) => seen.set(id, start + i))
        return page && { ...page, events, more: start + request.limit < page.events.length }
      }
    }
  }),
  units('log.read, find: a change and its event', 'events are recorded after the unit', async (storage, unit) => {
    const outcome = await right(storage, { ...unit, events: [] })
    setTimeout(() => { right(storage, { writes: [], events: unit.events, rewrites: [] }).catch(() => {}) }, 1)
    return outcome
  }),
  logs('log.prune: concurrent calls', 'calls at one time have one result', (log) => {
    let running: Promise<number> | null = null
    return { prune: (before, limit) => (running ??= log.prune(before, limit).finally(() => { running = null })) }
  }),
  units('commit, log.read: every member of an event', 'an event without an actor has no request', (storage, unit) =>
    right(storage, {
      ...unit, events: unit.events.map((event) => event.actor === null ? { ...event, data: {} } : event)
    })),

  store('open: repeated and concurrent calls', 'opening makes the tables anew', (storage) => {
    let opens = 0
    return {
      open: async (options) => {
        if (++opens > 2) {
          const { items } = await storage.users.list(EVERYONE, ALL)
          await storage.commit(items.map((record) =>
            ({ writes: [{ in: 'users', put: null, was: { record, keys: {}, of: null } }], events: [], rewrites: [] })))
        }
        return storage.open(options)
      }
    }
  }),
  store('open: without migrate it costs', 'opening looks at all users', (storage) => ({
    async open (options) {
      const { total } = await storage.users.list(EVERYONE, ALL)
      for (let i = 0; i < total / 10; i++) await new Promise((resolve) => { setTimeout(resolve, 1) })
      return storage.open(options)
    }
  })),
  store('close: may be called twice', 'a closed store finds nothing', (storage) => {
    let isClosed = false
    return {
      close: async () => { isClosed = true },
      users: { ...storage.users, find: async (id) => isClosed ? null : storage.users.find(id) }
    }
  }),
  store('watch: if the store has it', 'the listener stays', () => ({ watch: () => untyped(undefined) })),
  store('server: if the store has it', 'no request may run', () => ({ server: { concurrency: 0 } })),
  store('open: before it is migrated', 'the schema is always new', (storage) => ({
    open: async (options) => ({ ...await storage.open(options), created: true })
  })),
  store('open: what it lacks', 'what an earlier call required is forgotten', (storage) => {
    let unique: readonly string[] = []
    return {
      async open (options = {}) {
        if (options.migrate === true) unique = options.unique ?? []
        else if (options.unique?.some((name) => !unique.includes(name)) === true) {
          return storage.open({ ...options, filterable: untyped(null) }).catch(() => ({ created: true }))
        }
        return storage.open(options)
      }
    }
  }),
  store('open: field_taken where', 'what is taken is said by nobody', (storage) => ({
    open: (options) => storage.open(options).catch(() => ({ created: false }))
  })),
  (() => {
    let shared: Storage | null = null
    const failed = 'open: stores that create() gives'
    return { name: 'there is one store', failed, make: (storage) => (shared ??= storage) }
  })() satisfies Mistake,
  units('histories', 'an event is recorded with one unit of two', (storage, unit) =>
    right(storage, unit.writes.length > 1 && unit.events.length > 1 ? { ...unit, events: unit.events.slice(1) } : unit))
]
