import type { Test } from 'tap'

/**
 * Gives `performance.now()` another clock for one test. tap's `intercept` would take a stack trace of every call: half
 * a minute in the test of an overload.
 */
export function replaceSteadyClock (t: Test, now: () => number): void {
  const replaced = performance.now
  performance.now = now
  t.teardown(() => { performance.now = replaced })
}

/** The clock of `performance.now()`, which moves only when a test says so. Returns what moves it, by milliseconds. */
export function steadyClock (t: Test, start = performance.now()): (ms: number) => void {
  let time = start
  replaceSteadyClock(t, () => time)
  return (ms) => { time += ms }
}
