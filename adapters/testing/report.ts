import type { KitStorage } from './kit-storage.ts'

/** What a store may lack, in words. */
export const OPTIONAL = [
  'transactions', 'event log', 'batches', 'webhooks', 'tenants', 'trash', 'uses of keys'
] as const

export type Lacking = typeof OPTIONAL[number]

/** The first of these that a store declares unsupported, or is without; null: it has them all. */
export function lackingOf (storage: KitStorage, needs: readonly Lacking[]): Lacking | null {
  const { supports, webhooks, tenants, trash, keyUses } = storage
  const { transactions, eventLog, batches } = supports
  const has: Record<Lacking, boolean> = {
    transactions,
    'event log': eventLog,
    batches,
    webhooks: webhooks !== undefined,
    tenants: tenants !== undefined,
    trash: trash !== undefined,
    'uses of keys': keyUses !== undefined
  }
  return needs.find((need) => !has[need]) ?? null
}

/** How many duties there are, by what became of them. */
export interface Counts {
  registered: number
  started: number
  ended: number
  passed: number
  /** Duties of what the store declares that it lacks, or is without, by its name. */
  unsupported: Map<string, number>
  /** Duties that need methods which the store does not have yet. */
  notReached: number
  /** These methods. */
  missing: Set<string>
}

interface Run {
  name: string
  version: string
  seconds: number
  seed: number
  quick: boolean
}

/**
 * The lines of the report; where every duty passed that the store supports, and none was left out, with one for the
 * adapter's README.
 */
export function reportOf (counts: Counts, { name, version, seconds, seed, quick }: Run): string[] {
  const { registered, started, passed, unsupported, notReached, missing } = counts
  const left = [...unsupported.values()].reduce((sum, duties) => sum + duties, 0)
  const failed = started - passed - left - notReached
  const lacks = OPTIONAL.filter((what) => unsupported.has(what))
    .map((what) => `${what} (${unsupported.get(what)} duties)`)
  const declared = left === 0 ? 'nothing unsupported' : `unsupported: ${lacks.join(', ')}`
  const methods = notReached === 0 ? '' : ` (no ${[...missing].join(', ')} yet)`
  const lines = [
    `fastify-users/testing: ${name}: ${passed} duties passed, ${failed} failed, ${notReached} not reached${methods}; ` +
      `the store declares ${declared}; ${seconds.toFixed(1)} s, seed ${seed}${quick ? ', quick' : ''}`
  ]
  if (passed + left === registered && !quick) {
    const has = OPTIONAL.map((what) => `${unsupported.has(what) ? 'without' : 'with'} ${what}`).join(', ')
    lines.push(`For the README of the adapter: passes the conformance kit of fastify-users ${version}: ` +
      `${passed} duties, ${has}`)
  }
  return lines
}
