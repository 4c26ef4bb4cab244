/** A stretch of bytes that stands for one user, and the line that it begins in. */
export interface ByteRecord {
  /** From 1. */
  line: number
  /** Without its line break; null: more bytes than a record may have. */
  bytes: Buffer | null
}

/**
 * Where the record that begins at `start` ends: the index of its last line feed, or of the end of the bytes if nothing
 * follows them. -1: not in these bytes.
 */
export type EndOf = (bytes: Buffer, start: number, isLast: boolean) => number

// Readers of a part parse all of it at once, so the parts of a chunk bound how much of it is in memory.
const PART_MAX = 128
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Bytes, as streams and files give them. Texts are in UTF-8 then. */
export type Chunks = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

/** Records end at line feeds. */
export const endOfLine: EndOf = (bytes, start, isLast) => {
  const end = bytes.indexOf(LINE_FEED, start)
  return end === -1 && isLast ? bytes.length : end
}

function countLines (bytes: Buffer, start: number, end: number): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED, start); at !== -1 && at < end; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}

function withoutReturn (bytes: Buffer, start: number, end: number): Buffer {
  return bytes.subarray(start, end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end)
}

/**
 * Splits bytes into records, and gives those of each chunk in parts; empty ones are left out. Of a record with more
 * than `max` bytes only its first line is skipped, so that one quotation mark too many does not take what follows with
 * it. Keeps no more than a chunk and a record in memory.
 */
export async function * byteRecords (
  chunks: Chunks,
  endOf: EndOf,
  max: number
): AsyncGenerator<ByteRecord[], void, undefined> {
  let left: Buffer = Buffer.alloc(0)
  let line = 1
  let skipping = false
  let isFirst = true

  /** Takes the records off that are whole. */
  function * take (bytes: Buffer, isLast: boolean): Generator<ByteRecord[], void, undefined> {
    let records: ByteRecord[] = []
    let start = 0
    while (start < bytes.length) {
      if (records.length === PART_MAX) {
        yield records
        records = []
      }
      const end = skipping ? endOfLine(bytes, start, isLast) : endOf(bytes, start, isLast)
      const length = (end === -1 ? bytes.length : end) - start
      if (skipping) {
        if (end === -1) start = bytes.length
        else {
          start = end + 1
          line++
          skipping = false
        }
      } else if (length > max) {
        records.push({ line, bytes: null })
        skipping = true
      } else if (end === -1) break
      else {
        const record = withoutReturn(bytes, start, end)
        if (record.length > 0) records.push({ line, bytes: record })
        line += 1 + countLines(bytes, start, end)
        start = end + 1
      }
    }
    left = bytes.subarray(start)
    if (records.length > 0) yield records
  }

  function joined (chunk: Uint8Array | string): Buffer {
    const more = typeof chunk === 'string'
      ? Buffer.from(chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    return left.length === 0 ? more : Buffer.concat([left, more])
  }

  for await (const chunk of chunks) {
    let bytes = joined(chunk)
    if (isFirst && bytes.length < BOM.length) {
      left = bytes
      continue
    }
    if (isFirst && bytes.subarray(0, BOM.length).equals(BOM)) bytes = bytes.subarray(BOM.length)
    isFirst = false
    yield * take(bytes, false)
  }
  yield * take(left, true)
}
