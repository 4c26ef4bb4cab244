import { test } from 'tap'
import { openSpillFile } from '../../lib/transfer/spill-file.ts'

test('what is added and read concurrently comes back as it was', async (t) => {
  const file = await openSpillFile()
  const texts = Array.from({ length: 3000 }, (_, n) => `${n} é `.repeat(1 + n % 40))
  // Far more than is written together, so that texts come while others are being written.
  const stretches = await Promise.all(texts.map((text) => file.add(text)))
  const last = await Promise.all(['the last one', 'the very last one'].map((text) => file.add(text)))
  const read = await Promise.all([...last, ...stretches, ...last].map((stretch) => file.read(stretch)))
  t.strictSame(read, ['the last one', 'the very last one', ...texts, 'the last one', 'the very last one'])
  await file.close()
})

test('texts are read while others are added', async (t) => {
  const file = await openSpillFile()
  const back = await Promise.all(Array.from({ length: 500 }, async (_, n) => {
    const stretch = await file.add(`${n} `.repeat(200))
    return file.read(stretch)
  }))
  t.strictSame(back, Array.from({ length: 500 }, (_, n) => `${n} `.repeat(200)))
  await file.close()
})
