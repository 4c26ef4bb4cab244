// Clients that write and read while standbys lag, are killed and are promoted: no request fails, and who sends its
// latest token sees nothing older than it has seen.
import type { LightMyRequestResponse } from 'fastify'
import { test, type Test } from 'tap'
import { type Call, testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import {
  caughtUp, countCalls, openReplicated, pauseReplay, replicatedStorage, resumeReplay, tokenOf
} from '../helpers/replication.ts'
import { until } from '../helpers/until.ts'

const CLIENTS = 24
const SHARED = 4
// How many requests each client sends at least in each phase.
const REQUESTS = 200

interface Tally {
  requests: number
  failed: string[]
  backwards: string[]
}

/** A client with a token: it notes the newest that it has seen, and compares each answer with it. */
function createClient (call: Call, number: number, ids: readonly string[], tally: Tally) {
  const versions = new Map<string, number>()
  let token = 'primary'
  let total = 0
  let requests = 0

  async function send (method: string, path: string, payload?: object): Promise<LightMyRequestResponse> {
    const headers = { 'consistency-token': token }
    const answer = await call(method, path, { headers, ...(payload !== undefined && { payload }) })
    tally.requests++
    requests++
    if (answer.statusCode >= 300) tally.failed.push(`${method} ${path}: ${answer.statusCode} ${answer.body}`)
    token = tokenOf(answer)
    return answer
  }

  function see (what: string, id: string, seen: number): void {
    const before = versions.get(id) ?? 0
    if (seen < before) tally.backwards.push(`${what} of ${id}: ${seen} after ${before}`)
    versions.set(id, Math.max(seen, before))
  }

  /** Names have the version that they were written with. */
  const seeNamed = (what: string, { id, name }: { id: string, name: string }) =>
    see(what, id, Number(name.split(' ')[1]))

  /** Of a shared user another client may be faster: so the version is the answer's. */
  async function sendTo (id: string, method: string, payload?: object): Promise<void> {
    const { headers } = await send(method, `/users/${id}`, payload)
    see(method, `${id} etag`, Number(String(headers.etag).slice(1, -1)))
  }

  async function list (): Promise<void> {
    const { data, meta } = (await send('GET', '/users?limit=100')).json()
    if (meta.total < total) tally.backwards.push(`total: ${meta.total} after ${total}`)
    total = meta.total
    if (data.length !== Math.min(100, total)) tally.backwards.push(`page: ${data.length} of ${total}`)
  }

  return {
    get requests () { return requests },
    /** The user whom this client alone writes, with a name that says how often. */
    async own (id: string, count: number): Promise<void> {
      await send('PATCH', `/users/${id}`, { name: `own ${count}` })
      see('own change', id, count)
      seeNamed('own look-up', (await send('GET', `/users/${id}`)).json())
      const [found] = (await send('GET', `/users?email=client${number}@example.org`)).json().data
      seeNamed('search', found)
      // Of their key one export runs at a time.
      if (number > 0 || count % 10 !== 0) return
      const lines = (await send('GET', '/users/export')).body.trimEnd().split('\n').map((line) => JSON.parse(line))
      seeNamed('export', lines.find((each) => each.id === id))
    },
    async shared (count: number): Promise<void> {
      const id = String(ids[(number + count) % ids.length])
      await sendTo(id, 'PATCH', { name: `name ${process.hrtime.bigint()}` })
      await sendTo(id, 'GET')
      await sendTo(String(ids[count % ids.length]), 'GET')
      await list()
      const email = `made${number}-${count}@example.org`
      if (count % 5 === 0) {
        await send('POST', '/users', { name: 'made', email })
        total++
        await list()
      }
    }
  }
}

/** Runs clients until `stop` is called, and lets others wait until each has sent so many requests more. */
async function startCrowd (t: Test, call: Call) {
  const tally: Tally = { requests: 0, failed: [], backwards: [] }
  const create = async (email: string): Promise<string> =>
    (await call('POST', '/users', { payload: { name: 'own 0', email } })).json().id
  const ids = await Promise.all(Array.from({ length: SHARED }, (_, i) => create(`shared${i}@example.org`)))
  const clients = await Promise.all(Array.from({ length: CLIENTS }, async (_, i) => ({
    id: await create(`client${i}@example.org`), client: createClient(call, i, ids, tally)
  })))
  const ending = new AbortController()
  const running = Promise.all(clients.map(async ({ id, client }) => {
    for (let count = 1; !ending.signal.aborted; count++) {
      await client.own(id, count)
      await client.shared(count)
    }
  }))
  running.catch(() => {})
  t.teardown(() => ending.abort())
  return {
    tally,
    async phase (): Promise<void> {
      const goals = clients.map(({ client }) => ({ client, goal: client.requests + REQUESTS }))
      await Promise.race([running, until('the requests of a phase', () =>
        goals.every(({ client, goal }) => client.requests >= goal), 120_000)])
    },
    async stop (): Promise<void> {
      ending.abort()
      await running
    }
  }
}

test('clients with tokens see nothing older, whatever becomes of the standbys', { timeout: 600_000 }, async (t) => {
  const servers = await openReplicated(t, 2)
  const { primary, standbys: [first, second] } = servers
  if (first === undefined || second === undefined) throw new Error('there are no standbys')
  const { storage, reported } = await replicatedStorage(servers, { schema: 'crowd', pool: { max: 8 } })
  const { call } = await testApp(t, { storage, openapi: false, server: { logger: { level: 'fatal' } } })
  await Promise.all([reported(null, 0), reported(null, 1)])

  await t.test('what one standby has shown is not older on another one', async (t) => {
    const payload = { name: 'Ada', email: 'ada@example.org' }
    const created = await call('POST', '/users', { payload })
    const read = (token: string) =>
      call('GET', `/users/${created.json().id}`, { headers: { 'consistency-token': token } })
    for (const standby of servers.standbys) await caughtUp(servers, standby)
    await pauseReplay(first)
    t.teardown(() => resumeReplay(first))
    await call('PATCH', `/users/${created.json().id}`, { payload: { name: 'Ada Lovelace' } })
    await caughtUp(servers, second)
    const seen = new Set<string>()
    await until('an answer of each standby', async () => {
      const answer = await read(tokenOf(created))
      seen.add(String(answer.headers.etag))
      if (answer.headers.etag === '"1"') return seen.size === 2
      for (let i = 0; i < 4; i++) t.equal((await read(tokenOf(answer))).headers.etag, '"2"')
      return seen.size === 2
    })
    t.strictSame([...seen].sort(), ['"1"', '"2"'])
  })

  // Standbys that lag, are gone or are promoted, one after the other: standbys.test.ts.
  await t.test('a crowd sees nothing older', { skip: from('nightly') }, async (t) => {
    const counts = countCalls(t)
    const crowd = await startCrowd(t, call)
    const { tally } = crowd
    async function phase (what: string, begin: () => Promise<unknown>): Promise<void> {
      const [before, onStandbys] = [tally.requests, standbyReads()]
      await begin()
      await crowd.phase()
      t.comment(`${what}: ${tally.requests - before} requests, ${standbyReads() - onStandbys} sent to standbys`)
    }
    const standbyReads = () => [...counts].reduce((sum, [name, n]) => name.startsWith('standbys.') ? sum + n : sum, 0)

    await phase('both right', async () => {})
    t.ok(standbyReads() > 0, 'standbys are read')
    await phase('one paused', () => pauseReplay(first))
    await phase('both paused', () => pauseReplay(second))
    await phase('one resumed', () => resumeReplay(first))
    await phase('the other resumed', () => resumeReplay(second))
    await phase('one killed', () => first.kill())
    await phase('one frozen', async () => second.signal('SIGSTOP'))
    await phase('the frozen one goes on', async () => second.signal('SIGCONT'))
    await phase('the killed one is back', async () => {
      await first.start()
      await reported(null, 0)
    })
    await phase('killed and started again five times', async () => {
      for (let i = 0; i < 5; i++) {
        await first.kill()
        await first.start()
      }
    })
    await reported(null, 1)
    await phase('one promoted, and written by somebody else', async () => {
      await second.sql('SELECT pg_promote()')
      await second.sql("UPDATE crowd.fastify_users_users SET name = 'split 0', version = 1")
    })
    await reported(/^it is no longer a standby/, 1)
    await reported(null, 0)
    await phase('the other one alone', async () => {})
    await crowd.stop()
    t.strictSame(tally.failed.slice(0, 5), [], 'no request failed')
    t.strictSame(tally.backwards.slice(0, 5), [], 'nothing was read backwards')
    const [row] = await primary.sql('SELECT count(*)::int AS count FROM crowd.fastify_users_users')
    const listed = await call('GET', '/users', { headers: { 'consistency-token': 'primary' } })
    t.equal(listed.json().meta.total, row?.['count'])
  })
})
