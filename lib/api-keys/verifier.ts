import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { lazy } from '../core/lazy.ts'
import { settleWithin } from '../core/settle.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { endOf } from '../storage/storage-rules.ts'
import type { ApiKeyRecord } from '../storage/storage.ts'
import { digestSecret, type KeyParts } from './key-text.ts'

const MAX_ENTRIES = 10_000
const UNKNOWN_TTL_MS = 1000
const TOUCH_INTERVAL_MS = 60_000
const SETTLE_LIMIT_MS = 2000
// A look-up that is overtaken by key changes this often is answered, but not cached.
const MAX_READS = 3
const NO_DIGEST = ''.padStart(43, '-')

// One storage can serve several mounts of a process: a revocation through one of them clears the caches of all.
const cachesOf = new WeakMap<Repository, Set<() => void>>()

/** A cached look-up: the record, if there is one, and until when the key works. */
interface LookUp { record: ApiKeyRecord | null, end: number }

/** Why a stored key is refused: no record, another secret, revoked, expired, or used from another address. */
export type RefusalReason = 'unknown' | 'mismatch' | 'revoked' | 'expired' | 'address'

type OnRefused = (reason: RefusalReason, record: ApiKeyRecord | null) => void

export type Verifier = ReturnType<typeof createVerifier>

export interface VerifierOptions {
  repository: Repository
  /** A key may have been created with any of them; empty: without. */
  peppers: readonly string[]
  /** Seconds that a key's record may be cached; 0: never. */
  ttl: number
  /** Limits concurrent look-ups; by default it does not. */
  limited?: <Value>(work: () => Promise<Value>) => Promise<Value>
}

function reasonFor (record: ApiKeyRecord | null, proven: boolean): RefusalReason {
  if (record === null) return 'unknown'
  if (!proven) return 'mismatch'
  return record.revokedAt === null ? 'expired' : 'revoked'
}

/**
 * Verifies stored keys. It caches their records (never their texts) for a short time. After `clear`, no call is
 * answered from anything that was read before it.
 */
export function createVerifier ({ repository, peppers, ttl: seconds, limited = (work) => work() }: VerifierOptions) {
  const ttl = seconds * 1000
  const candidates = peppers.length === 0 ? [undefined] : peppers
  // By the clock itself: a moment that is kept for a millisecond needs a timer for it, which costs more.
  const cache = lazy(() => new LRUCache<string, LookUp>({ max: MAX_ENTRIES, ttlResolution: 0 }))
  const running = new Map<string, Promise<LookUp>>()
  const touches = new Set<Promise<unknown>>()
  const touched = lazy(() => new LRUCache<string, number>({ max: MAX_ENTRIES }))
  let generation = 0

  async function read (start: string): Promise<LookUp> {
    for (let reads = 1; ; reads++) {
      const readIn = generation
      const asked = performance.now()
      const record = await limited(() => repository.apiKeys.find({ start }))
      // A key was changed during the read, so the result may be from before the change.
      if (readIn !== generation && reads < MAX_READS) continue
      const found = { record, end: record === null ? -Infinity : endOf(record) }
      // The result is as old as the question.
      const left = (record === null ? Math.min(UNKNOWN_TTL_MS, ttl) : ttl) - (performance.now() - asked)
      if (left > 0 && readIn === generation) cache().set(start, found, { ttl: left })
      return found
    }
  }

  function find (start: string): LookUp | Promise<LookUp> {
    const joined = cache().get(start) ?? running.get(start)
    if (joined !== undefined) return joined
    // Without a cache, no call may get the result of an earlier question either.
    if (ttl === 0) return read(start)
    const lookUp = read(start).finally(() => { if (running.get(start) === lookUp) running.delete(start) })
    running.set(start, lookUp)
    return lookUp
  }

  function judge ({ record, end }: LookUp, secret: string, onRefused: OnRefused): ApiKeyRecord | null {
    // Every digest is compared, for an unknown key too, so that the time of a refusal does not tell why.
    const stored = Buffer.from(record === null ? NO_DIGEST : record.digest)
    let proven = false
    for (const pepper of candidates) {
      const given = Buffer.from(digestSecret(secret, pepper))
      if (stored.length === given.length && timingSafeEqual(given, stored)) proven = true
    }
    const works = Date.now() < end
    if (proven && works) return record
    onRefused(reasonFor(record, proven), record)
    return null
  }

  /**
   * The record of the key with these parts if it works now, else null; no promise if its look-up is cached. `onRefused`
   * gets the reason, and the record if there is one. Rethrows errors of the storage.
   */
  function verify (
    { start, secret }: KeyParts,
    onRefused: OnRefused = () => {}
  ): ApiKeyRecord | null | Promise<ApiKeyRecord | null> {
    const found = find(start)
    return found instanceof Promise
      ? found.then((lookUp) => judge(lookUp, secret, onRefused))
      : judge(found, secret, onRefused)
  }

  /** True if `verify`, which returned this record, would return it again without asking the storage. */
  function stillWorks (record: ApiKeyRecord): boolean {
    const cached = cache().get(record.start)
    return cached?.record === record && Date.now() < cached.end
  }

  const caches = cachesOf.get(repository) ?? new Set()
  cachesOf.set(repository, caches.add(clearThis))

  // Without a cache there is nothing to clear.
  const unwatch = ttl > 0 ? repository.storage.watch?.(clearThis) : undefined

  function clearThis (): void {
    generation++
    cache().clear()
    // Later calls start a new look-up.
    running.clear()
  }

  /** Clears the cache of every verifier on the storage; called before and after every change of a key. */
  function clear (): void {
    for (const clearEach of caches) clearEach()
  }

  /** Stores that a key was used, at most once a minute. A failure is only reported. */
  function touch (record: ApiKeyRecord, onError: (error: unknown) => void): void {
    const now = Date.now()
    const last = touched().get(record.id) ?? (record.lastUsedAt === null ? -Infinity : Date.parse(record.lastUsedAt))
    if (now - last < TOUCH_INTERVAL_MS) return
    touched().set(record.id, now)
    const [usedAt, ifBefore] = [new Date(now).toISOString(), new Date(now - TOUCH_INTERVAL_MS).toISOString()]
    const write: Promise<unknown> = fromStorage(() =>
      repository.apiKeys.write({ type: 'touch', id: record.id, usedAt, ifBefore }))
      .catch(onError)
      .finally(() => touches.delete(write))
    touches.add(write)
  }

  /** Ends the verifier: resolves when no `touch` is running, or after two seconds. */
  async function close (): Promise<void> {
    caches.delete(clearThis)
    unwatch?.()
    await settleWithin(SETTLE_LIMIT_MS, Promise.all(touches))
  }

  return { verify, stillWorks, clear, touch, close }
}
