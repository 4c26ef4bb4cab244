/** How many duties there are, by what became of them. */
export interface Counts {
  registered: number
  started: number
  ended: number
  passed: number
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
}

/** The lines of the report; where every duty passed that the store supports, with one for the adapter's README. */
export function reportOf (counts: Counts, { name, version, seconds, seed }: Run): string[] {
  const { registered, started, passed, unsupported, notReached, missing } = counts
  const failed = started - passed - unsupported - notReached
  const declared = unsupported === 0 ? 'nothing unsupported' : `unsupported: transactions (${unsupported} duties)`
  const methods = notReached === 0 ? '' : ` (no ${[...missing].join(', ')} yet)`
  const lines = [
    `fastify-users/testing: ${name}: ${passed} duties passed, ${failed} failed, ${notReached} not reached${methods}; ` +
      `the store declares ${declared}; ${seconds.toFixed(1)} s, seed ${seed}`
  ]
  if (passed + unsupported === registered) {
    const transactions = unsupported === 0 ? 'with transactions' : 'without transactions'
    lines.push(
      `For the README of the adapter: passes the conformance kit of fastify-users ${version}: ${passed} duties, ` +
        transactions
    )
  }
  return lines
}
