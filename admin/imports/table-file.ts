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

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** A record of a table with one more cell; `isReplaced`: its last column had such a cell before. */
export function withCell (record: string, { separator, columns }: Table, text: string, isReplaced: boolean): string {
  let end = record.length
  if (isReplaced && cellsOf(record, separator).length === columns.length) {
    let isQuoted = false
    for (const [i, character] of record.split('').entries()) {
      if (character === '"') isQuoted = !isQuoted
      else if (character === separator && !isQuoted) end = i
    }
  }
  return `${record.slice(0, end)}${separator}${quoted(text)}`
}

/** The cells of a record, without the blanks around them. */
function cellsOf (record: string, separator: string): string[] {
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (const character of record) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      cells.push(cell.trim())
      cell = ''
    } else cell += character
  }
  return [...cells, cell.trim()]
}

// Of a large table the header is enough.
const HEADER_MAX = 64 * 1024
const SEPARATOR = /^sep=(.)\r?$/i

/** How many rows are shown before an import. */
const SHOWN = 3

/** How a table is divided, the names in its header, and its first rows. */
export interface Table { separator: string, columns: readonly string[], rows: ReadonlyArray<readonly string[]> }

/** The beginning of a file; null: it is no text. */
export async function beginningOf (file: File): Promise<string | null> {
  const text = await textOf(file.slice(0, HEADER_MAX))
  return text.includes('\0') ? null : text
}

function * take<Value> (values: Iterable<Value>, count: number): Generator<Value> {
  let left = count
  for (const value of values) {
    yield value
    if (--left === 0) return
  }
}

/** What the beginning of a table says of it, as the server divides it. */
export function tableOf (text: string): Table {
  const records = [...take(recordsOf(text, true), SHOWN + 2)]
  const [first, second] = records
  const named = SEPARATOR.exec(first?.text ?? '')?.[1]
  const header = (named === undefined ? first : second)?.text ?? ''
  const separator = named ?? [',', ';', '\t'].find((each) => header.includes(each)) ?? ','
  const rows = records.slice(named === undefined ? 1 : 2, SHOWN + (named === undefined ? 1 : 2))
  return {
    separator,
    columns: cellsOf(header, separator),
    rows: rows.filter((row) => row.text !== '').map((row) => cellsOf(row.text, separator))
  }
}

/** Whom the records on some lines are about. `from`: the columns of a name. `table`: null if each line is JSON. */
export function namesOf (
  text: string,
  lines: ReadonlySet<number>,
  table: Table | null,
  from: readonly string[]
): Map<number, string> {
  const places = from.map((column) => table?.columns.indexOf(column) ?? -1)
  const names = new Map<number, string>()
  for (const { line, text: record } of recordsOf(text, table !== null)) {
    if (!lines.has(line)) continue
    const cells = table === null ? [] : cellsOf(record, table.separator)
    const name = table === null ? nameIn(record) : places.map((place) => cells[place] ?? '').join(' ').trim()
    if (name !== '') names.set(line, name)
    if (names.size === lines.size) break
  }
  return names
}

function nameIn (line: string): string {
  try {
    const { name } = Object(JSON.parse(line))
    return typeof name === 'string' ? name : ''
  } catch {
    return ''
  }
}
