import assert from 'node:assert/strict'
import { inspect, isDeepStrictEqual } from 'node:util'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import { type Repository, repositoryIn, repositoryOf } from '../../lib/storage/repository.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { memory } from '../memory/index.ts'
import type { Begin } from './host-transaction.ts'
import { drawHistory, HISTORY_NEEDS, type Step } from './history-steps.ts'
import { wholeLog } from './log.ts'
import type { SchemaCases } from './open.ts'
import { COLLECTIONS, countAll, listAll } from './rows.ts'
import { shrink } from './shrink.ts'
import { inside, type TransactionCases } from './transactions.ts'
import { everyone } from './values.ts'
import { NotWritten } from './watch.ts'

const HISTORIES = 6
const INSIDE = 3
const STEPS = 70
const LOOK_EVERY = 7

const page = { order: 'asc', limit: 100, from: { offset: 0 } } as const
// The rules name each call that keeps its outcomes.
const RUN = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g

/** What a step gives: a value, or the code of what it throws. */
async function play (repository: Repository, { method, args }: Step): Promise<unknown> {
  const [part = '', name] = method.split('.')
  const target: object = name === undefined ? repository : Object(Reflect.get(repository, part))
  const given: unknown[] = structuredClone([...args])
  // What decides about a change is a function.
  if (method === 'webhooks.change') given[2] = () => structuredClone(args[2])
  try {
    const value: unknown = await Reflect.apply(Object(Reflect.get(target, name ?? part)), target, given)
    return { gave: value ?? null }
  } catch (error) {
    if (isStorageError(error)) return { threw: error.code }
    throw error
  }
}

/** All that a store has. The log is read after the end of a transaction. */
async function stateOf (storage: Storage, hasLog: boolean): Promise<Record<string, unknown>> {
  const { items: users, total } = await storage.users.list(everyone, page)
  const state: Record<string, unknown> = {
    users: await storage.find('users', users.map(({ id }) => ({ id }))),
    total,
    tenants: await storage.listTenants(page)
  }
  for (const name of COLLECTIONS) {
    if (name === 'users' || name === 'marks') continue
    const { items, total: number } = await listAll(storage, name)
    state[name] = { number, rows: items.map((row) => JSON.stringify(sorted(row)).replace(RUN, 'run')).sort() }
  }
  if (hasLog) {
    state['events'] = await wholeLog(storage)
    state['pruned'] = await storage.log.pruned()
  }
  return state
}

/** A value whose members are in one order. */
function sorted (value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, member]) => [name, sorted(member)]))
}

const FORMAT = { depth: null, breakLength: 110, maxStringLength: 300 } as const

function requireSame (actual: unknown, expected: unknown, steps: readonly Step[], what: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  const lines = steps.map(({ method, args }) =>
    `await repository.${method}(${args.map((arg) => inspect(arg, FORMAT)).join(', ')})`)
  const differs = Object.keys(Object(expected)).filter((name) =>
    !isDeepStrictEqual(Object(actual)[name], Object(expected)[name]))
  const only = (value: unknown) => Object.fromEntries(differs.map((name) => [name, Object(value)[name]]))
  assert.fail([
    `after these operations ${what} is not what memory() has (in webhooks.change, a function gives the third argument):`,
    ...lines, `  expected: ${inspect(only(expected), FORMAT)}`, `  got:      ${inspect(only(actual), FORMAT)}`
  ].join('\n'))
}

/**
 * True if a call adds a user whose id may be there: its address may be taken too, and a store may meet either first.
 * `there`: who is there before the call.
 */
function isAmbiguous ({ method, args: [asked] }: Step, there: Set<string>): boolean {
  if (!method.startsWith('users.write')) return false
  return [asked].flat().some((write) => {
    const { type, user, id, guard } = Object(write)
    if (type === 'create' || type === 'restore') {
      const added: string = user?.id ?? id
      if (there.has(added)) return true
      there.add(added)
    } else if (type !== 'update' && guard.ifVersion === null && guard.unlessVersion.length === 0) there.delete(id)
    return false
  })
}

/** Plays a history on both, and compares each outcome, and all that is there. */
async function playBoth (storage: Storage, repository: Repository, steps: readonly Step[], hasLog: boolean): Promise<Storage> {
  const model = memory()
  await model.open({ migrate: true, ...HISTORY_NEEDS })
  const expected = repositoryOf(model)
  for (const [i, step] of steps.entries()) {
    const before = steps.slice(0, i + 1)
    const { items } = await model.users.list(everyone, page)
    if (isAmbiguous(step, new Set(items.map(({ id }) => id)))) continue
    requireSame(await play(repository, step), await play(expected, step), before, 'what the last one gave')
    if (i % LOOK_EVERY !== LOOK_EVERY - 1 && i < steps.length - 1) continue
    requireSame(await stateOf(storage, hasLog), await stateOf(model, hasLog), before, 'what is there')
  }
  return model
}

/** Plays histories. One that fails is shortened before it is reported. */
async function playHistories (
  seed: number, count: number, inTransaction: boolean, run: (steps: readonly Step[]) => Promise<void>
): Promise<void> {
  const failureOf = (steps: readonly Step[]): Promise<Error | null> => run(steps).then(() => null, (error: unknown) =>
    error instanceof Error ? error : new Error(String(error)))
  for (let n = 0; n < count; n++) {
    const steps = drawHistory(seed + n, STEPS, inTransaction)
    let last = await failureOf(steps)
    if (last === null) continue
    if (last instanceof NotWritten) throw last
    await shrink(steps, async (some) => {
      const error = await failureOf(some)
      last = error ?? last
      return error !== null
    })
    const error = new assert.AssertionError({ message: `with the seed ${seed}, ${last.message}` })
    error.cause = last
    throw error
  }
}

/** The duty that plays our operations. Each history has a store of its own, which it opens. */
export const historyCases = (seed: number): SchemaCases => ({
  'histories: random operations end, and leave everything, as on memory()': async (create) => {
    await playHistories(seed, HISTORIES, false, async (steps) => {
      const storage = await create()
      await storage.open({ migrate: true, ...HISTORY_NEEDS })
      await playBoth(storage, repositoryOf(storage), steps, true)
    })
  }
})

/** The same in a transaction of the host's, which commits, or is rolled back. */
export const historyTransactionCases: TransactionCases = {
  'join, histories: random operations inside a transaction end, and leave everything, as on memory()': async (
    storage, begin: Begin, { seed }
  ) => {
    await playHistories(seed, INSIDE, true, async (steps) => {
      const host = await begin()
      try {
        const within = inside(storage, host)
        await playBoth(within, repositoryIn(within), steps, false)
      } finally {
        await host.rollback()
      }
      const counts = Object.values(await countAll(storage))
      assert.deepEqual(counts, counts.map(() => 0), 'after the rollback')
    })
    const host = await begin()
    const within = inside(storage, host)
    const model = await playBoth(within, repositoryIn(within), drawHistory(seed, STEPS, true), false)
    await host.commit()
    assert.deepEqual(await stateOf(storage, true), await stateOf(model, true), 'after the commit')
  }
}
