import { emailFault } from './email-fault.ts'
import type { FaultReason } from './fault.ts'
import { EMAIL_LOCAL_MAX, EMAIL_MAX, NAME_MAX, NAME_UNITS_MAX } from './limits.ts'
import { searchKey } from './search-key.ts'
import { wordsOf } from './words.ts'

const CONTROL = /\p{Cc}/u
// The last four are letters and signs without ink: Braille, a note, and two Egyptian ones.
const VISIBLE = /[^\p{Z}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}]/u
// The addr-spec of RFC 5321 without quoted strings and address literals, and with at least one dot in the domain. The
// last label is not all digits (RFC 3696 section 2), as in an IP address. Matching takes linear time: no part can match
// in two ways.
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*\\.(?!\\d+$)${LABEL}$`)
const BAD_CHARACTERS = { code: 'characters', detail: 'must be well-formed Unicode without control characters' }

const TOO_LONG = { code: 'too_long', detail: `must have at most ${NAME_MAX} characters` }

/** True if the text has at most so many code points. */
export function hasAtMost (text: string, characters: number): boolean {
  // A code point is one or two UTF-16 units, so only lengths between the two have to be counted.
  return text.length <= characters || (text.length <= 2 * characters && [...text].length <= characters)
}

/** A text that passed the check, the key that it is compared by, and the words that it is found by. */
export interface CheckedText { value: string, key: string, words: string[] }

/**
 * True if every store can keep the text unchanged: no lone surrogate (UTF-8 has none), no NUL (PostgreSQL refuses it).
 */
export function isStorable (text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Checks a name. It is kept in NFC and trimmed, and can be seen. */
export function checkName (text: string): CheckedText | FaultReason {
  if (!isStorable(text)) return BAD_CHARACTERS
  const trimmed = text.trim()
  if (trimmed.length > NAME_UNITS_MAX) return TOO_LONG
  const value = trimmed.normalize('NFC')
  if (CONTROL.test(value)) return BAD_CHARACTERS
  if (value === '') return { code: 'too_short', detail: 'must not be empty' }
  if (!VISIBLE.test(value)) return { code: 'too_short', detail: 'must have at least one visible character' }
  if (!hasAtMost(value, NAME_MAX)) return TOO_LONG
  return { value, key: searchKey(value), words: wordsOf(value) }
}

/** The key of an e-mail address: its ASCII lower case, which is its identity. */
export function emailKeyOf (address: string): string {
  return address.toLowerCase()
}

/** Checks an e-mail address. It is kept as sent, trimmed. */
export function checkEmail (text: string): CheckedText | FaultReason {
  const value = text.trim()
  if (value.length > EMAIL_MAX || value.indexOf('@') > EMAIL_LOCAL_MAX) {
    return {
      code: 'too_long',
      detail: `must have at most ${EMAIL_MAX} characters, and at most ${EMAIL_LOCAL_MAX} before the @`
    }
  }
  if (!ADDRESS.test(value)) return emailFault(value)
  return { value, key: emailKeyOf(value), words: wordsOf(value) }
}
