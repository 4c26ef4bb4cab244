// One fault on one setup: opens it, has clients work, breaks and heals it, and hands everything to the checker.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPgBouncer } from '../../test/servers/pgbouncer.mjs'
import { povertyOf } from '../../test/servers/poverty.mjs'
import { check } from './check.mjs'
import { checkEvents } from './check-events.mjs'
import { startClients } from './clients.mjs'
import { httpReading, readLog, startReader } from './event-reader.mjs'
import { openClient } from './http.mjs'
import { openPostgres } from './postgres.mjs'
import { openProxy } from './proxy.mjs'
import { randomOf } from './random.mjs'
import { createRecord } from './record.mjs'
import { createService, KEY } from './service.mjs'
import { until } from './until.mjs'
import { checkTables, readAll } from './views.mjs'

const POOR = [
  "CREATE ROLE poor LOGIN PASSWORD 'password'", 'GRANT ALL ON SCHEMA public TO poor', ...povertyOf('poor', 'postgres')
]
const CLIENTS = 8
const HOT_USERS = 3
// A machine that does other work too is given more time.
const GRACE_MS = 2000
const LOG_TAIL = 1500
const REASONS_MAX = 5

async function openStore (setup, directory, { proxied = false }) {
  if (setup.store === 'memory') return { url: 'memory:', direct: null, close: async () => {} }
  if (setup.store === 'lmdb') return { url: `lmdb:${join(directory, 'users')}`, direct: null, close: async () => {} }
  if (setup.store === 'sqlite') {
    const filename = join(directory, 'users.db')
    return { url: `sqlite:${filename}`, direct: `sqlite:${filename}`, filename, close: async () => {} }
  }
  const postgres = await openPostgres()
  const pgbouncer = setup.pooled === true ? await startPgBouncer(postgres.url) : undefined
  const url = new URL(pgbouncer?.url ?? postgres.url)
  if (setup.poor === true) {
    url.username = 'poor'
    for (const statement of POOR) await postgres.sql(statement)
  }
  const proxy = proxied ? await openProxy(Number(url.port)) : undefined
  if (proxy !== undefined) url.port = String(proxy.port)
  return {
    url: url.href,
    direct: postgres.url,
    postgres,
    proxy,
    async close () {
      proxy?.close()
      await pgbouncer?.stop()
      await postgres.close()
    }
  }
}

