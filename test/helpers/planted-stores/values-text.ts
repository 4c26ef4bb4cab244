import type { Json, UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plantFields, plantKeptUser } from './plant.ts'

function names (title: string, change: (name: string) => string): Mistake {
  return plantKeptUser(title, (user) => ({ ...user, name: change(user.name) }))
}

function emails (title: string, change: (email: string) => string): Mistake {
  return plantKeptUser(title, (user) => ({ ...user, email: change(user.email) }))
}

function texts (title: string, change: (text: string) => Json): Mistake {
  return plantFields(title, (value) => typeof value === 'string' ? change(value) : value)
}

function times (title: string, change: (time: string) => string): Mistake {
  return plantKeptUser(title, (user) => ({
    ...user, createdAt: change(user.createdAt), updatedAt: change(user.updatedAt)
  }))
}

const HOUR = 3_600_000

function later (time: string, milliseconds: number): string {
  return new Date(Date.parse(time) + milliseconds).toISOString()
}

function isSummer (time: string): boolean {
  const month = Number(time.slice(5, 7))
  return month >= 4 && month <= 9
}

function isSkipped (time: string): boolean {
  return time.startsWith('2026-03-29T02')
}

function throughSeconds (time: string): string {
  const seconds = Date.parse(time) / 1000
  const whole = Math.floor(seconds)
  return new Date(whole * 1000 + Math.floor((seconds - whole) * 1000)).toISOString()
}

function withoutZeros (time: string): string {
  return time.replace('.000Z', 'Z')
}

function asDate (user: UserRecord): UserRecord {
  return Object.assign({ ...user }, { createdAt: new Date(user.createdAt) })
}

export const valuesText: Mistake[] = [
  names('the name is cut to 200 UTF-16 units', (name) => name.slice(0, 200).toWellFormed()),
  names('names lose what is after 191 characters', (name) => [...name].slice(0, 191).join('')),
  names('characters beyond the first plane become question marks', (name) => {
    return name.replace(/[\u{10000}-\u{10FFFF}]/gu, '?')
  }),
  names('names are kept decomposed', (name) => name.normalize('NFD')),
  names('a byte order mark at the start of a name is lost', (name) => name.replace(/^\uFEFF/, '')),
  names('a lone surrogate in a name becomes a replacement character', (name) => name.toWellFormed()),
  names('a NUL ends a name', (name) => name.split('\0')[0] ?? ''),
  names('a NUL in a name is left out', (name) => name.replaceAll('\0', '')),
  names('names are kept with HTML entities', (name) => name.replaceAll('&', '&amp;')),
  names('an apostrophe in a name comes back doubled', (name) => name.replaceAll("'", "''")),
  names('a percent sign in a name is decoded', (name) => name.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent)),
  names('a no-break space in a name becomes a space', (name) => name.replaceAll('\u00A0', ' ')),
  names('two spaces in a name become one', (name) => name.replace(/ {2,}/g, ' ')),
  names('joiners between emoji are lost', (name) => name.replaceAll('\u200D', '')),
  emails('the e-mail address is kept in lower case', (email) => email.toLowerCase()),
  emails('addresses lose what is after 250 characters', (email) => email.slice(0, 250)),
  emails('addresses lose what is after a plus sign', (email) => email.replace(/\+[^@]*@/, '@')),
  texts('texts in fields lose spaces at their end', (text) => text.trimEnd()),
  texts('an empty text in fields becomes null', (text) => text === '' ? null : text),
  texts('texts in fields that look like numbers become numbers', (text) => {
    return /^\d{1,15}$/.test(text) ? Number(text) : text
  }),
  texts('texts in fields that look like dates become full times', (text) => {
    return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00.000Z` : text
  }),
  texts('texts in fields that are null or true lose their quotes', (text) => {
    return text === 'null' ? null : text === 'true' ? true : text
  }),
  texts('line ends in fields become plain line feeds', (text) => text.replaceAll('\r\n', '\n')),
  texts('a backslash in fields is lost', (text) => text.replaceAll('\\', '')),
  texts('texts in fields are cut to 4,000 characters', (text) => text.slice(0, 4000)),
  times('times of users are cut to seconds', (time) => time.replace(/\.\d+Z/, '.000Z')),
  times('times on a whole second come without milliseconds', withoutZeros),
  times('times come with +00:00 instead of Z', (time) => time.replace('Z', '+00:00')),
  times('summer times are an hour off', (time) => isSummer(time) ? later(time, HOUR) : time),
  times('times in the hour that summer time skips move on by an hour', (time) => {
    return isSkipped(time) ? later(time, HOUR) : time
  }),
  times('times are a millisecond off after a way through seconds', throughSeconds),
  plantKeptUser('createdAt comes as a Date', asDate)
]
