import type { Test } from 'tap'

/** The clock of `performance.now()`, which moves only when a test says so. Returns what moves it, by milliseconds. */
export function steadyClock (t: Test, start = performance.now()): (ms: number) => void {
  let time = start
  t.intercept(performance, 'now', { value: () => time })
  return (ms) => { time += ms }
}
