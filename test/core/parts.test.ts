// The bridge from a reader that calls back to a generator.
import { test } from 'tap'
import { partsOf, type ReadParts } from '../../lib/core/parts.ts'

/** Reads these parts, and notes what happens to it. */
function reader (parts: readonly number[][], log: string[] = []): ReadParts<number> {
  return async (onPart) => {
    log.push('begins')
    try {
      for (const part of parts) {
        await onPart(part)
        log.push(`goes on after ${part}`)
      }
    } finally {
      log.push('ends')
    }
  }
}

test('gives each part, and has the reader wait until the next one is asked for', async (t) => {
  const log: string[] = []
  const parts = partsOf(reader([[1, 2], [3]], log))
  t.strictSame(log, [], 'nothing is read before')
  t.strictSame(await parts.next(), { done: false, value: [1, 2] })
  t.strictSame(log, ['begins'])
  t.strictSame(await parts.next(), { done: false, value: [3] })
  t.strictSame(log, ['begins', 'goes on after 1,2'])
  t.strictSame(await parts.next(), { done: true, value: undefined })
  t.strictSame(log.slice(2), ['goes on after 3', 'ends'])
  t.strictSame(await partsOf(reader([])).next(), { done: true, value: undefined })
})

test('ends the reader when it is left, and waits for its end', async (t) => {
  const log: string[] = []
  const parts = partsOf(reader([[1], [2]], log))
  t.strictSame(await parts.next(), { done: false, value: [1] })
  t.strictSame(await parts.return(), { done: true, value: undefined })
  t.strictSame(log, ['begins', 'ends'])
})

test('throws what the reader throws, also while a part is being taken', async (t) => {
  await t.rejects(partsOf(async () => { throw new Error('no first part') }).next(), { message: 'no first part' })
  let fail = (_error: Error): void => {}
  const failed = new Promise<void>((_resolve, reject) => { fail = reject })
  const parts = partsOf<number>((onPart) => Promise.race([failed, onPart([1])]))
  t.strictSame(await parts.next(), { done: false, value: [1] })
  fail(new Error('lost'))
  await new Promise((resolve) => setImmediate(resolve))
  await t.rejects(parts.next(), { message: 'lost' })
})
