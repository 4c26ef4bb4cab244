import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { TextName, Texts } from '../../lib/admin/texts.ts'
import { ClientError } from '../../client/error.ts'
import type { Fault } from '../api/types.ts'

export type { TextName }
const DAY = 86_400
const UNITS = [
  ['year', 365 * DAY], ['month', 30 * DAY], ['day', DAY], ['hour', 3600], ['minute', 60]
] as const

/** What the server says of an empty text. */
const EMPTY = ['too_short', 'format', 'type', 'characters']
type Values = Readonly<Record<string, string | number>>

/** What a status says by itself, where the host has a format of errors without our codes. */
const CODES: ReadonlyMap<number, string> = new Map([[400, 'validation_failed'], [401, 'invalid_api_key']])

/** Says things in the page's language. */
export interface Speech {
  language: string
  /** A text with its values filled in. The plural form follows `count`. */
  say: (name: TextName, values?: Values) => string
  number: (value: number) => string
  /** A moment for people, to the minute or to the second, in their own time zone. */
  time: (moment: string, isExact?: boolean) => string
  /** The day of a moment, in their own time zone. */
  day: (moment: string) => string
  /** The days of a time, the last of which ends when it does. */
  span: (from: Date, to: Date) => string
  /** How long ago a moment is, or how far ahead; in few letters, if `isShort`. */
  ago: (moment: string, isShort?: boolean) => string
  /** What went wrong, in a sentence. */
  sayError: (error: unknown) => string
  /** What is wrong with a field, in a sentence. `value`: what was typed, since nothing is not merely too short. */
  sayFault: (fault: Fault, value?: string) => string
}

/** How many midnights, in the person's time zone, lie between now and a moment. */
export function daysUntil (moment: string): number {
  const midnightOf = (date: Date): number => date.setHours(0, 0, 0, 0)
  return Math.round((midnightOf(new Date(moment)) - midnightOf(new Date())) / 1000 / DAY)
}

/** The language as the person has it: dates are not the same in every country that speaks it. */
const regional = (language: string): string =>
  navigator.languages.find((each) => each.startsWith(`${language}-`)) ?? language

export function createSpeech (texts: Texts, language: string): Speech {
  const locale = regional(language)
  const plurals = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(locale)
  const spans = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const shortSpans = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const exactTimes = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const number = (value: number): string => numbers.format(value)

  function say (name: TextName, values: Values = {}): string {
    const text = texts[name]
    const count = Number(values['count'])
    const template = typeof text === 'string' ? text : text[plurals.select(count)] ?? text.other
    return template.replace(/\{(\w+)\}/g, (whole, key: string) => {
      const value = values[key]
      if (value === undefined) return whole
      return typeof value === 'number' ? number(value) : value
    })
  }

  const has = (name: string): name is TextName => Object.hasOwn(texts, name)

  return {
    language,
    say,
    number,
    time (moment, isExact = false) {
      const date = new Date(moment)
      return Number.isNaN(date.getTime()) ? moment : (isExact ? exactTimes : times).format(date)
    },
    day: (moment) => days.format(new Date(moment)),
    span: (from, to) => days.formatRange(from, new Date(to.getTime() - 1)),
    ago (moment, isShort = false) {
      const seconds = (Date.parse(moment) - Date.now()) / 1000
      if (Number.isNaN(seconds)) return moment
      const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
      const count = unit === 'day' ? daysUntil(moment) : Math.trunc(seconds / length)
      return (isShort ? shortSpans : spans).format(count, unit)
    },
    sayError (error) {
      if (!(error instanceof ClientError)) return error instanceof Error ? error.message : String(error)
      if (error.statusCode === 0) return say('error.network')
      const isOurs = error.code !== 'unreadable' || error.statusCode < 400
      const code = isOurs ? error.code : CODES.get(error.statusCode) ?? ''
      const isUnmarked = code === 'validation_failed' && error.errors.length === 0
      const name = isUnmarked ? 'error.unmarked' : `error.${code}`
      const parts = [has(name) ? say(name) : say('error.unknown', { status: error.statusCode })]
      if (error.retryAfter !== null) parts.push(say('error.retryAfter', { count: error.retryAfter }))
      if (error.statusCode >= 500 && error.requestId !== null) parts.push(say('error.request', { id: error.requestId }))
      return parts.join(' ')
    },
    sayFault ({ pointer, code, detail }, value) {
      if (value?.trim() === '' && EMPTY.includes(code)) return say('fault.required')
      // The format of a whole file, line or body: the server says what to do.
      const name = code === 'format' && pointer === '' ? 'fault.malformed' : `fault.${code}`
      return has(name) ? say(name, { detail }) : detail
    }
  }
}

export const SpeechContext = createContext<Speech | null>(null)

export function useSpeech (): Speech {
  const speech = useContext(SpeechContext)
  if (speech === null) throw new Error('there is no language')
  return speech
}
