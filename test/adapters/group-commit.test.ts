// How writes are combined and queued: those that are asked for while a statement of their kind is running go with the
// next one, and of those that may wait for locks so many run at a time.
import { test } from 'tap'
import { groupCommits } from '../../adapters/knex/batching/group-commit.ts'
import { GROUP_WAIT_MS } from '../../adapters/knex/connection/time-limits.ts'
import { createWriteQueue } from '../../adapters/knex/connection/write-queue.ts'
import type { Row } from '../../adapters/knex/tables/rows.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'

interface Group {
  ids: string[]
  end (result: Row[] | Error): void
}

const numbers = (length: number) => Array.from({ length }, (_, n) => n)
const endOfTurn = () => new Promise((resolve) => { setImmediate(resolve) })

/** A grouped write whose groups the test ends itself; `alone` has the ids that were written by themselves. */
function controlledGroups (concurrent: number) {
  const groups: Group[] = []
  const alone: string[] = []
  const settings = { groups: concurrent, wait: GROUP_WAIT_MS }
  const write = groupCommits<string>(settings, (id) => [id], (ids) => new Promise((resolve, reject) => {
    groups.push({
      ids: [...ids],
      end (result) {
        if (result instanceof Error) reject(result)
        else resolve(result)
      }
    })
  }))
  const ask = (id: string) => write(id, id, async () => {
    alone.push(id)
    return [{ id, alone: true }]
  })
  return { groups, alone, ask }
}

test('writes that come while a group is running go with the next one', async (t) => {
  const { groups, alone, ask } = controlledGroups(1)
  t.strictSame(await ask('first'), { id: 'first', alone: true }, 'a single one is written by itself')
  const answers = ['a', 'b', 'a', 'c'].map(ask)
  await endOfTurn()
  t.strictSame(groups.map(({ ids }) => ids), [['a', 'b', 'c']], 'no id is twice in a group')
  const later = numbers(300).map((n) => ask(`later ${n}`))
  await endOfTurn()
  t.equal(groups.length, 1)
  groups[0]?.end([{ id: 'a', row: 1 }, { id: 'c', row: 2 }])
  t.strictSame(
    await Promise.all([answers[0], answers[1], answers[3]]),
    [{ id: 'a', row: 1 }, undefined, { id: 'c', row: 2 }],
    'without a row there was nothing to write'
  )
  t.strictSame(groups.map(({ ids }) => ids.length), [3, 256], 'a group has a limit')
  t.equal(groups[1]?.ids[0], 'a')
  groups[1]?.end([{ id: 'a', row: 3 }])
  t.strictSame(await answers[2], { id: 'a', row: 3 })
  await endOfTurn()
  t.strictSame(groups[2]?.ids, numbers(45).map((n) => `later ${255 + n}`))
  groups[2]?.end(numbers(45).map((n) => ({ id: `later ${255 + n}` })))
  t.strictSame(await Promise.all(later), numbers(300).map((n) => n < 255 ? undefined : { id: `later ${n}` }))
  t.strictSame(alone, ['first'])
})

test('a text that cannot be stored is written by itself, and fails alone', async (t) => {
  const { groups, ask } = controlledGroups(1)
  t.strictSame(await Promise.all(['a', 'b\0'].map(ask)), [{ id: 'a', alone: true }, { id: 'b\0', alone: true }])
  t.equal(groups.length, 0)
})

test('the writes of a group that the database refuses are tried one by one', async (t) => {
  const { groups, ask } = controlledGroups(1)
  for (const driverCode of ['23514', '55P03', '40001', '40P01', '57014', 'P0001', 'SQLITE_CONSTRAINT', 'SQLITE_BUSY']) {
    const answers = ['a', 'b'].map(ask)
    await endOfTurn()
    groups.at(-1)?.end(new StorageError('fault', 'no', { driverCode }))
    t.strictSame(await Promise.all(answers), [{ id: 'a', alone: true }, { id: 'b', alone: true }], driverCode)
  }
})

test('any other failure of a group is that of all its writes', async (t) => {
  const { groups, alone, ask } = controlledGroups(1)
  const codes = ['ECONNRESET', 'EPIPE', 'ENETDOWN', '08006', '57P01', '40003', 'SQLITE_FULL', 'SQLITE_IOERR', undefined]
  // It is unknown whether the statement was carried out, or it would fail again.
  for (const driverCode of codes) {
    const answers = ['a', 'b'].map(ask)
    await endOfTurn()
    const error = new StorageError('unavailable', 'away', { driverCode })
    groups.at(-1)?.end(error)
    const reasons = (await Promise.allSettled(answers)).map((each) => each.status === 'rejected' && each.reason)
    t.strictSame(reasons, [error, error], String(driverCode))
  }
  t.strictSame(alone, [])
})

test('a write that has waited too long for its group fails as unavailable', async (t) => {
  const { groups, ask } = controlledGroups(1)
  const first = ['a', 'b'].map(ask)
  await endOfTurn()
  const { now } = performance
  t.teardown(() => { performance.now = now })
  performance.now = () => now.call(performance) - 5001
  const late = ['c', 'd'].map(ask)
  performance.now = now
  const [other, another] = ['e', 'f'].map(ask)
  groups[0]?.end([{ id: 'a' }, { id: 'b' }])
  const codes = (await Promise.allSettled(late)).map((each) => each.status === 'rejected' && each.reason.code)
  t.strictSame(codes, ['unavailable', 'unavailable'])
  t.strictSame(groups[1]?.ids, ['e', 'f'])
  groups[1]?.end([{ id: 'e' }, { id: 'f' }])
  t.strictSame(await Promise.all([...first, other, another]), ['a', 'b', 'e', 'f'].map((id) => ({ id })))
})

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
