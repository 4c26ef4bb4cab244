import { mock } from 'node:test'
import type { Test } from 'tap'
import { replaceSteadyClock } from './steady-clock.ts'

/**
 * Time that passes only when a test says so: `setTimeout` and `performance.now()`. `advance` lets it pass, in
 * milliseconds, and everything that is due happen. `after` resolves when so much of it has passed.
 */
export function advancing (t: Test) {
  let time = 1000
  mock.timers.enable({ apis: ['setTimeout'] })
  replaceSteadyClock(t, () => time)
  t.teardown(() => mock.timers.reset())
  return {
    now: (): number => time,
    after: (ms: number) => new Promise<void>((resolve) => { setTimeout(resolve, ms) }),
    async advance (ms: number): Promise<void> {
      time += ms
      mock.timers.tick(ms)
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