/** Opens a setup for a fault. */
export async function openScene (fault, setup, seed, quick) {
  const random = randomOf(seed)
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-faults-'))
  if (fault.mount !== undefined) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${fault.mount}`, 'tmpfs', directory])
  }
  const store = await (fault.store?.() ?? openStore(setup, directory, fault))
  const env = {
    DATABASE_URL: store.url,
    EVENT_LOG: 'true',
    ...(setup.driver !== undefined && { SQLITE_DRIVER: setup.driver }),
    ...(setup.pooled === true && { DATABASE_POOLER: 'true' }),
    ...fault.env?.({ directory, store })
  }
  const services = []
  const programs = await fault.programs?.() ?? []
  for (let i = 0; i < (fault.services ?? setup.services); i++) {
    services.push(await createService({
      cwd: directory,
      env,
      ...(fault.nodeOptions !== undefined && { nodeOptions: fault.nodeOptions }),
      ...(programs[i] !== undefined && { program: programs[i] })
    }))
  }
  const record = createRecord()
  const windows = []
  const notes = {}
  const clients = fault.clients ?? CLIENTS
  let read = []
  const forgotten = new Set()
  let used = services.filter((_, i) => fault.up?.includes(i) ?? true)

  return {
    random,
    directory,
    store,
    services,
    record,
    notes,
    setup,
    clients,
    /** For a fault of its own. */
    state: {},

    /** Has clients use these services from now on. */
    use (...numbers) {
      used = numbers.map((number) => services[number])
    },

    /** What a full run does, usually a number of rounds, or the few of the quick part. */
    rounds: (full, few) => quick ? few : full,

    /** Takes back what clients noted since an operation: it was worth nothing. */
    forget (from) {
      for (const { kind, id } of record.operations.splice(from)) if (kind === 'create') forgotten.add(id)
    },

    /** Waits until so many more writes have been answered with success. */
    async acknowledged (more, ms = 60_000) {
      const wanted = record.acknowledged() + more
      await until(`${more} more writes`, () => record.acknowledged() >= wanted, ms)
    },

    /** Runs what breaks and heals. Until it has ended, and two seconds more, requests may fail. */
    async broken (work) {
      const window = { from: performance.now(), to: null }
      windows.push(window)
      const value = await work()
      window.to = performance.now()
      return value
    },

    /** Has so many clients ask for a path all the time, whatever the answer. */
    flood (count, path) {
      const stopping = new AbortController()
      let over = 0
      const clients = Array.from({ length: count }, () => openClient(services[0].origin, KEY))
      for (const { send, close } of clients) {
        (async () => {
          for (let i = 0; i < 100 && !stopping.signal.aborted; i++) await send('GET', path).catch(() => {})
          over++
          close()
        })()
      }
      return { stop: () => stopping.abort(), isOver: () => over === count }
    },

    async run () {
      if (fault.begin !== undefined) await fault.begin(this)
      else for (const service of services) await service.start()
      const prefix = `s${seed.toString(36)}`
      const { send, close } = openClient(services[0].origin, KEY)
      const hot = []
      for (let i = 0; i < HOT_USERS; i++) {
        const email = `${prefix}-hot-${i}@example.org`
        const operation = record.begin({ kind: 'create', client: -1, email, name: 'Hot' })
        const { status, body } = await send('POST', '/v1/users', { body: { name: 'Hot', email } })
        record.end(operation, { status, id: body.id, answer: body })
        hot.push({ id: body.id, version: 1 })
      }
      close()
      const before = services.map((each) => each.isUp() ? each.size() : null)
      const stop = startClients(clients, {
        record,
        random: random.fork(),
        origins: () => used.map(({ origin }) => origin),
        key: KEY,
        prefix,
        hot,
        idempotent: fault.idempotent ?? true,
        readers: fault.readers ?? 0
      })
      const origins = () => used.map(({ origin }) => origin)
      const reader = startReader(fault.reading?.(this) ?? httpReading({ origins, random: random.fork(), key: KEY }))
      try {
        await fault.run(this)
        await this.acknowledged(20)
      } catch (error) {
        reader.abandon()
        await stop({ abandon: true })
        throw error
      }
      await stop()
      await reader.finish()
      read = fault.undone === true ? null : reader.read
      return before
    },

    /** The figures. */
    async figures (before) {
      const after = services.map((each) => each.isUp() ? each.size() : { rss: 0, files: 0 })
      const views = []
      for (const { origin } of services) views.push(await readAll(origin))
      const totals = views.flatMap(({ users, total }) => [users.length, total])
      const direct = await fault.direct?.(this) ?? store.direct
      if (direct !== null && fault.tables !== false) totals.push(await checkTables(direct))
      const logs = []
      for (const { origin } of services) logs.push(await readLog(origin, KEY))
      const [log] = logs
      const wrong = log === null
        ? []
        : checkEvents({
          log, final: views[0].users, read: read ?? log.map(({ id }) => id)
        })
      if (logs.some((other) => JSON.stringify(other) !== JSON.stringify(log))) wrong.push('services have other logs')
      const grace = quick ? 4 * GRACE_MS : GRACE_MS
      // Clients go on asking for users that they made meanwhile.
      const operations = record.operations.filter(({ id }) => id === undefined || !forgotten.has(id))
      const figures = check({ operations, final: views[0].users, totals, windows, grace })
      return {
        ...figures,
        reasons: [...figures.reasons, ...wrong.slice(0, REASONS_MAX).map((reason) => `events: ${reason}`)],
        events: wrong.length,
        unhandled: services.reduce((sum, each) => sum + each.unhandled(), 0),
        memory: Math.round(Math.max(...after.map(({ rss }, i) => rss - (before[i]?.rss ?? rss)))),
        files: Math.max(...after.map(({ files }, i) => files - (before[i]?.files ?? files))),
        notes
      }
    },

    /** For whoever looks for the reason of a failure: the answers since the last fault began, and the ends of logs. */
    diagnosis () {
      const since = windows.at(-1)?.from ?? 0
      const counts = {}
      for (const { kind, status, error, sent } of record.operations) {
        if (sent < since) continue
        const what = `${kind} ${status ?? error}`
        counts[what] = (counts[what] ?? 0) + 1
      }
      return [JSON.stringify(counts), ...services.map((each) => each.log().slice(-LOG_TAIL))]
    },

    async close () {
      for (const service of services) await service.stop()
      await fault.end?.(this)
      await store.close()
      if (fault.mount !== undefined) execFileSync('umount', [directory])
      await rm(directory, { recursive: true, force: true })
    }
  }
}
