import { Refusal } from './failure.ts'
import { UNPRINTABLE } from './printable.ts'

/**
 * Where a command's answer goes, for people or for programs. What is written after its reader has enough, such as
 * `head`, is left out. Any other error of standard output is a Refusal.
 */
export interface Output {
  json: boolean
  /** False if the answer, or a part of it, could not be written. */
  isWhole (): boolean
  /** A text of the answer, on standard output. @throws Refusal */
  text (text: string): Promise<void>
  /** The answer as a JSON value, on standard output. @throws Refusal */
  value (value: unknown): Promise<void>
  /** A line of the answer for people, on standard output. @throws Refusal */
  line (text: string): Promise<void>
  /** A remark beside the answer, on standard error. */
  note (text: string): void
}

/** Writes to the two streams. */
export function createOutput (json: boolean): Output {
  let isWhole = true

  async function write (text: string): Promise<void> {
    if (!isWhole || text === '') return
    const error = await new Promise<unknown>((resolve) => process.stdout.write(text, resolve))
    if (error === undefined || error === null) return
    isWhole = false
    const { code } = Object(error)
    if (code !== 'EPIPE') throw new Refusal(`standard output can not be written (${code})`)
  }

  return {
    json,
    isWhole: () => isWhole,
    text: write,
    value: (value) => write(`${JSON.stringify(value)}\n`),
    line: (text) => write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`)
  }
}

/** Writes what is shown only this once. @throws Refusal that says what to do if it is lost */
export async function writeOnce (output: Output, text: string, ifLost: string): Promise<void> {
  await output.line(text).catch(({ message }) => output.note(message))
  if (!output.isWhole()) throw new Refusal(ifLost)
}

/** Rows as a table with aligned columns. Unprintable characters become question marks. */
export function tableOf (heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const cells = [heads, ...rows].map((row) => row.map((cell) => cell.replace(UNPRINTABLE, '?')))
  const widths = heads.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  return cells.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ').trimEnd()).join('\n')
}
