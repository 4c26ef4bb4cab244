// Names are resolved two at a time, so that slow ones hold neither each other nor the threads of files and databases.
import type { LookupFunction } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import { createResolve } from '../../lib/webhooks/resolve.ts'
import { until } from '../helpers/until.ts'

const ADDRESSES = [{ address: '93.184.215.14', family: 4 }]

/** A name server that is asked, and answers when it is told to, or immediately while it is prompt. */
function nameServer () {
  const asked: string[] = []
  const answers = new Map<string, () => void>()
  const behaviour = { isPrompt: false }
  const lookup: LookupFunction = (name, _options, callback) => {
    const answer = () => callback(null, '93.184.215.14', 4)
    asked.push(name)
    if (behaviour.isPrompt) answer()
    else answers.set(name, answer)
  }
  const asks = (...names: string[]) => until(`look-ups of ${names.join(', ')}`, () => asked.join() === names.join())
  return { asked, lookup, behaviour, asks, answer: (name: string) => answers.get(name)?.() }
}

const LATE = { code: 'EAI_AGAIN' }
const BUSY = { code: 'ERR_RESOLVE_BUSY' }

/** A resolver that has found these names fast before. */
async function withFast (limitMs: number, ...names: string[]) {
  const server = nameServer()
  const resolve = createResolve(server.lookup, limitMs)
  server.behaviour.isPrompt = true
  await Promise.all(names.map((name) => resolve(name, 'x')))
  server.behaviour.isPrompt = false
  server.asked.length = 0
  return { ...server, resolve }
}

test('a name that was fast before does not wait for slow ones', async (t) => {
  const { resolve, asks, answer } = await withFast(1000, 'fast', 'faster')
  const slow = ['a', 'b', 'c'].map((name) => resolve(name, name))
  const fast = ['fast', 'faster'].map((name) => resolve(name, 'x'))
  await asks('a', 'fast')
  answer('fast')
  await asks('a', 'fast', 'faster')
  answer('faster')
  t.strictSame(await Promise.all(fast), [ADDRESSES, ADDRESSES])
  answer('a')
  await asks('a', 'fast', 'faster', 'b')
  answer('b')
  await asks('a', 'fast', 'faster', 'b', 'c')
  answer('c')
  t.strictSame(await Promise.all(slow), [ADDRESSES, ADDRESSES, ADDRESSES])
})

test('names that were fast before take both places while no other name waits, and no more', async (t) => {
  const { resolve, asked, asks, answer } = await withFast(1000, 'a', 'b', 'c')
  const all = Promise.all(['a', 'b', 'c'].map((name) => resolve(name, 'x')))
  await asks('a', 'b')
  answer('b')
  await asks('a', 'b', 'c')
  const late = resolve('new', 'x')
  answer('a')
  await asks('a', 'b', 'c', 'new')
  answer('c')
  answer('new')
  t.strictSame([...await all, await late], Array(4).fill(ADDRESSES))
  t.equal(asked.length, 4)
})

test('callers take turns, however many names each asks for', async (t) => {
  const { lookup, asks, answer } = nameServer()
  const resolve = createResolve(lookup)
  const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']
  const all = Promise.all(names.map((name) => resolve(name, name.charAt(0))))
  const order = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']
  for (const [i, name] of order.entries()) {
    await asks(...order.slice(0, i + 1))
    answer(name)
  }
  t.strictSame(await all, names.map(() => ADDRESSES))
})

test('a name that others kept waiting says so, and one that had its time is late', async (t) => {
  const { lookup, asked, asks, answer } = nameServer()
  const resolve = createResolve(lookup, 200)
  const names = ['a', 'a', 'b', 'c', 'c']
  const ends = await Promise.allSettled(names.map((name) => resolve(name, 'x')))
  t.match(ends.map((end) => 'reason' in end && end.reason), [LATE, LATE, BUSY, BUSY, BUSY])
  t.strictSame(asked, ['a'], 'nobody waits for the others any more')
  const next = resolve('d', 'x')
  t.strictSame(asked, ['a'], 'what is late still holds its thread')
  answer('a')
  await asks('a', 'd')
  answer('d')
  t.strictSame(await next, ADDRESSES)
})

test('a fast name that has become slow leaves a place to others, until it is fast again', async (t) => {
  const { resolve, asks, answer } = await withFast(1000, 'a', 'fast')
  await t.rejects(resolve('a', 'x'), LATE)
  const again = t.rejects(resolve('a', 'x'), LATE)
  const other = resolve('b', 'x')
  const fast = resolve('fast', 'x')
  await asks('a', 'fast')
  answer('fast')
  await fast
  await Promise.all([again, t.rejects(other, BUSY)])
  answer('a')
  await turn()
  const found = resolve('a', 'x')
  await asks('a', 'fast', 'a')
  answer('a')
  t.strictSame(await found, ADDRESSES)
})

test('an error of the look-up, also one that is thrown, takes no place', async (t) => {
  let isThrown = false
  const resolve = createResolve((_name, _options, callback) => {
    const error = Object.assign(new Error('none'), { code: 'ENOTFOUND' })
    isThrown = !isThrown
    if (isThrown) throw error
    callback(error, [])
  })
  for (const name of ['a', 'b', 'c', 'd', 'e']) await t.rejects(resolve(name, 'x'), { code: 'ENOTFOUND' }, name)
})
