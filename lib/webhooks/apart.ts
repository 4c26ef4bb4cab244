import type { FastifyBaseLogger } from 'fastify'

// How long an endpoint is left alone after its row could not be read or written.
const REST_MS = 10_000
// If so many fail in one round, the storage itself is failing.
const FAILURES_MAX = 3

/**
 * Makes what is done for each endpoint apart, so that one whose row is locked, or can't be written, holds up no other:
 * each try may wait for seconds.
 */
export function createApart (logger: FastifyBaseLogger) {
  const resting = new Map<string, number>()
  let failures = 0
  return {
    startRound (): void {
      failures = 0
      for (const [id, until] of resting) if (until <= performance.now() - REST_MS) resting.delete(id)
    },
    isResting: (id: string): boolean => (resting.get(id) ?? 0) > performance.now(),
    /**
     * Does the work of one endpoint. False: it failed, and the endpoint rests.
     * @throws its error, if so many have failed in this round that the storage itself must be failing
     */
    async done (id: string, work: () => Promise<void>): Promise<boolean> {
      try {
        await work()
        if (resting.delete(id)) logger.info({ webhook: id }, 'this webhook is delivered again')
        return true
      } catch (err) {
        failures += 1
        if (failures >= FAILURES_MAX) throw err
        if (!resting.has(id)) logger.warn({ err, webhook: id }, 'could not deliver this webhook; trying again')
        resting.set(id, performance.now() + REST_MS)
        return false
      }
    }
  }
}
