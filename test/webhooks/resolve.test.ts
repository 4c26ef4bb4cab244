// Names are resolved a few at a time, so that slow ones do not hold the threads of files and databases.
import type { LookupFunction } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import { createResolve } from '../../lib/webhooks/resolve.ts'
import { until } from '../helpers/until.ts'

const ADDRESSES = [{ address: '93.184.215.14', family: 4 }]

/** A name server that is asked, and answers when it is told to. */
function nameServer () {
  const asked: string[] = []
  const answers = new Map<string, () => void>()
  const lookup: LookupFunction = (name, _options, callback) => {
    asked.push(name)
    answers.set(name, () => callback(null, '93.184.215.14', 4))
  }
  const asks = (...names: string[]) => until(`look-ups of ${names.join(', ')}`, () => asked.join() === names.join())
  return { asked, lookup, asks, answer: (name: string) => answers.get(name)?.() }
}

test('two at a time, the others in their turn, and none for ever', async (t) => {
  const { asked, lookup, asks, answer } = nameServer()
  const resolve = createResolve(lookup, 1000)
  const [a, b, c] = ['a', 'b', 'c'].map((name) => resolve(name))
  await asks('a', 'b')
  answer('b')
  t.strictSame(await b, ADDRESSES)
  await asks('a', 'b', 'c')
  await t.rejects(Promise.resolve(a), { code: 'EAI_AGAIN' })
  await t.rejects(Promise.resolve(c), { code: 'EAI_AGAIN' })
  const d = resolve('d')
  t.strictSame(asked, ['a', 'b', 'c'], 'those that are late still hold their threads')
  answer('a')
  await asks('a', 'b', 'c', 'd')
  answer('d')
  t.strictSame(await d, ADDRESSES)
})

test('all who ask for a name at the same time share one look-up', async (t) => {
  const { asked, lookup, asks, answer } = nameServer()
  const resolve = createResolve(lookup)
  const answers = Promise.all(['a', 'a', 'b', 'a'].map((name) => resolve(name)))
  await asks('a', 'b')
  answer('a')
  answer('b')
  t.strictSame(await answers, Array.from({ length: 4 }, () => ADDRESSES))
  const again = resolve('a')
  await asks('a', 'b', 'a')
  answer('a')
  await again
  t.strictSame(asked, ['a', 'b', 'a'], 'later ones ask again')
})

test('a look-up that nobody waits for any more is not begun', async (t) => {
  const { asked, lookup, asks, answer } = nameServer()
  const resolve = createResolve(lookup, 1000)
  const names = ['a', 'b', 'c', 'c', 'd']
  for (const { status } of await Promise.allSettled(names.map((name) => resolve(name)))) t.equal(status, 'rejected')
  t.strictSame(asked, ['a', 'b'])
  const e = resolve('e')
  answer('a')
  await asks('a', 'b', 'e')
  answer('e')
  t.strictSame(await e, ADDRESSES)
})

test('names that were slow leave a place to others, until they are fast again', async (t) => {
  const { lookup, asks, answer } = nameServer()
  const resolve = createResolve(lookup, 1000)
  const late = { code: 'EAI_AGAIN' }
  await Promise.all(['slow', 'slower'].map((name) => t.rejects(resolve(name), late)))
  answer('slow')
  answer('slower')
  await turn()
  const first = ['slow', 'slower'].map((name) => t.rejects(resolve(name), late))
  await asks('slow', 'slower', 'slow')
  const good = resolve('good')
  await asks('slow', 'slower', 'slow', 'good')
  answer('good')
  t.strictSame(await good, ADDRESSES)
  await Promise.all(first)
  answer('slow')
  await turn()
  const fast = resolve('slow')
  await asks('slow', 'slower', 'slow', 'good', 'slow')
  answer('slow')
  await fast
  const both = Promise.all(['slow', 'slower'].map((name) => resolve(name)))
  await asks('slow', 'slower', 'slow', 'good', 'slow', 'slow', 'slower')
  answer('slow')
  answer('slower')
  t.strictSame(await both, [ADDRESSES, ADDRESSES])
})

test('an error of the look-up, also one that is thrown, takes no place', async (t) => {
  let isThrown = false
  const resolve = createResolve((_name, _options, callback) => {
    const error = Object.assign(new Error('none'), { code: 'ENOTFOUND' })
    isThrown = !isThrown
    if (isThrown) throw error
    callback(error, [])
  })
  for (const name of ['a', 'b', 'c', 'd', 'e']) await t.rejects(resolve(name), { code: 'ENOTFOUND' }, name)
})
