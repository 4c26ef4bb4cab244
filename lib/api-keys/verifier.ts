import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { fromStorage } from '../storage-errors.ts'
import type { ApiKeyRecord, Storage } from '../storage.ts'
import { digestSecret, type KeyParts } from './key-text.ts'
import { endOf } from './record.ts'

const MAX_ENTRIES = 10_000
const UNKNOWN_TTL_MS = 1000
const TOUCH_INTERVAL_MS = 60_000
const SETTLE_LIMIT_MS = 2000
// A look-up that changes of keys keep overtaking is answered after so many; it is not remembered.
const MOST_READS = 3
const NO_DIGEST = ''.padStart(43, '-')

// A storage can serve several mounts of one process: a key that is revoked through one of them is revoked at once in all.
const verifiersOf = new WeakMap<Storage, Set<() => void>>()

/** What is remembered of a key: none, or its record, and how long it is good. */
interface Known { record: ApiKeyRecord | null, end: number }

/** Why a stored key is not good: there is none, its secret is another, it was revoked, or it has expired. */
export type RefusalReason = 'unknown' | 'mismatch' | 'revoked' | 'expired'

export type Verifier = ReturnType<typeof createVerifier>

export interface VerifierOptions {
  storage: Storage
  /** A key may have been made under any of them; none: without. */
  peppers: readonly string[]
  /** Seconds that a key's record may be remembered; 0: never. */
  keyCache: number
  /** What look-ups pass before they reach the storage; everything does by default. */
  gate?: <Value>(work: () => Promise<Value>) => Promise<Value>
}

/**
 * Verifies stored keys, remembering their records (never their texts) for a short time.
 * No question asked after `forget` is answered by anything that was read before it.
 */
export function createVerifier ({ storage, peppers, keyCache, gate = (work) => work() }: VerifierOptions) {
  const ttl = keyCache * 1000
  const candidates = peppers.length === 0 ? [undefined] : peppers
  const known = new LRUCache<string, Known>({ max: MAX_ENTRIES })
  const lookUps = new Map<string, Promise<Known>>()
  const touches = new Set<Promise<void>>()
  const touched = new LRUCache<string, number>({ max: MAX_ENTRIES })
  let generation = 0

  async function read (start: string): Promise<Known> {
    for (let reads = 1; ; reads++) {
      const readIn = generation
      const asked = performance.now()
      const record = await gate(() => storage.findApiKeyByStart(start))
      // A key was changed while this was under way: what was read may be from before.
      if (readIn !== generation && reads < MOST_READS) continue
      const found = { record, end: record === null ? -Infinity : endOf(record) }
      // It is as old as the question.
      const left = (record === null ? Math.min(UNKNOWN_TTL_MS, ttl) : ttl) - (performance.now() - asked)
      if (left > 0 && readIn === generation) known.set(start, found, { ttl: left })
      return found
    }
  }

  function find (start: string): Known | Promise<Known> {
    const found = known.get(start)
    if (found !== undefined) return found
    const running = lookUps.get(start)
    if (running !== undefined) return running
    // Where nothing may be remembered, nobody is answered from before the question either.
    if (ttl === 0) return read(start)
    const lookUp = read(start).finally(() => { if (lookUps.get(start) === lookUp) lookUps.delete(start) })
    lookUps.set(start, lookUp)
    return lookUp
  }

  /** The record of the key with these parts if it is good now, else null: why, and which key it is where that is known, goes to `onRefused`. Throws what the storage throws. */
  async function verify ({ start, secret }: KeyParts, onRefused: (reason: RefusalReason, record: ApiKeyRecord | null) => void = () => {}): Promise<ApiKeyRecord | null> {
    const { record, end } = await find(start)
    const digests = candidates.map((pepper) => Buffer.from(digestSecret(secret, pepper)))
    // An unknown key is compared too, and every digest is, so that all take the same path.
    const kept = Buffer.from(record === null ? NO_DIGEST : record.digest)
    const proven = digests.filter((digest) => kept.length === digest.length && timingSafeEqual(digest, kept)).length > 0
    // Whatever is wrong, the same is compared before it is told apart.
    const good = Date.now() < end
    if (proven && good) return record
    onRefused(record === null ? 'unknown' : !proven ? 'mismatch' : record.revokedAt !== null ? 'revoked' : 'expired', record)
    return null
  }

  const siblings = verifiersOf.get(storage) ?? new Set()
  verifiersOf.set(storage, siblings.add(forgetHere))

  // What is not remembered need not be forgotten.
  const unwatch = ttl > 0 ? storage.watchApiKeys?.(forgetHere) : undefined

  function forgetHere (): void {
    generation++
    known.clear()
    // Whoever asks from now on asks anew.
    lookUps.clear()
  }

  /** Drops what every verifier of the storage remembers; called before and after every change of a key. */
  function forget (): void {
    for (const each of siblings) each()
  }

  /** Notes that a key was used; written at most once a minute, and a failure is only reported. */
  function touch (record: ApiKeyRecord, onError: (error: unknown) => void): void {
    const now = Date.now()
    const last = touched.get(record.id) ?? (record.lastUsedAt === null ? -Infinity : Date.parse(record.lastUsedAt))
    if (now - last < TOUCH_INTERVAL_MS) return
    touched.set(record.id, now)
    const write = fromStorage(() => storage.touchApiKey(record.id, new Date(now).toISOString(), new Date(now - TOUCH_INTERVAL_MS).toISOString()))
      .catch(onError)
      .finally(() => touches.delete(write))
    touches.add(write)
  }

  /** Ends the verifier: resolves when no note of a use is under way, or after two seconds. */
  async function close (): Promise<void> {
    siblings.delete(forgetHere)
    unwatch?.()
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => { timer = setTimeout(resolve, SETTLE_LIMIT_MS) })
    await Promise.race([Promise.all(touches), limit])
    clearTimeout(timer)
  }

  return { verify, forget, touch, close }
}
