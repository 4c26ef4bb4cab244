/** Where a command's answer goes, for people or for programs. */
export interface Output {
  json: boolean
  /** The answer as a JSON value, on standard output. */
  value (value: unknown): void
  /** A line of the answer for people, on standard output. */
  line (text: string): void
  /** A remark beside the answer, on standard error. */
  note (text: string): void
}

/** Writes to the two streams. */
export function createOutput (json: boolean): Output {
  return {
    json,
    value: (value) => process.stdout.write(`${JSON.stringify(value)}\n`),
    line: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`)
  }
}

// Control and separator characters: a terminal obeys some of them.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Rows as a table with aligned columns. Unprintable characters become question marks. */
export function tableOf (heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const cells = [heads, ...rows].map((row) => row.map((cell) => cell.replace(UNPRINTABLE, '?')))
  const widths = heads.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  return cells.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ').trimEnd()).join('\n')
}
