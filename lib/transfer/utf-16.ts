import { StringDecoder } from 'node:string_decoder'

const INVALID_UTF8 = Buffer.from([0xff])
const NONE = Buffer.alloc(0)

/** The text in UTF-8. What UTF-8 cannot hold becomes a byte that it does not have, so that its line is refused. */
function encode (text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text)
  const parts = text.split(/\p{Surrogate}/u).flatMap((part) => [INVALID_UTF8, Buffer.from(part)])
  return Buffer.concat(parts.slice(1))
}

/** Makes the function that converts UTF-16 to UTF-8, chunk by chunk; null: there are no more. */
function utf16Converter (isBigEndian: boolean): (chunk: Buffer | null) => Buffer {
  const decoder = new StringDecoder('utf16le')
  let odd = NONE
  return (chunk) => {
    if (chunk === null) return Buffer.concat([encode(decoder.end()), ...odd.length > 0 ? [INVALID_UTF8] : []])
    const bytes = Buffer.concat([odd, chunk])
    const end = bytes.length - bytes.length % 2
    odd = bytes.subarray(end)
    const units = bytes.subarray(0, end)
    return encode(decoder.write(isBigEndian ? units.swap16() : units))
  }
}

/** Converts chunks that begin with the byte order mark of UTF-16 to UTF-8, and gives all others as they are. */
export async function * asUtf8 (chunks: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let convert = (chunk: Buffer | null): Buffer => chunk ?? NONE
  let start: Buffer | null = NONE
  for await (const chunk of chunks) {
    if (start === null) yield convert(chunk)
    else {
      start = Buffer.concat([start, chunk])
      if (start.length < 2) continue
      const mark = start.readUInt16BE(0)
      if (mark === 0xfffe || mark === 0xfeff) convert = utf16Converter(mark === 0xfeff)
      yield convert(start)
      start = null
    }
  }
  if (start !== null) yield start
  yield convert(null)
}
