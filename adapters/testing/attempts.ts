import assert from 'node:assert/strict'
import type { Storage, Unit } from '../../lib/storage/storage.ts'
import { turns } from './concurrency.ts'
import { add, move, nth, rowIn } from './rows.ts'

/** Takes a row again until nobody else was faster. `next` gives null when there is nothing to do. */
export async function untilMade (
  storage: Storage, attempt: () => Promise<Unit | null>
): Promise<boolean> {
  for (let tries = 0; tries < 1000; tries++) {
    const unit = await attempt()
    if (unit === null) return false
    if ((await storage.commit([unit]))[0]?.code === 'ok') return true
    await turns(1)
  }
  throw new assert.AssertionError({ message: 'commit: a unit was refused 1,000 times, though it read its rows again' })
}

/** Moves the mark, or makes it. */
export async function markMoved (storage: Storage) {
  const mark = nth.marks(0)
  const was = await rowIn(storage, 'marks', mark.record.id)
  return was === null ? add('marks', mark) : move('marks', was)
}
