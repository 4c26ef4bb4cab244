import { setTimeout } from 'node:timers/promises'
import { isBusy } from './driver-errors.ts'

const PAUSE_MAX_MS = 20

/**
 * Runs work again while another connection locks the SQLite file, until a time of `performance.now()`. The event loop
 * is free meanwhile, and so is the connection, unless the work keeps it.
 */
export async function retryWhileBusy<Value> (run: () => Promise<Value>, until: number): Promise<Value> {
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
