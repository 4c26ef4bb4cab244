import { createHash } from 'node:crypto'

// Hash all addresses onto 32 lock names, because PostgreSQL has room for a few thousand locks only. Users too.
const NUMBERS = 32
const KINDS = ['address', 'user'] as const

/** The names of all locks of addresses and users. */
export const LOCK_NAMES: readonly string[] =
  KINDS.flatMap((kind) => Array.from({ length: NUMBERS }, (_, i) => `${kind} ${i}`))

/** The names of the locks of addresses, or of users, in the order in which they are taken. */
export function locksOf (kind: (typeof KINDS)[number], texts: readonly string[]): string[] {
  const numbers = texts.map((text) => createHash('sha256').update(text).digest().readUInt8() % NUMBERS)
  return [...new Set(numbers.map((number) => `${kind} ${number}`))].sort()
}
