import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { postgres, type PostgresOptions } from '../../adapters/postgres.ts'
import { type FaultyPostgres, openPostgres, openStandby } from '../../faults/lib/postgres.mjs'
import type { StandbyReport } from '../../lib/storage/storage.ts'
import { testApp, type TestAppOptions } from './app.ts'
import { until } from './until.ts'

export interface Replicated {
  primary: FaultyPostgres
  standbys: FaultyPostgres[]
  /** The first one. */
  standby: FaultyPostgres
}

export const ada = { name: 'Ada', email: 'ada@example.org' }

/** A primary and standbys of it, closed with the test. */
export async function openReplicated (t: Test, count: number): Promise<Replicated> {
  const primary = await openPostgres()
  t.teardown(() => primary.close())
  const standbys: FaultyPostgres[] = []
  for (let i = 0; i < count; i++) {
    const standby = await openStandby(primary)
    t.teardown(() => standby.close())
    standbys.push(standby)
  }
  const [standby] = standbys
  if (standby === undefined) throw new Error('there is no standby')
  return { primary, standbys, standby }
}

/** A storage on them, and what it has reported of each standby. */
export async function replicatedStorage (
  servers: Pick<Replicated, 'primary' | 'standbys'>, options: Partial<PostgresOptions> = {}
) {
  const replicas = servers.standbys.map(({ url }) => url)
  const storage = postgres({ connection: servers.primary.url, replicas, ...options })
  const reports: StandbyReport[] = []
  const { standbys } = storage.server
  standbys?.watch((report) => reports.push(report))
  const latest = (name: string) => reports.findLast((report) => report.name === name)
  /** Waits until a standby is right, or is left alone for this reason. */
  async function reported (problem: RegExp | null, index = 0): Promise<void> {
    await standbys?.reads()
    await until(`replicas[${index}] is ${String(problem ?? 'right')}`, () => {
      const report = latest(`replicas[${index}]`)
      if (report === undefined) return false
      return problem === null ? report.problem === null : problem.test(report.problem ?? '')
    })
  }
  return { storage, reports, reported }
}

/** Stops or continues the replay of a standby. */
export async function pauseReplay (standby: FaultyPostgres): Promise<void> {
  await standby.sql('SELECT pg_wal_replay_pause()')
  await until('the pause of the replay', async () =>
    (await standby.sql("SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'")).length === 1)
}

export const resumeReplay = (standby: FaultyPostgres) => standby.sql('SELECT pg_wal_replay_resume()')

/** Waits until a standby has replayed what its primary has committed. */
export async function caughtUp ({ primary }: Pick<Replicated, 'primary'>, standby: FaultyPostgres): Promise<void> {
  const [row] = await primary.sql('SELECT pg_current_wal_flush_lsn()::text AS lsn')
  await until('the replay', async () =>
    (await standby.sql('SELECT 1 WHERE pg_last_wal_replay_lsn() >= $1::pg_lsn', [row?.['lsn']])).length === 1)
}

/** A server whose storage has a standby that is right. */
export async function openApp (
  t: Test, servers: Replicated, schema: string, options: Partial<PostgresOptions> = {}, appOptions: TestAppOptions = {}
) {
  const { storage, reported, reports } = await replicatedStorage(servers, { schema, replicaWaitMs: 0, ...options })
  const app = await testApp(t, { storage, eventLog: true, ...appOptions })
  await reported(null)
  return { ...app, storage, reported, reports }
}

/** The same, whose standby does not have the latest change of the one user. */
export async function openBehind (t: Test, servers: Replicated, ...of: [schema: string, ...Array<object | undefined>]) {
  const opened = await openApp(t, servers, ...of)
  const created = await opened.call('POST', '/users', { payload: ada })
  await caughtUp(servers, servers.standby)
  await pauseReplay(servers.standby)
  t.teardown(() => resumeReplay(servers.standby))
  const path = `/users/${created.json().id}`
  const changed = await opened.call('PATCH', path, { payload: { name: 'Ada Lovelace' } })
  const get = (headers: Record<string, string> = {}) => opened.call('GET', path, { headers })
  return { ...opened, user: created.json(), path, created, changed, get }
}

/** Counts the calls of storages by method, until the test ends. */
export function countCalls (t: Test): Map<string, number> {
  const counts = new Map<string, number>()
  const name = 'tracing:fastify-users:storage:start'
  const count = (message: unknown): void => {
    const { method } = Object(message)
    counts.set(method, (counts.get(method) ?? 0) + 1)
  }
  subscribe(name, count)
  t.teardown(() => unsubscribe(name, count))
  return counts
}

/** The token that an answer gives. */
export function tokenOf ({ headers }: LightMyRequestResponse): string {
  return String(headers['consistency-token'])
}
