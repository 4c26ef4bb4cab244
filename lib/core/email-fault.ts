import type { FaultReason } from './fault.ts'

const LOCAL = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]/
const DOMAIN = /[A-Za-z0-9.-]/
const LETTER = /[\p{L}\p{M}\p{N}]/u
const LABEL_MAX = 63

/** A character that was sent: a sign as it is, any other by its number. */
function named (character: string): string {
  if (/[!-/:-@[-`{-~]/.test(character)) return `"${character}"`
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return character === ' ' ? 'a space' : `U+${hex}`
}

/** The index of a dot without a label on one of its sides, or of a hyphen at an end of a label; -1: there is none. */
function misplaced (text: string, signs: RegExp): number {
  return [...text].findIndex((character, i, all) => {
    const isEnd = (place: number): boolean => [undefined, '.'].includes(all[place])
    return signs.test(character) && (isEnd(i - 1) || isEnd(i + 1))
  })
}

/** What is wrong with the domain of an address, whose characters fit. */
function domainProblem (domain: string): string {
  const labels = domain.split('.')
  if (labels.length < 2) return 'its domain has no dot'
  return labels.some((label) => label.length > LABEL_MAX)
    ? `a part of its domain has more than ${LABEL_MAX} characters`
    : 'the last part of its domain is a number'
}

function problemOf (address: string): string {
  const characters = [...address]
  const at = characters.indexOf('@')
  const allowedAt = (i: number): RegExp => at === -1 || i < at ? LOCAL : DOMAIN
  const wrong = characters.findIndex((character, i) => i !== at && !allowedAt(i).test(character))
  const found = characters[wrong]
  if (found !== undefined) {
    const isDomain = at !== -1 && wrong > at
    const advice = isDomain && LETTER.test(found) ? '; a domain beyond ASCII is written with xn--' : ''
    return `it can't have ${named(found)} at position ${wrong + 1}${advice}`
  }
  if (at === -1) return 'it has no @'
  const [local, domain] = [characters.slice(0, at).join(''), characters.slice(at + 1).join('')]
  if (local === '') return 'it has nothing before its @'
  if (domain === '') return 'it has nothing after its @'
  const [inLocal, inDomain] = [misplaced(local, /\./), misplaced(domain, /[.-]/)]
  const place = inLocal !== -1 ? inLocal : inDomain === -1 ? -1 : at + 1 + inDomain
  const sign = characters[place]
  return sign === undefined ? domainProblem(domain) : `it can't have ${named(sign)} at position ${place + 1}`
}

/** The fault of a text that is no address: which character is wrong, and where, counted from 1. Never the text. */
export function emailFault (address: string): FaultReason {
  return { code: 'format', detail: `must be an e-mail address: ${problemOf(address)}` }
}
