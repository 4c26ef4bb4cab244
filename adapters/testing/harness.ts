import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { missingFrom } from '../../lib/storage/storage-rules.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { type KitStorage, kitStorage } from './kit-storage.ts'
import { firstPage } from './list-values.ts'
import type { HostTransaction } from './host-transaction.ts'
import { everyone } from './values.ts'
import { newWatch, NotWritten, type Watch, watchedStorage } from './watched-storage.ts'

/** A store to test, with what its tests need beside it. */
export interface Subject {
  /** The store. It may lack methods that are not written yet. */
  storage: Partial<Storage>
  /** Required if the store supports transactions: begins one on the same database, as a host does. */
  begin?: () => Promise<HostTransaction>
  /** Removes what `create` made. Called after each duty, when the store is closed. */
  destroy?: () => Promise<unknown>
}

/** Makes an empty store, apart from all others. */
export type Create = () => Partial<Storage> | Subject | Promise<Partial<Storage> | Subject>

/** A store that has every method: those that are not written end the duty. */
export interface WatchedSubject extends Omit<Subject, 'storage'> {
  storage: KitStorage
}

interface GivenSubject extends Subject {
  storage: Storage
}

function subjectOf (created: unknown): GivenSubject {
  const given: { storage?: unknown, findUser?: unknown } = Object(created)
  const storage: unknown = given.storage ?? created
  if (typeof storage !== 'object' || storage === null) {
    throw new TypeError(`create() gave ${inspect(created)}: return the store, or { storage, begin, destroy }`)
  }
  return given.storage === undefined ? Object({ storage }) : Object(created)
}

/** Refuses a store that would fail every duty, and says why. Lists that are not written yet say nothing. */
async function requireEmpty (storage: Storage, lacks: ReadonlySet<string>): Promise<void> {
  const users = lacks.has('listUsers') ? [] : (await storage.listUsers(everyone, firstPage(10))).items
  const keys = lacks.has('listApiKeys') ? [] : (await storage.listApiKeys(firstPage(10))).items
  assert.equal(users.length + keys.length, 0, 'create() must give an empty store, apart from all others')
}

/** Refuses a store that does not say what it is. */
function requireDescription ({ name }: Partial<Storage>): void {
  assert.ok(typeof name === 'string' && name !== '', 'the store needs a `name`: a short text for messages')
}

/** Brings a store up with the methods that are written. */
async function ready (storage: Storage, lacks: ReadonlySet<string>): Promise<void> {
  if (!lacks.has('migrate')) await storage.migrate()
  if (!lacks.has('check')) await storage.check()
}

function lateMessage (ms: number, { pending }: Watch): string {
  const waiting = [...pending].filter(([, calls]) => calls > 0)
  const list = waiting.map(([method, calls]) => (calls === 1 ? method : `${calls} calls of ${method}`)).join(', ')
  return `the duty did not end within ${ms} ms${list === '' ? '' : `: it still waits for ${list}`}`
}

function withLimit<Result> (promise: Promise<Result>, ms: number, watch: Watch): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: lateMessage(ms, watch) })), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/**
 * Runs with a store that is brought up, and closes and destroys it afterwards. The first error is reported. `hasParts`:
 * the duty is made of others that have stores and limits of their own, so together they may take longer.
 */
export async function withSubject<Result> (
  create: Create,
  run: (subject: WatchedSubject, watch: Watch) => Promise<Result>,
  { timeout: ms, migrate = true, hasParts = false }: { timeout: number, migrate?: boolean, hasParts?: boolean }
): Promise<Result> {
  const watch = newWatch()
  const subject = subjectOf(await create())
  const { storage, destroy = async () => {} } = subject
  const lacks: ReadonlySet<string> = new Set(missingFrom(storage))
  const close = async () => {
    if (!lacks.has('close')) await storage.close()
  }
  // Those of optional parts are known when a duty has needed them.
  const notWritten = (method: string) => new NotWritten(method, [...new Set([...lacks, ...watch.missing])])
  let result: Result
  try {
    const watched = watchedStorage(storage, watch)
    const prepare = async () => {
      requireDescription(storage)
      if (!migrate) return
      await ready(watched, lacks)
      await requireEmpty(watched, lacks)
    }
    const work = async () => run({ ...subject, storage: kitStorage(watched) }, watch)
    result = hasParts
      ? await withLimit(prepare(), ms, watch).then(work)
      : await withLimit(prepare().then(work), ms, watch)
    if (watch.breach !== null) throw watch.breach
    // Duties that expect a refusal, or ignore one, have not been reached either.
    const [missing] = watch.missing
    if (missing !== undefined) throw notWritten(missing)
    await withLimit(close(), ms, watch)
  } catch (error) {
    // Closing and destroying may fail as a consequence of the error.
    await withLimit(close(), 1000, watch).catch(() => {})
    await Promise.resolve().then(destroy).catch(() => {})
    const [missing] = watch.missing
    throw missing === undefined || watch.breach !== null ? watch.breach ?? error : notWritten(missing)
  }
  await destroy()
  return result
}
