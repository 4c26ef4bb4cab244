// How writes are combined and queued: those that are asked for while a statement of their kind is running go with the
// next one.
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
function controlledGroups () {
  const groups: Group[] = []
  const alone: string[] = []
  const settings = { groups: 1, wait: GROUP_WAIT_MS }
  const write = groupCommits<string>(settings, (id) => [id], (ids) => new Promise((resolve, reject) => {
    groups.push({ ids: [...ids], end: (result) => result instanceof Error ? reject(result) : resolve(result) })
  }))
  const ask = (id: string) => write(id, id, async () => {
    alone.push(id)
    return [{ id, alone: true }]
  })
  return { groups, alone, ask }
}

test('writes that come while a group is running go with the next one', async (t) => {
  const { groups, alone, ask } = controlledGroups()
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
  const { groups, ask } = controlledGroups()
  t.strictSame(await Promise.all(['a', 'b\0'].map(ask)), [{ id: 'a', alone: true }, { id: 'b\0', alone: true }])
  t.equal(groups.length, 0)
})

test('the writes of a group that the database refuses are tried one by one', async (t) => {
  const { groups, ask } = controlledGroups()
  for (const driverCode of ['23514', '55P03', '40001', '57014', 'P0001', 'SQLITE_CONSTRAINT', 'SQLITE_BUSY']) {
    const answers = ['a', 'b'].map(ask)
    await endOfTurn()
    groups.at(-1)?.end(new StorageError('fault', 'no', { driverCode }))
    t.strictSame(await Promise.all(answers), [{ id: 'a', alone: true }, { id: 'b', alone: true }], driverCode)
  }
})

test('any other failure of a group is that of all its writes', async (t) => {
  const { groups, alone, ask } = controlledGroups()
  const codes = ['ECONNRESET', '08006', '57P01', '40003', 'SQLITE_FULL', 'SQLITE_IOERR', undefined]
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
  const { groups, ask } = controlledGroups()
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

test('as many writes as may run do, and of those that queue one that has waited too long fails', async (t) => {
  const queued = createWriteQueue(2)
  const begun: string[] = []
  const ends: Array<() => void> = []
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<void>((resolve) => ends.push(resolve))
  }
  const all = Promise.all(['a', 'b'].map((name) => queued(null, Infinity, work(name))))
  const late = queued(null, performance.now() - 1, work('late'))
  const next = queued(null, Infinity, work('next'))
  await endOfTurn()
  t.strictSame(begun, ['a', 'b'])
  for (const end of ends) end()
  await all
  await t.rejects(late, { name: 'StorageError', code: 'unavailable' })
  await endOfTurn()
  t.strictSame(begun, ['a', 'b', 'next'])
  ends[2]?.()
  await next
})
