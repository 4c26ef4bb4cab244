import { setTimeout } from 'node:timers/promises'

/** Waits until the condition holds. It throws after `ms` milliseconds, and says what it waited for. */
export async function until (what: string, condition: () => Promise<boolean> | boolean, ms = 30_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!await condition()) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen within ${ms} ms`)
    await setTimeout(5)
  }
}
