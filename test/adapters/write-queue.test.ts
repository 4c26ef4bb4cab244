// The queue of writes that may wait for locks: so many at a time, those of one key in turn, and none waits for ever.
import { test } from 'tap'
import { createWriteQueue } from '../../adapters/knex/connection/write-queue.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Work that runs until it is told to end, and says what is running. */
function workshop () {
  const running = new Map<string, (error?: Error) => void>()
  let most = 0
  return {
    running,
    most: () => most,
    start: (name: string) => () => new Promise<string>((resolve, reject) => {
      running.set(name, (error) => {
        running.delete(name)
        if (error === undefined) resolve(name)
        else reject(error)
      })
      most = Math.max(most, running.size)
    })
  }
}

test('no more than its number run at a time, in the order in which they came', async (t) => {
  const queued = createWriteQueue(2)
  const { running, start, most } = workshop()
  const names = ['a', 'b', 'c', 'd', 'e']
  const all = Promise.allSettled(names.map((name) => queued(null, Infinity, start(name))))
  for (const [i, name] of names.entries()) {
    await turn()
    t.strictSame([...running.keys()], names.slice(i, i + 2))
    running.get(name)?.(i % 2 === 0 ? undefined : new Error('refused'))
  }
  t.strictSame((await all).map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
  t.equal(most(), 2)
})

test('those of one key run in turn, and hold up no other key', async (t) => {
  const queued = createWriteQueue(3)
  const { running, start } = workshop()
  const all = Promise.all([
    ...['x1', 'x2', 'x3'].map((name) => queued('x', Infinity, start(name))), queued('y', Infinity, start('y1')),
    queued(null, Infinity, start('z'))
  ])
  await turn()
  t.strictSame([...running.keys()], ['x1', 'y1', 'z'])
  for (const name of ['x1', 'x2', 'x3', 'y1', 'z']) {
    running.get(name)?.()
    await turn()
  }
  t.strictSame(await all, ['x1', 'x2', 'x3', 'y1', 'z'])
})

test('a write that has queued too long fails, and the next one runs', async (t) => {
  for (const key of ['x', null]) {
    const queued = createWriteQueue(1)
    const { running, start } = workshop()
    const until = performance.now() + 20
    const first = queued(key, until, start('first'))
    const late = queued(key, until, start('late'))
    late.catch(() => {})
    const since = performance.now()
    while (performance.now() - since < 25) await turn()
    const next = queued(key, Infinity, start('next'))
    running.get('first')?.()
    t.equal(await first, 'first')
    await t.rejects(late, { name: 'StorageError', code: 'unavailable' })
    await turn()
    t.strictSame([...running.keys()], ['next'])
    running.get('next')?.()
    t.equal(await next, 'next')
  }
})
