// What happens at the end of a turn of the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'tap'
import { atEndOfTurn, endOfTurn } from '../../lib/core/turn.ts'

test('all who wait for the end of a turn go on together, and what they ask for comes behind them', async (t) => {
  const seen: string[] = []
  const go = async (name: string, steps: number): Promise<void> => {
    await endOfTurn()
    for (let i = 0; i < steps; i++) await null
    seen.push(name)
    atEndOfTurn(() => seen.push(`behind ${name}`))
  }
  const all = [go('a', 0), go('b', 9), go('c', 3)]
  process.nextTick(() => { all.push(go('d', 1)) })
  setImmediate(() => seen.push('next'))
  await Promise.all(all)
  t.strictSame(seen, ['a', 'd', 'c', 'b'], 'each at its own pace')
  await nextTurn()
  t.strictSame(seen.slice(4), ['behind a', 'behind d', 'behind c', 'behind b', 'next'])
})

test('without others it is the end of the turn, each time', async (t) => {
  const seen: string[] = []
  atEndOfTurn(() => seen.push('behind'))
  await Promise.resolve()
  process.nextTick(() => seen.push('tick'))
  await nextTurn()
  t.strictSame(seen, ['tick', 'behind'])
  await endOfTurn()
  await nextTurn()
  atEndOfTurn(() => seen.push('again'))
  await Promise.resolve()
  t.strictSame(seen, ['tick', 'behind'], 'not yet')
  await nextTurn()
  t.strictSame(seen, ['tick', 'behind', 'again'])
})

test('who begins to wait while others go on waits for the next turn', async (t) => {
  const seen: string[] = []
  const first = endOfTurn().then(async () => {
    seen.push('first')
    atEndOfTurn(() => seen.push('behind'))
    await endOfTurn()
    seen.push('second')
  })
  await first
  t.strictSame(seen, ['first', 'behind', 'second'])
})
