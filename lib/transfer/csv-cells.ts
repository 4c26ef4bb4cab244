/** A cell: its text, null for the bare word `null`, undefined for nothing, not even quotation marks. */
export type Cell = string | null | undefined

/** Makes the function that gives the cells of a record (RFC 4180); null if its quotation marks are wrong. */
export function cellReader (separator: string): (record: string) => Cell[] | null {
  const between = `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`
  const pattern = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${between}]*))(?:${between}|($))`, 'y')
  return (record) => {
    const cells: Cell[] = []
    pattern.lastIndex = 0
    for (;;) {
      const match = pattern.exec(record)
      if (match === null) return null
      const [, quoted, bare, end] = match
      if (quoted !== undefined) cells.push(quoted.includes('"') ? quoted.replaceAll('""', '"') : quoted)
      else cells.push(bare === '' ? undefined : bare === 'null' ? null : bare)
      if (end !== undefined) return cells
    }
  }
}
