import { fstatSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { Refusal } from './failure.ts'
import { type Table, tableOf } from './table.ts'
import { agoText, terminalOf, type Tone, toned } from './terminal.ts'

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
  /** A table of the answer for people, on standard output. @throws Refusal */
  table (table: Table): Promise<void>
  /** A moment for people: on a terminal how long ago it is. */
  moment (moment: string): string
  /** A text in the colour of what it stands for, if there are colours. */
  toned (text: string, tone: Tone): string
  /** A remark beside the answer, on standard error. */
  note (text: string): void
}

/** Writes to the two streams. */
export function createOutput (json: boolean): Output {
  let isWhole = true
  const terminal = terminalOf(process.stdout)

  async function write (text: string): Promise<void> {
    if (!isWhole || text === '') return
    const error = await new Promise<unknown>((resolve) => process.stdout.write(text, resolve))
    if (error === undefined || error === null) return
    isWhole = false
    const { code } = Object(error)
    if (code !== 'EPIPE') throw new Refusal(`standard output cannot be written (${code})`)
  }

  return {
    json,
    isWhole: () => isWhole,
    text: write,
    value: (value) => write(`${JSON.stringify(value)}\n`),
    line: (text) => write(`${text}\n`),
    table: (table) => write(`${tableOf(table, terminal)}\n`),
    moment: (moment) => terminal.columns === null ? moment : agoText(moment),
    toned: (text, tone) => toned(text, tone, terminal),
    note: (text) => process.stderr.write(`${text}\n`)
  }
}

/** True if what is written is lost: Node.js opens the null device where a shell has closed standard output. */
function isDiscarded (): boolean {
  const { rdev } = fstatSync(process.stdout.fd)
  return rdev > 0 && rdev === statSync(devNull).rdev
}

/** Writes what is shown only this once. @throws Refusal that says what to do if it is lost */
export async function writeOnce (output: Output, text: string, ifLost: string): Promise<void> {
  await output.line(text).catch(({ message }) => output.note(message))
  if (!output.isWhole() || isDiscarded()) throw new Refusal(ifLost)
}
