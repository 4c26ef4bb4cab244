import { test } from 'tap'
import { IN_PROCESS } from '../../lib/core/context.ts'
import { firstIdAt } from '../../lib/core/ids.ts'
import { newEvent } from '../../lib/storage/recorded-events.ts'

test('the time of an event is never later than that of its id, so that a replay since its time has it', (t) => {
  const late = Array.from({ length: 20_000 }, () => newEvent('user.created', IN_PROCESS))
    .filter(({ id, timestamp }) => id < firstIdAt('evt', Date.parse(timestamp)))
  t.strictSame(late, [])
  t.end()
})
