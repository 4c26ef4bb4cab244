import { styleText } from 'node:util'

/** What a text stands for, where there are colours. */
export type Tone = 'bad' | 'warning'

/** What reads the answer. */
export interface Terminal {
  /** How many characters fit a line; null: it is no terminal, and lines are as long as they are. */
  columns: number | null
  hasColours: boolean
}

const STYLES = { bad: 'red', warning: 'yellow' } as const

/** True if the answer may have colours: the variables that many programs know decide before the stream. */
function hasColours (stream: NodeJS.WriteStream, { FORCE_COLOR = '', NO_COLOR = '' }: NodeJS.ProcessEnv): boolean {
  if (FORCE_COLOR !== '') return !['0', 'false'].includes(FORCE_COLOR)
  return NO_COLOR === '' && stream.isTTY && stream.hasColors()
}

/** What reads what is written to a stream. */
export function terminalOf (stream: NodeJS.WriteStream, env = process.env): Terminal {
  return { columns: stream.isTTY && stream.columns > 0 ? stream.columns : null, hasColours: hasColours(stream, env) }
}

export function toned (text: string, tone: Tone | undefined, { hasColours }: Terminal): string {
  // Asked before: what Node.js itself asks differs between its versions.
  return tone === undefined || !hasColours ? text : styleText(STYLES[tone], text, { validateStream: false })
}

const UNITS = [
  ['year', 365 * 86_400], ['month', 30 * 86_400], ['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]
] as const
const spans = new Intl.RelativeTimeFormat('en')

/** How long ago a moment is, or how far ahead: `5 minutes ago`. */
export function agoText (moment: string, now = Date.now()): string {
  const seconds = (Date.parse(moment) - now) / 1000
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return spans.format(Math.trunc(seconds / length), unit)
}
