/** Where a command's answer goes, for people or for programs. */
export interface Output {
  json: boolean
  /** The answer: a value for programs, on standard output. */
  value (value: unknown): void
  /** A line of the answer for people, on standard output. */
  line (text: string): void
  /** What is said beside the answer, on standard error. */
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

/** Rows as a table with aligned columns. Names may hold what a terminal obeys: that is shown as a question mark. */
export function tableOf (heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const cells = [heads, ...rows].map((row) => row.map((cell) => cell.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')))
  const widths = heads.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  return cells.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ').trimEnd()).join('\n')
}
