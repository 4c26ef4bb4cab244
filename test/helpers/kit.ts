// What tests of the conformance kit, and of stores by it, share. The number of duties is derived from the kit itself.
import type { Knex } from 'knex'
import type { Test } from 'tap'
import { knexStorage, type KnexStorageOptions } from '../../adapters/knex/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import {
  type HostTransaction, type Isolation, testStorage, type TestStorageOptions
} from '../../adapters/testing/index.ts'
import { NEEDS } from '../../adapters/testing/subjects.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import type { Places } from './recycled.ts'

type Create = TestStorageOptions['create']

/** The tests that the kit registers for the stores that `create` makes, in order, and the lines that it reports. */
export function registered (create: Create, options: Partial<TestStorageOptions> = {}): {
  tests: Array<{ name: string, run: () => Promise<void> }>
  lines: string[]
} {
  const tests: Array<{ name: string, run: () => Promise<void> }> = []
  const lines: string[] = []
  const test = (name: string, run: () => Promise<void>) => tests.push({ name, run })
  testStorage({ seed: 1, progress: () => {}, ...options, test, create, report: (line) => lines.push(line) })
  return { tests, lines }
}

/** The name of the last test, which checks nothing and prints the report. */
export const REPORT_TEST = 'report'

/** The names of all tests that the kit registers. */
export const KIT_TESTS: readonly string[] = registered(memory).tests.map(({ name }) => name)

/** The names of all duties. */
export const DUTIES = KIT_TESTS.filter((name) => name !== REPORT_TEST)

/** True if a duty is about transactions of the host's. */
export const isOfTransactions = (duty: string): boolean => duty.startsWith('join')

/** The beginning of the report of a store that passes every duty that it supports. */
export function passedReport (store: string, { transactions }: { transactions: boolean }): string {
  const left = transactions ? 0 : DUTIES.filter(isOfTransactions).length
  const what = left === 0 ? '' : `, ${left} about transactions, which the store does not join`
  return `fastify-users/testing: ${store}: ${DUTIES.length - left} duties passed, 0 failed, 0 not reached${what}; `
}

// It ends what hangs. How slow a machine is, beside other work, says nothing of a store.
export const KIT_TIMEOUT_MS = 300_000

// The same histories each time: KIT_SEED=7 npm test -- test/adapters/conformance.test.ts plays others.
const SEED = Number(process.env['KIT_SEED'] ?? 1)

/** Makes a store. `isNew`: without tables, for a duty about making them. */
export type CreateFor = (isNew: boolean) => ReturnType<Create>

/** True if a duty is about making tables, so that its store must have none yet. */
export const isAboutTables = (duty: string): boolean => /^(?:open|histories)\b/.test(duty)

/** Opens a store for all duties, so that those who use its tables again need not make the indexes again. */
export async function openedForKit (storage: Storage): Promise<Storage> {
  await storage.open({ migrate: true, ...NEEDS })
  return storage
}

/** How a run differs: `quick` as the kit says it, and which duties it has, by default all. */
interface RunOptions extends Pick<TestStorageOptions, 'quick'> {
  has?: (duty: string) => boolean
}

/** Registers duties as subtests of `t`: the lines of the report, and the name of the store that is made. */
function register (t: Test, create: CreateFor, { quick = false, has = () => true }: RunOptions) {
  const told = { store: '' }
  let duty = ''
  const make = async () => {
    const created = await create(isAboutTables(duty))
    told.store = String(('storage' in created ? created.storage : created).name)
    return created
  }
  const { tests, lines } = registered(make, { seed: SEED, timeoutMs: KIT_TIMEOUT_MS, quick })
  for (const { name, run } of tests.filter((each) => has(each.name))) {
    t.test(name, async () => {
      duty = name
      await run()
    })
  }
  return Object.assign(told, { lines })
}

/** Runs the kit as subtests, and checks that every duty passed which the store supports. */
export function runKit (
  t: Test, create: CreateFor, supports: { transactions: boolean }, { quick = false }: RunOptions = {}
): void {
  const told = register(t, create, { quick })
  t.test('the report', async (t) => {
    const [first = '', second = ''] = told.lines
    if (quick) {
      t.match(first, / 0 failed, 0 not reached.*, quick$/)
      return
    }
    t.ok(first.startsWith(passedReport(told.store, supports)), first)
    t.match(second, /^For the README of the adapter: passes the conformance kit of fastify-users /)
  })
}

/** Runs some duties as subtests. */
export function runDuties (t: Test, create: CreateFor, has: (duty: string) => boolean): void {
  register(t, create, { has })
}

/** The store without transactions, for stores that are on no database of a host that could begin one. */
export function withoutTransactions (storage: Storage): Storage {
  const { join, ...others } = storage
  return others
}

/** Begins transactions on a Knex instance, as a host does. */
export function transactionsOf (host: Knex): (isolation?: Isolation) => Promise<HostTransaction> {
  const isPostgres = String(host.client.config.client) === 'pg'
  const of = (transaction: Knex.Transaction): HostTransaction => ({
    transaction,
    commit: async () => transaction.commit(),
    rollback: async () => transaction.rollback(),
    nested: async () => of(await transaction.transaction())
  })
  return async (isolation) => of(await (isolation === undefined || !isPostgres
    ? host.transaction()
    : host.transaction({ isolationLevel: isolation })))
}

/** Knex settings like its snake-case mappers: they change every identifier in a query, and every row of an answer. */
export const mappers = {
  wrapIdentifier: (value: string, original: (value: string) => string) => original(value.toUpperCase()),
  postProcessResponse: () => { throw new Error('the host processes our rows') }
}

interface OnHost { host: Knex, options?: KnexStorageOptions }

/** Makes stores on Knex instances of a host's. `placesFor` gets a function that makes the tables at a place. */
export function onHosts (
  make: (place: string) => OnHost | Promise<OnHost>, placesFor: (at: (place: string) => Promise<Storage>) => Places
): CreateFor {
  const places = placesFor(async (place) => {
    const { host, options } = await make(place)
    const storage = await openedForKit(knexStorage(host, options))
    return { ...storage, close: async () => { await storage.close(); await host.destroy() } }
  })
  return async (isNew) => {
    const place = await places.take(isNew)
    const { host, options } = await make(place)
    const destroy = async () => {
      await host.destroy()
      await places.giveBack(place)
    }
    const at = () => knexStorage(host, options)
    return { storage: at(), reopen: at, begin: transactionsOf(host), destroy }
  }
}
