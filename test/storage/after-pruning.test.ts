// What is left of pruned events: of each type the last one, in the order of the log, with the greatest id up to it.
import { test } from 'tap'
import { afterPruning } from '../../lib/storage/recorded-events.ts'

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
