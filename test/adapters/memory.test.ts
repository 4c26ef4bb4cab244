// The order structures of the memory store against plain arrays.
import fc from 'fast-check'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { endOfPrefix, PrefixIndex } from '../../adapters/memory/prefix-index.ts'
import { SortedMap } from '../../adapters/memory/sorted-map.ts'
import type { JsonObject } from '../../lib/storage/storage.ts'
import { userOf } from '../helpers/records.ts'
import { addUser } from '../helpers/writes.ts'

type Step =
  | { kind: 'add' | 'delete'; key: string }
  | { kind: 'range'; start: number; count: number }
  | { kind: 'rank'; key: string }

test('a sorted map is a sorted array', (t) => {
  const key = fc.integer({ min: 0, max: 60 }).map((n) => String(n).padStart(2, '0'))
  const start = fc.oneof(fc.integer({ min: -2, max: 70 }), fc.constant(Infinity))
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const), key }),
    fc.record({ kind: fc.constant('range' as const), start, count: fc.nat(70) }),
    fc.record({ kind: fc.constant('rank' as const), key })
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      // Narrow leaves make many of few keys.
      const set = new SortedMap<string>(4)
      let model: string[] = []
      return steps.every((step) => {
        if (step.kind === 'range') {
          const { start, count } = step
          const expected = model.slice(Math.max(0, start)).slice(0, count)
          return JSON.stringify(set.range(start, count)) === JSON.stringify(expected)
        }
        if (step.kind === 'rank') return set.rank(step.key) === model.filter((key) => key < step.key).length
        if (step.kind === 'add') set.set(step.key, step.key)
        else set.delete(step.key)
        model = [...model.filter((key) => key !== step.key), ...step.kind === 'add' ? [step.key] : []].sort()
        return set.size === model.length && JSON.stringify(set.range(0, model.length + 1)) === JSON.stringify(model)
      })
    }),
    { numRuns: 300 }
  )
  t.end()
})

test('where the keys that begin with a text end', (t) => {
  const set = new SortedMap<string>()
  for (const key of ['a', 'ab', 'abc', 'ac', 'a\uffff', 'a\uffffb', 'b', '\uffff', '\uffff\uffffx']) set.set(key, key)
  for (const [prefix, begins] of [
    ['a', 6], ['ab', 2], ['abc', 1], ['a\uffff', 2], ['\uffff', 2], ['\uffff\uffff', 1], ['c', 0]
  ] as const) {
    t.equal(endOfPrefix(set, prefix) - set.rank(prefix), begins, JSON.stringify(prefix))
  }
  t.end()
})

test('a prefix index finds what a look at every key finds, while prefixes become common and rare again', (t) => {
  const end = fc.string({ unit: fc.constantFrom('a', 'b', '\uffff'), minLength: 1, maxLength: 4 })
  // What many keys have in common is longer than one character, and few keys leave the others in the middle of it.
  const key = fc.oneof(
    { weight: 20, arbitrary: end.map((text) => `abba${text}`) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('a', 'ab', 'abb'), end).map(([start, text]) => start + text) }
  )
  // Some keys go on where the other one ends, as a name and an address often do.
  const keys = fc.oneof(
    fc.tuple(key, key),
    fc.tuple(key, key).map(([a, b]): [string, string] => [a, a + b]),
    fc.tuple(end, end),
    end.map((text): [string, string] => [text, `b${text}`])
  )
  const step = fc.record({ id: fc.integer({ min: 10, max: 60 }).map(String), remove: fc.boolean(), keys })
  const prefix = fc.oneof(key, end, fc.constantFrom('a', 'ab', 'abb', 'abba'))
  const items = new Map(Array.from({ length: 51 }, (_, i) => [String(10 + i), { id: String(10 + i) }]))
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 300, size: 'max' }), prefix, (steps, asked) => {
      const index = new PrefixIndex<{ id: string }>(8)
      const model = new Map<string, string[]>()
      return steps.every(({ id, remove, keys }) => {
        index.move(items.get(id) ?? { id: '' }, model.get(id) ?? [], remove ? [] : keys)
        if (remove) model.delete(id)
        else model.set(id, keys)
        const expected = [...model]
          .filter(([, keys]) => keys.some((each) => each.startsWith(asked)))
          .map(([id]) => id)
          .sort()
        const found = index.matching(asked)
        return (
          found.size === expected.length &&
          JSON.stringify(found.range(0, 100).map(({ id }) => id)) === JSON.stringify(expected) &&
          found.rank('35') === expected.filter((id) => id < '35').length
        )
      })
    }),
    { numRuns: 300 }
  )
  t.end()
})

test('a creation that fails claims no address', async (t) => {
  const store = memory()
  let deep: JsonObject = {}
  for (let level = 0; level < 100_000; level++) deep = { deep }
  await t.rejects(addUser(store, userOf(1, { fields: deep })), RangeError)
  const second = userOf(2, { email: userOf(1).email })
  t.strictSame(await addUser(store, second), second)
})
