import { mock } from 'node:test'
import type { Test } from 'tap'

/**
 * Time that passes only when a test says so: `setTimeout` and `performance.now()`. `advance` lets it pass, in
 * milliseconds, and everything that is due happen.
 */
export function advancing (t: Test): { advance: (ms: number) => Promise<void>, now: () => number } {
  let time = 1000
  mock.timers.enable({ apis: ['setTimeout'] })
  t.intercept(performance, 'now', { value: () => time })
  t.teardown(() => mock.timers.reset())
  return {
    now: () => time,
    async advance (ms) {
      time += ms
      mock.timers.tick(ms)
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
