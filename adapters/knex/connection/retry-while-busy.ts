import { setTimeout } from 'node:timers/promises'
import { isBusy } from './driver-errors.ts'

const PAUSE_MAX_MS = 20

/**
 * Runs a statement again while another connection locks the SQLite file, for at most `timeout` milliseconds. The event
 * loop is free meanwhile.
 */
export async function retryWhileBusy<Value> (run: () => Promise<Value>, timeout: number): Promise<Value> {
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
