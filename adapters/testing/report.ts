/** How many duties there are, by what became of them. */
export interface Counts {
  registered: number
  started: number
  ended: number
  passed: number
  /** Duties about transactions of a store that can't join any. */
  unsupported: number
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
  const failed = started - passed - unsupported - notReached
  const methods = notReached === 0 ? '' : ` (no ${[...missing].join(', ')} yet)`
  const lines = [
    `fastify-users/testing: ${name}: ${passed} duties passed, ${failed} failed, ${notReached} not reached${methods}` +
      `${unsupported === 0 ? '' : `, ${unsupported} about transactions, which the store does not join`}; ` +
      `${seconds.toFixed(1)} s, seed ${seed}${quick ? ', quick' : ''}`
  ]
  if (passed + unsupported === registered && !quick) {
    lines.push(`For the README of the adapter: passes the conformance kit of fastify-users ${version}: ` +
      `${passed} duties, ${unsupported === 0 ? 'with' : 'without'} transactions`)
  }
  return lines
}
