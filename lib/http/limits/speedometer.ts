// Nothing is known of the speed after a rest.
const REST_MS = 1000
// Less time says little about how fast work ends: a first burst waits for connections.
const SAMPLE_MIN_MS = 200
const SAMPLE_MAX_MS = 2000

/** Measures how fast work ends while other work waits. Recent work counts more, and after a rest nothing is known. */
export function createSpeedometer () {
  let since = 0
  let until: number | null = 0
  let ended = 0

  const elapsed = (): number => (until ?? performance.now()) - since

  return {
    /** Work begins to wait. */
    resume (): void {
      const now = performance.now()
      const rest = now - Number(until)
      if (rest > REST_MS) [since, ended] = [now, 0]
      else since += rest
      until = null
    },
    /** No work waits any more. */
    pause (): void {
      until = performance.now()
    },
    count (): void {
      ended++
      if (elapsed() < SAMPLE_MAX_MS) return
      since += elapsed() / 2
      ended /= 2
    },
    /** Milliseconds between two ends of work; null: not known yet. */
    interval (): number | null {
      return elapsed() < SAMPLE_MIN_MS ? null : elapsed() / Math.max(1, ended)
    }
  }
}
