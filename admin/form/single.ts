import type { Json } from '../api/types.ts'
import { isSame } from './merge-patch.ts'
import type { SingleKind } from './kinds.ts'
import { isShownDate, isShownMoment } from './moments.ts'

// A value that has one control is edited as a text. Which texts a kind has, and what they stand for, is said here.

const LINE_BREAKS = /\r\n?/g
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** Infinity is none: as JSON it would be null, which removes a field. */
function isNumber (text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text))
}

/** The value of a JSON text; undefined if it is none, or has a number that is too large for JSON. */
export function parsedJson (text: string): Json | undefined {
  try {
    let isFinite = true
    const value: Json = JSON.parse(text, (_name, member: unknown) => {
      if (typeof member === 'number' && !Number.isFinite(member)) isFinite = false
      return member
    })
    return isFinite ? value : undefined
  } catch {
    return undefined
  }
}

const plain = (value: Json): string => typeof value === 'object' ? JSON.stringify(value) : String(value)

/** The text of a value, as a control of the kind shows it. */
export function textOf (kind: SingleKind, value: Json | undefined): string {
  if (value === undefined) return ''
  switch (kind.is) {
    case 'choice':
    case 'flag': return JSON.stringify(value)
    case 'json': return JSON.stringify(value, null, 2)
    // A text area has no other line breaks.
    case 'lines': return [value].flat().map(plain).join('\n').replace(LINE_BREAKS, '\n')
    default: return plain(value).replace(LINE_BREAKS, '\n')
  }
}

/** The value of a text. Undefined: nothing is set. */
export function valueOfText (kind: SingleKind, text: string, isRequired: boolean): Json | undefined {
  const trimmed = text.trim()
  switch (kind.is) {
    case 'choice':
    case 'flag':
    case 'json': return trimmed === '' ? undefined : parsedJson(text)
    // What is no number is sent as it is: the server says what is wrong with it.
    case 'number': return trimmed === '' ? undefined : isNumber(trimmed) ? Number(trimmed) : text
    case 'lines': {
      const lines = text.split('\n').filter((line) => line.trim() !== '')
      return lines.length === 0 && !isRequired ? undefined : lines
    }
    case 'text': return text === '' && !isRequired ? undefined : text.replaceAll('\n', kind.lineBreak)
    default: return text === '' ? undefined : text
  }
}

/** True if the value comes back from what is shown. */
function isKept (kind: SingleKind, value: Json): boolean {
  if (kind.is === 'date') return typeof value === 'string' && isShownDate(value)
  if (kind.is === 'moment') return typeof value === 'string' && isShownMoment(value)
  return isSame(valueOfText(kind, textOf(kind, value), true), value)
}

/**
 * The kind that a stored value is edited by: that of its schema, if nothing of the value would be lost. Otherwise it is
 * edited as text or JSON, such as a list with line breaks in it, or what was stored under another schema.
 */
export function kindFor (kind: SingleKind, value: Json | undefined): SingleKind {
  if (value === undefined) return kind
  if (kind.is === 'choice') {
    return kind.choices.some((each) => isSame(each, value)) ? kind : { ...kind, choices: [...kind.choices, value] }
  }
  if (kind.is === 'flag') return typeof value === 'boolean' ? kind : { is: 'json' }
  const given = typeof value === 'string' ? value : ''
  const lineBreak = given.includes('\r\n') ? '\r\n' as const : '\n' as const
  const text: SingleKind = kind.is === 'text'
    ? { ...kind, isLong: kind.isLong || given.includes('\n'), lineBreak }
    : { is: 'text', inputMode: 'text', isLong: given.includes('\n'), lineBreak }
  const isText = typeof value === 'string' && ['text', 'date', 'moment'].includes(kind.is)
  const kinds = [...kind.is === 'text' ? [] : [kind], ...isText ? [text] : []]
  return kinds.find((each) => isKept(each, value)) ?? { is: 'json' }
}
