import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { missingFrom } from '../../lib/storage/storage-rules.ts'
import type { SchemaRequirements, Storage } from '../../lib/storage/storage.ts'
import type { Begin } from './host-transaction.ts'
import { everyone } from './values.ts'
import { interleaving, newWatch, NotWritten, waitingFor, type Watch, watched } from './watch.ts'

/** A store to test, with what its tests need beside it. */
export interface Created {
  /** The store. It may lack methods that are not written yet. */
  storage: Partial<Storage>
  /** Required if the store has `join`: begins a transaction on the same database, as a host does. */
  begin?: Begin
  /** Makes the store once more, on the same data, after the one before is closed: its durability is tested by this. */
  reopen?: () => Partial<Storage> | Promise<Partial<Storage>>
  /** Removes what `create` made. Called after each duty, when the store is closed. */
  destroy?: () => Promise<unknown>
}

/** Makes an empty store, apart from all others. */
export type Create = () => Partial<Storage> | Created | Promise<Partial<Storage> | Created>

/** A store that has every method: those that are not written end the duty. */
export interface WatchedStore extends Pick<Created, 'begin'> {
  storage: Storage
  /** Closes the store, and opens it again. */
  reopen?: () => Promise<Storage>
}

interface Opened extends WatchedStore { end: () => Promise<void> }

const first = { order: 'asc', limit: 10, from: { offset: 0 } } as const

function createdOf (created: unknown): Created {
  const given: { storage?: unknown } = Object(created)
  const storage: unknown = given.storage ?? created
  if (typeof storage !== 'object' || storage === null) {
    throw new TypeError(`create() gave ${inspect(created)}: return the store, or { storage, begin, destroy }`)
  }
  return given.storage === undefined ? { storage } : Object(created)
}

/** Refuses a store that would fail every duty, and says why. Lists that are not written yet say nothing. */
async function requireEmpty (storage: Storage, lacks: ReadonlySet<string>): Promise<void> {
  const users = lacks.has('users.list') ? 0 : (await storage.users.list(everyone, first)).total
  const keys = lacks.has('list') ? 0 : (await storage.list('apiKeys', { page: first })).total
  assert.equal(users + keys, 0, 'create() must give an empty store, apart from all others')
}

/** Makes a store and watches it. `needs`: what it is opened for; null: nobody has opened it. */
async function openOne (create: Create, watch: Watch, needs: SchemaRequirements | null): Promise<Opened> {
  const created = createdOf(await create())
  const { name } = created.storage
  const lacks: ReadonlySet<string> = new Set(missingFrom(created.storage))
  const storage = watched(created.storage, watch)
  let present = storage
  const { begin, reopen } = created
  const opened: Opened = {
    storage,
    ...(begin !== undefined && { begin }),
    ...(reopen !== undefined && {
      async reopen () {
        await present.close()
        present = watched(await reopen(), watch, 'opened again: ')
        await present.open({ migrate: true, ...needs })
        return present
      }
    }),
    async end () {
      try {
        if (!lacks.has('close')) await present.close()
      } finally {
        await created.destroy?.()
      }
    }
  }
  try {
    assert.ok(typeof name === 'string' && name !== '', 'the store needs a `name`: a short text for messages')
    if (needs !== null && !lacks.has('open')) await storage.open({ migrate: true, ...needs })
    if (needs !== null) await requireEmpty(storage, lacks)
    return opened
  } catch (error) {
    await opened.end().catch(() => {})
    throw error
  }
}

async function withLimit<Result> (promise: Promise<Result>, ms: number, watch: Watch): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const waiting = watch.pending.size === 0 ? '' : `: it still waits for ${waitingFor(watch)}`
      reject(new assert.AssertionError({ message: `the duty did not end within ${ms} ms${waiting}` }))
    }, ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** The error that a duty has failed with, which says in which order its calls were made. */
function failureOf (given: unknown, watch: Watch, lacks: readonly string[]): unknown {
  const [missing] = watch.missing
  if (missing !== undefined && watch.breach === null) return new NotWritten(missing, [...watch.missing, ...lacks])
  const error = watch.breach ?? given
  if (error instanceof Error) error.message += interleaving(watch)
  return error
}

/**
 * Runs with stores, and closes and destroys them afterwards. The first error is reported. `run` gets a function that
 * makes one: `needs` as of `openOne`.
 */
export async function withStores<Result> (
  create: Create,
  timeout: number,
  run: (open: (needs: SchemaRequirements | null) => Promise<WatchedStore>) => Promise<Result>
): Promise<Result> {
  const watch = newWatch()
  const all: Opened[] = []
  const lacks = new Set<string>()
  async function open (needs: SchemaRequirements | null): Promise<WatchedStore> {
    const opened = await openOne(async () => {
      const created = await create()
      for (const method of missingFrom(createdOf(created).storage)) lacks.add(method)
      return created
    }, watch, needs)
    all.push(opened)
    return opened
  }
  const endAll = async (): Promise<void> => {
    for (const { end } of all.splice(0)) await end()
  }
  try {
    const result = await withLimit(run(open), timeout, watch)
    if (watch.breach !== null) throw watch.breach
    // Duties that expect a refusal, or ignore one, have not been reached either.
    const [missing] = watch.missing
    if (missing !== undefined) throw new NotWritten(missing)
    await withLimit(endAll(), timeout, watch)
    return result
  } catch (error) {
    const failure = failureOf(error, watch, [...lacks])
    // Closing and destroying may fail as a consequence of the error.
    await withLimit(endAll(), 1000, watch).catch(() => {})
    throw failure
  }
}
