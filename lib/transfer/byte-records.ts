import { createByteQueue } from './byte-queue.ts'
import { type FindEnd, RecordSearch } from './record-search.ts'
import { asUtf8 } from './utf-16.ts'

/** The bytes of one user, and the line on which they begin. */
export interface ByteRecord {
  /** From 1. */
  line: number
  /** Without the line break; `null` if the record has more bytes than allowed. */
  bytes: Buffer | null
}

// A reader parses all records of a part together, so these bound what is in memory: a parsed record may take ten times
// its bytes.
const PART_MAX = 128
const PART_BYTES_MAX = 256 * 1024
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Bytes in UTF-8, or in UTF-16 with a byte order mark, as streams and files give them; or texts. */
export type Chunks = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

function countLines (bytes: Buffer, start: number, end: number): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED, start); at !== -1 && at < end; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}

/** A record without the CR before its LF. A file that was converted twice, as text of Windows, has several. */
function withoutReturns (bytes: Buffer, start: number, end: number): Buffer {
  let last = end
  while (last > start && bytes[last - 1] === CARRIAGE_RETURN) last--
  return bytes.subarray(start, last)
}

async function * buffersOf (chunks: Chunks): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of chunks) {
    yield typeof chunk === 'string'
      ? Buffer.from(chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  }
}

/**
 * Splits bytes into records, and yields those of each chunk in parts, without empty records. A stray quotation mark
 * does not swallow what follows: a record without an end is cut after its first line, and of a record with more than
 * `max` bytes only the first line is skipped. Keeps at most twice the size of a chunk and a record in memory.
 */
export async function * byteRecords (
  chunks: Chunks,
  findEnd: FindEnd,
  max: number
): AsyncGenerator<ByteRecord[], void, undefined> {
  const queue = createByteQueue(max)
  const search = new RecordSearch(findEnd)
  let line = 1
  let skipping = false
  let isFirst = true

  /** The end of the first line of a record that has no end of its own. */
  function lineEnd (bytes: Buffer, start: number): number {
    search.giveUp()
    const end = bytes.indexOf(LINE_FEED, start)
    return end === -1 ? bytes.length : end
  }

  /** Skips the rest of a line; returns where the next one begins. */
  function skipLine (bytes: Buffer, start: number): number {
    const end = bytes.indexOf(LINE_FEED, start)
    if (end === -1) return bytes.length
    skipping = false
    line++
    search.begin(end + 1)
    return end + 1
  }

  /** Yields the complete records, and drops them from the queue. */
  function * take (isLast: boolean): Generator<ByteRecord[], void, undefined> {
    const bytes = queue.bytes()
    let records: ByteRecord[] = []
    let start = 0
    let partStart = 0
    while (start < bytes.length) {
      if (records.length === PART_MAX || start - partStart >= PART_BYTES_MAX) {
        if (records.length > 0) yield records
        records = []
        partStart = start
      }
      if (skipping) {
        start = skipLine(bytes, start)
        continue
      }
      let end = search.end(bytes, Math.min(bytes.length, start + max + 1))
      if (end === -1) {
        if (search.isBroken() || (isLast && search.isQuoted(bytes))) end = lineEnd(bytes, start)
        else if (bytes.length - start > max) {
          records.push({ line, bytes: null })
          search.giveUp()
          skipping = true
          continue
        } else if (isLast) end = bytes.length
        else break
      }
      const record = withoutReturns(bytes, start, end)
      if (record.length > 0) records.push({ line, bytes: record })
      line += 1 + countLines(bytes, start, end)
      start = end + 1
      search.begin(start)
    }
    queue.drop(start)
    search.shift(start)
    if (records.length > 0) yield records
  }

  for await (const chunk of asUtf8(buffersOf(chunks))) {
    queue.add(chunk)
    if (isFirst) {
      const bytes = queue.bytes()
      if (bytes.length < BOM.length) continue
      if (bytes.subarray(0, BOM.length).equals(BOM)) queue.drop(BOM.length)
      isFirst = false
    }
    yield * take(false)
  }
  yield * take(true)
}
