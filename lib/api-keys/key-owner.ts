import { LRUCache } from 'lru-cache'
import type { CallerId } from '../core/context.ts'
import { lazy } from '../core/lazy.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Caller } from './authenticator.ts'

const MAX_ENTRIES = 10_000

/** Whose `Idempotency-Key` a caller sends. */
export type KeyOwner = CallerId

/**
 * Makes a function that finds whose `Idempotency-Key` a caller sends: a rotated key repeats what the first key of its
 * rotations has made. Who a key was rotated from never changes, so it is looked up once.
 */
export function createKeyOwners ({ apiKeys }: Repository): (caller: Caller) => Promise<KeyOwner> {
  const firsts = lazy(() => new LRUCache<string, string>({ max: MAX_ENTRIES }))

  async function firstOf (id: string, rotatedFrom: string | null): Promise<string> {
    const chain = [id]
    let next = rotatedFrom
    let first = id
    // Plain SQL can write a circle, which must not be followed for ever.
    while (next !== null && !chain.includes(next)) {
      const known = firsts().get(next)
      first = known ?? next
      if (known !== undefined) break
      chain.push(next)
      const before = next
      next = (await fromStorage(() => apiKeys.find({ id: before })))?.rotatedFrom ?? null
    }
    for (const each of chain) firsts().set(each, first)
    return first
  }

  return async ({ principal: { type, id }, record }) => {
    const isRotated = record !== null && record.rotatedFrom !== null
    return { type, id: isRotated ? await firstOf(id, record.rotatedFrom) : id }
  }
}
