// Names are resolved a few at a time, so that slow ones do not hold the threads of files and databases.
import type { LookupFunction } from 'node:net'
import { test } from 'tap'
import { createResolve } from '../../lib/webhooks/resolve.ts'

test('two at a time, the others in their turn, and none for ever', async (t) => {
  const asked: string[] = []
  const answers = new Map<string, () => void>()
  const lookup: LookupFunction = (name, _options, callback) => {
    asked.push(name)
    answers.set(name, () => callback(null, '93.184.215.14', 4))
  }
  const resolve = createResolve(lookup, 50)
  const [a, b, c] = ['a', 'b', 'c'].map((name) => resolve(name))
  t.strictSame(asked, ['a', 'b'])
  answers.get('b')?.()
  t.strictSame(await b, [{ address: '93.184.215.14', family: 4 }])
  t.strictSame(asked, ['a', 'b', 'c'])
  await t.rejects(Promise.resolve(a), { code: 'EAI_AGAIN' })
  await t.rejects(Promise.resolve(c), { code: 'EAI_AGAIN' })
  const d = resolve('d')
  t.strictSame(asked, ['a', 'b', 'c'], 'those that are late still hold their threads')
  answers.get('a')?.()
  t.strictSame(asked, ['a', 'b', 'c', 'd'])
  answers.get('d')?.()
  t.equal((await d).length, 1)
})
