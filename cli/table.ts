import { UNPRINTABLE } from './printable.ts'
import { type Terminal, type Tone, toned } from './terminal.ts'

/** What stands in a table: text, which may be cut, or something short that is whole or not there. */
export type Cell = string | { text: string, tone?: Tone }

/** A table for people. */
export interface Table {
  heads: readonly string[]
  rows: ReadonlyArray<readonly Cell[]>
  /** The columns that a narrow terminal can do without, the first one first. */
  spare?: readonly string[]
}

const GAP = 2
/** How short a text may be cut. */
const LEAST = 10
// Characters that take two columns: Han, kana, Hangul, fullwidth forms, and most emoji.
const WIDE_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul'].map((script) => `\\p{Script=${script}}`).join('')
const WIDE = new RegExp(`[${WIDE_SCRIPTS}\\p{Emoji_Presentation}\\u3000-\\u303e\\uff01-\\uff60]`, 'u')
const segmenter = new Intl.Segmenter()

const charactersOf = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment)
const widthOf = (text: string): number =>
  charactersOf(text).reduce((width, each) => width + (WIDE.test(each) ? 2 : 1), 0)

/** A text of at most this many columns, with `…` where it was cut. */
function cut (text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let left = columns - 1
  for (const each of charactersOf(text)) {
    left -= widthOf(each)
    if (left < 0) break
    kept += each
  }
  return `${kept}…`
}

interface Part { text: string, tone?: Tone }
interface Column { head: string, cells: Part[], width: number, isFixed: boolean }

const totalOf = (columns: readonly Column[]): number =>
  columns.reduce((total, { width }) => total + width, GAP * (columns.length - 1))
const leastOf = ({ width, isFixed }: Column): number => isFixed ? width : Math.min(width, LEAST)

/** The columns that fit, in the widths that they have then. */
function fitted (columns: readonly Column[], width: number, spare: readonly string[]): Column[] {
  let kept = [...columns]
  for (const head of spare) {
    if (totalOf(kept.map((column) => ({ ...column, width: leastOf(column) }))) <= width) break
    kept = kept.filter((column) => column.head !== head)
  }
  // The widest gives way first, so that short texts stay whole.
  for (let over = totalOf(kept) - width; over > 0; over--) {
    const widest = kept.filter((column) => column.width > leastOf(column)).sort((a, b) => b.width - a.width)[0]
    if (widest === undefined) break
    kept = kept.map((column) => column === widest ? { ...column, width: column.width - 1 } : column)
  }
  return kept
}

/**
 * The lines of a table, as wide as the terminal at most; elsewhere nothing is cut. The first column, which is what
 * other commands ask for, stays whole. Unprintable characters become question marks.
 */
export function tableOf ({ heads, rows, spare = [] }: Table, terminal: Terminal): string {
  const columns = heads.map((head, i): Column => {
    const given = rows.map((row) => row[i] ?? '')
    const cells = given.map((cell) => typeof cell === 'string' ? { text: cell } : cell)
      .map((cell) => ({ ...cell, text: cell.text.replace(UNPRINTABLE, '?') }))
    const width = Math.max(head.length, ...cells.map(({ text }) => widthOf(text)))
    return { head, cells, width, isFixed: i === 0 || given.some((cell) => typeof cell !== 'string') }
  })
  const shown = terminal.columns === null ? columns : fitted(columns, terminal.columns, spare)
  const heading = shown.map(({ head }): Part => ({ text: head }))
  const lines = [heading, ...rows.map((_, i) => shown.map(({ cells }): Part => cells[i] ?? { text: '' }))]
  return lines.map((line) => shown.map(({ width }, i) => {
    const { text, tone }: Part = line[i] ?? { text: '' }
    const whole = cut(text, width)
    const rest = i === shown.length - 1 ? 0 : width - widthOf(whole)
    return toned(whole, tone, terminal) + ' '.repeat(rest)
  }).join(' '.repeat(GAP)).trimEnd()).join('\n')
}
