// The ends of records: what is looked at to find them, and that they are those of a plain description.
import fc from 'fast-check'
import { test } from 'tap'
import { byteRecords } from '../../lib/transfer/byte-records.ts'
import { type FindEnd, findLineEnd } from '../../lib/transfer/record-search.ts'
import { IMPORT_LINE_MAX } from '../../lib/core/limits.ts'
import { tableEnds } from '../../lib/transfer/table-ends.ts'
import { from } from '../helpers/level.ts'

const HEADER = 'a,b\n'

function * chunksOf (bytes: Buffer, size: number): Generator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function recordsOf (chunks: Iterable<Buffer>, findEnd: FindEnd, max: number): Promise<string[]> {
  const records: string[] = []
  for await (const part of byteRecords(chunks, findEnd, max)) {
    for (const { line, bytes } of part) records.push(`${line} ${bytes}`)
  }
  return records
}

/** How many bytes are looked at, and how many are kept anew, for each byte of a text. */
async function workFor (text: string, size: number, findEnd: FindEnd): Promise<{ looks: number, copies: number }> {
  const whole = Buffer.from(text)
  const spaces = new Map<ArrayBufferLike, number>()
  let looked = 0
  await recordsOf(chunksOf(whole, size), (bytes, search, limit) => {
    spaces.set(bytes.buffer, bytes.buffer.byteLength)
    const { at } = search
    const found = findEnd(bytes, search, limit)
    looked += search.at - at
    return found
  }, IMPORT_LINE_MAX)
  spaces.delete(whole.buffer)
  const copied = [...spaces.values()].reduce((sum, length) => sum + length, 0)
  return { looks: looked / whole.length, copies: copied / whole.length }
}

test('the work for a text grows with its length alone, whatever it holds and in whatever chunks', async (t) => {
  const KIB = 1024
  for (const [what, line] of [
    ['long lines', `${'x'.repeat(16_000)},y\n`],
    ['lines that are too long', `${'x'.repeat(100_000)},y\n`],
    ['quoted lines', '"x","y@example.org"\n'],
    ['long quoted cells', `"${'x\n'.repeat(8000)}",y\n`],
    ['quotation marks within cells', '"x"y,"\n'],
    ['quotation marks that are not closed', `"x\n${'x\n'.repeat(2000)}`],
    ['quotation marks that are not closed, in each line', '"x",",\n'],
    ['one that is not closed', `"x,y\n${'x,y\n'.repeat(16 * KIB)}`]
  ] as const) {
    const text = HEADER + line.repeat(Math.ceil(64 * KIB / line.length))
    for (const size of [61, 4 * KIB, text.length]) {
      const { looks, copies } = await workFor(text, size, tableEnds())
      t.ok(looks < 2.1, `${what} in chunks of ${size}: each byte is looked at ${looks} times`)
      t.ok(copies < 5, `${what} in chunks of ${size}: ${copies} bytes of memory for each`)
    }
  }
  const { looks, copies } = await workFor(`${'x'.repeat(16_000)}\n`.repeat(16), 61, findLineEnd)
  t.ok(looks < 1.1 && copies < 5, `lines of JSON: ${looks}, ${copies}`)
})

// Marks open at the beginning of a cell alone, doubled ones do not close, and behind one that closes the cell ends.
const CELL = '(?:"(?:[^"]|"")*"(?=[,\\n]|$)|(?!")[^,\\n]*)'
const RECORD = new RegExp(`(?:${CELL}(?:,|(?=\\n|$)))+?(?:\\n|$)`, 'y')
const WRONG_MARK = new RegExp(`(?:${CELL},)*"(?:[^"]|"")*"(?![",\\n]|$)`, 'y')

/** The records of a text as it is described: each search begins at a record's start, and has all of the text. */
function describedRecords (text: string, max: number): string[] {
  const records: string[] = []
  let line = 1
  let start = 0
  while (start < text.length) {
    RECORD.lastIndex = WRONG_MARK.lastIndex = start
    const whole = RECORD.exec(text)?.[0].replace(/\n$/, '')
    const wrong = WRONG_MARK.exec(text)?.[0]
    const [firstLine = ''] = text.slice(start).split('\n', 1)
    const lookedAt = whole ?? (wrong?.includes('\n') === false ? firstLine : wrong) ?? text.slice(start)
    const isTooLong = lookedAt.length > max
    const record = isTooLong || whole === undefined ? firstLine : whole
    if (isTooLong) records.push(`${line} null`)
    else if (record !== '') records.push(`${line} ${record}`)
    line += record.split('\n').length
    start += record.length + 1
  }
  return records
}

test('records are those that a search from the start of each would find', async () => {
  const piece = fc.constantFrom('"', '"', '\n', ',', 'a', '""', '"\n', ',"', 'aaaa')
  await fc.assert(fc.asyncProperty(
    fc.array(piece, { maxLength: 60 }), fc.integer({ min: 4, max: 24 }), fc.integer({ min: 1, max: 40 }),
    async (pieces, max, size) => {
      const text = HEADER + pieces.join('')
      const records = await recordsOf(chunksOf(Buffer.from(text), size), tableEnds(), max)
      const [is, should] = [records, describedRecords(text, max)].map((each) => JSON.stringify(each))
      if (is !== should) throw new Error(`${is} instead of ${should}`)
    }
  ), { numRuns: from('nightly') === false ? 3000 : 500 })
})
