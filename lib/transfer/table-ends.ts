import type { FindEnd } from './record-search.ts'

const QUOTE = 34
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const SEPARATORS = [',', ';', '\t']

/** The separator of a table: the first of those that its header has outside of quotation marks. */
export function separatorOf (header: string): string {
  const bare = header.replaceAll(/"[^"]*"/g, '')
  return SEPARATORS.find((each) => bare.includes(each)) ?? ','
}

/** The separator that the first line of a file of Excel's names, such as `sep=;`; null for any other line. */
export function namedSeparator (line: string): string | null {
  return /^"?sep=([!#-/:-@[-`{-~\t])"?\r?$/i.exec(line)?.[1] ?? null
}

/** True for a line of nothing but separators, as spreadsheets write rows without cells. */
export const isBlankRow = (line: string): boolean => /^[\s,;]*$/.test(line)

/**
 * A record ends at a line feed that is not within quotation marks: these open at the beginning of a cell alone. Behind
 * a mark that closes, the cell must end: if it does not, the mark that seemed to open it is one too many. None opens in
 * the rest of its line then; and if that is a line before, the record has no end.
 */
function findEndOfCells (separators: readonly number[]): FindEnd {
  const after = [...separators, LINE_FEED, CARRIAGE_RETURN]
  const isSeparator = (byte: number | undefined) => separators.some((each) => each === byte)
  return (bytes, search, limit) => {
    let { at, quoted, hasLines, isWrong } = search
    let found = false
    while (at < limit && !found && !(isWrong && hasLines)) {
      const each = bytes[at]
      if (quoted && each !== QUOTE) {
        hasLines ||= each === LINE_FEED
        at++
      } else if (quoted) {
        // What the mark is, the next byte says.
        if (at + 1 === limit) break
        const next = bytes[at + 1]
        quoted = next === QUOTE
        isWrong = !quoted && !after.some((byte) => byte === next)
        at += quoted ? 2 : 1
      } else if (each === LINE_FEED) found = true
      else {
        quoted = each === QUOTE && !isWrong && (at === search.start || isSeparator(bytes[at - 1]))
        at++
      }
    }
    Object.assign(search, { at, quoted, hasLines, isWrong })
    return found
  }
}

const findEndOfHeader = findEndOfCells(SEPARATORS.map((each) => each.charCodeAt(0)))

/** Makes the function that finds the ends of a table's records. Its header says which separator the others have. */
export function tableEnds (): FindEnd {
  let findRow: FindEnd | null = null
  return (bytes, search, limit) => {
    if (findRow !== null) return findRow(bytes, search, limit)
    const found = findEndOfHeader(bytes, search, limit)
    if (found) {
      const line = bytes.toString('latin1', search.start, search.at)
      const separator = namedSeparator(line) ?? separatorOf(line)
      if (!isBlankRow(line)) findRow = findEndOfCells([separator.charCodeAt(0)])
    }
    return found
  }
}
