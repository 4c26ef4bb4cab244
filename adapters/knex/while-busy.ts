import { setTimeout } from 'node:timers/promises'
import { isBusy } from './driver-errors.ts'

// Who waits for a lock looks at least this often whether it is free.
const PAUSE_MAX_MS = 20

/** Runs a statement again while another connection holds the lock of the SQLite file, for so many milliseconds; the event loop goes on meanwhile. */
export async function whileBusy<Value> (run: () => Promise<Value>, timeout: number): Promise<Value> {
  const until = performance.now() + timeout
  let pause = 1
  while (true) {
    try {
      return await run()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error
      await setTimeout(pause)
      pause = Math.min(2 * pause, PAUSE_MAX_MS)
    }
  }
}
