// What tests of the conformance kit, and of stores by it, share. The number of duties is derived from the kit itself.
import type { Knex } from 'knex'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { type HostTransaction, testStorage, type TestStorageOptions } from '../../adapters/testing/index.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { from } from './level.ts'

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

const transactionDuties = DUTIES.filter((name) => name.startsWith('joinTransaction')).length
const needsLog = (name: string) => /^(?:joinTransaction, )?eventLog\b/.test(name)
const needsBatches = (name: string) => /^writeUsers\b|about batches/.test(name)
const needsWebhooks = (name: string) => /^webhooks\.|duties about (?:webhooks|deliveries) hold$/.test(name)
const needsKeyUses = (name: string) => name.startsWith('keyUses.')
const needsTenants = (name: string) => /\btenants\b/.test(name)
const needsTrash = (name: string) => /\b(?:put(?:ting)? away|restor|purg|trash\b)/.test(name)

/** What a store has; by default an event log, batches, webhooks, tenants, trash and uses of keys. */
interface KitSupports {
  transactions: boolean
  eventLog?: boolean
  batches?: boolean
  webhooks?: boolean
  tenants?: boolean
  trash?: boolean
  keyUses?: boolean
}

/** The beginning of the report of a store that passes every duty that it supports. */
export function passedReport (store: string, supports: KitSupports): string {
  const {
    transactions, eventLog = true, batches = true, webhooks = true, tenants = true, trash = true, keyUses = true
  } = supports
  // Duties that need several parts count for the first one that is missing.
  const begun = DUTIES.filter((name) => (transactions || !name.startsWith('join')) &&
    (tenants || !needsTenants(name)))
  const reached = begun.filter((name) => trash || !needsTrash(name))
  const lacks = [
    ...transactions ? [] : [{ what: 'transactions', duties: transactionDuties }],
    ...eventLog ? [] : [{ what: 'event log', duties: reached.filter(needsLog).length }],
    ...batches ? [] : [{ what: 'batches', duties: reached.filter((name) => needsBatches(name)).length }],
    ...webhooks ? [] : [{ what: 'webhooks', duties: reached.filter(needsWebhooks).length }],
    ...tenants ? [] : [{ what: 'tenants', duties: DUTIES.filter(needsTenants).length }],
    ...trash ? [] : [{ what: 'trash', duties: begun.filter(needsTrash).length }],
    ...keyUses ? [] : [{ what: 'uses of keys', duties: reached.filter(needsKeyUses).length }]
  ]
  const passed = DUTIES.length - lacks.reduce((sum, { duties }) => sum + duties, 0)
  const words = lacks.map(({ what, duties }) => `${what} (${duties} duties)`).join(', ')
  const declared = lacks.length === 0 ? 'nothing unsupported' : `unsupported: ${words}`
  return `fastify-users/testing: ${store}: ${passed} duties passed, 0 failed, 0 not reached; ` +
    `the store declares ${declared}; `
}

// It ends what hangs. How slow a machine is, beside other work, says nothing of a store.
export const KIT_TIMEOUT_MS = 300_000

// The same histories each time: KIT_SEED=7 npm test -- test/adapters/conformance.test.ts plays others.
const SEED = Number(process.env['KIT_SEED'] ?? 1)

/** Makes a store. `isNew`: without tables, for a duty about making them. */
export type CreateFor = (isNew: boolean) => ReturnType<Create>

/** True if a duty is about making tables, so that its store must have none yet. */
export const isAboutTables = (duty: string): boolean => /^(?:migrate|check)\b/.test(duty)

/** How a run differs: `quick` as the kit says it, and which duties it has, by default all. */
interface RunOptions extends Pick<TestStorageOptions, 'quick'> {
  has?: (duty: string) => boolean
}

/** Registers duties as subtests of `t`: the lines of the report, and the name of the store that is made. */
function register (t: Test, create: CreateFor, { quick = false, has = () => true }: RunOptions) {
  const told = { lines: new Array<string>(), store: '' }
  let duty = ''
  const make = async () => {
    const created = await create(isAboutTables(duty))
    told.store = String(('storage' in created ? created.storage : created).name)
    return created
  }
  const test = (name: string, run: () => Promise<void>) => {
    if (!has(name)) return
    t.test(name, async () => {
      duty = name
      await run()
    })
  }
  // Every way to meet is looked for at night. What takes few of them in CI finds most of the faults, in a third of the
  // time.
  const interleavings = from('nightly') === false ? 'all' : 'few'
  const report = (line: string) => told.lines.push(line)
  testStorage({ test, create: make, seed: SEED, timeoutMs: KIT_TIMEOUT_MS, quick, interleavings, report })
  return told
}

/** Runs the kit as subtests, and checks that every duty passed which the store supports. */
export function runKit (t: Test, create: CreateFor, supports: KitSupports, { quick = false }: RunOptions = {}): void {
  const told = register(t, create, { quick })
  t.test('the report', async (t) => {
    const [first = '', second = ''] = told.lines
    if (quick) {
      t.match(first, / 0 failed, 0 not reached;.*, quick$/)
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
  const { joinTransaction, ...others } = storage
  return others
}

/** Begins transactions on a Knex instance, as a host does. */
export function transactionsOf (host: Knex): () => Promise<HostTransaction> {
  return async () => {
    const transaction = await host.transaction()
    return { transaction, commit: async () => transaction.commit(), rollback: async () => transaction.rollback() }
  }
}
