// What becomes of events: their ids beside their times, and what is left of those that were pruned.
import { test } from 'tap'
import { IN_PROCESS } from '../../lib/core/context.ts'
import { firstIdAt } from '../../lib/core/ids.ts'
import { afterPruning, newEvent } from '../../lib/storage/recorded-events.ts'

const event = (id: string, type: string) => ({ id, type })

test('the last pruned event of each type is known, and the greatest id before it', async (t) => {
  const first = afterPruning([], [event('3', 'a'), event('1', 'b'), event('2', 'a')])
  t.strictSame(first, [{ type: 'b', id: '1', greatestId: '3' }, { type: 'a', id: '2', greatestId: '3' }])
  const second = afterPruning(first, [event('5', 'c'), event('4', 'b')])
  t.strictSame(second, [
    { type: 'a', id: '2', greatestId: '3' }, { type: 'c', id: '5', greatestId: '5' },
    { type: 'b', id: '4', greatestId: '5' }
  ])
  t.strictSame(afterPruning(second, []), second)
})

test('the time of an event is never later than that of its id, so that a replay since its time has it', (t) => {
  const late = Array.from({ length: 20_000 }, () => newEvent('user.created', IN_PROCESS))
    .filter(({ id, timestamp }) => id < firstIdAt('evt', Date.parse(timestamp)))
  t.strictSame(late, [])
  t.end()
})
