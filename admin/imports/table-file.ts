/** The lines of a file on which a record begins, with its text: a cell in quotation marks may have line breaks. */
export function * recordsOf (text: string, isTable: boolean): Generator<{ line: number, text: string }> {
  let line = 1
  let begun = 1
  let parts: string[] = []
  let isQuoted = false
  for (const part of text.split('\n')) {
    parts.push(part)
    line++
    // After an odd number of marks the record goes on.
    if (isTable && part.split('"').length % 2 === 0) isQuoted = !isQuoted
    if (isQuoted) continue
    yield { line: begun, text: parts.join('\n').replace(/\r$/, '') }
    begun = line
    parts = []
  }
  if (parts.length > 0) yield { line: begun, text: parts.join('\n') }
}

/** The text of a file, by its byte order mark: spreadsheets write UTF-16 too. */
export async function textOf (file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder().decode(bytes)
}

// Of a large table the header is enough.
const HEADER_MAX = 64 * 1024
const SEPARATOR = /^sep=(.)\r?$/i

/** The names in the header of a table, as the server divides it. */
export async function headerOf (file: File): Promise<string[]> {
  const [first, second] = recordsOf(await textOf(file.slice(0, HEADER_MAX)), true)
  const named = SEPARATOR.exec(first?.text ?? '')?.[1]
  const header = (named === undefined ? first : second)?.text ?? ''
  const separator = named ?? [',', ';', '\t'].find((each) => header.includes(each)) ?? ','
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (const character of header) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      cells.push(cell.trim())
      cell = ''
    } else cell += character
  }
  return [...cells, cell.trim()]
}
