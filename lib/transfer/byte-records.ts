import { createByteQueue } from './byte-queue.ts'
import { type FindEnd, RecordSearch } from './record-search.ts'
import { asUtf8 } from './utf-16.ts'

/** A stretch of bytes that stands for one user, and the line that it begins in. */
export interface ByteRecord {
  /** From 1. */
  line: number
  /** Without its line break; null: more bytes than a record may have. */
  bytes: Buffer | null
}

// Readers of a part parse all of it at once, so the parts of a chunk bound how much of it is in memory.
const PART_MAX = 128
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

function withoutReturn (bytes: Buffer, start: number, end: number): Buffer {
  return bytes.subarray(start, end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end)
}

async function * buffersOf (chunks: Chunks): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of chunks) {
    yield typeof chunk === 'string'
      ? Buffer.from(chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  }
}

/**
 * Splits bytes into records, and gives those of each chunk in parts; empty ones are left out. One quotation mark too
 * many does not take what follows with it: a record without an end is its first line alone, and of one with more than
 * `max` bytes only the first line is skipped. Keeps no more than twice a chunk and a record in memory.
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

  /** The end of the first line of a record that has none itself. */
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

  /** Takes the records off that are whole. */
  function * take (isLast: boolean): Generator<ByteRecord[], void, undefined> {
    const bytes = queue.bytes()
    let records: ByteRecord[] = []
    let start = 0
    while (start < bytes.length) {
      if (records.length === PART_MAX) {
        yield records
        records = []
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
      const record = withoutReturn(bytes, start, end)
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
