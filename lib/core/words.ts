import { FIELD_WORDS_MAX, WORD_MAX } from './limits.ts'
import { fold } from './search-key.ts'
import { classOf, SEPARATING_RANGES } from './unicode-ranges.ts'

// The words that users are found by: each word of a search has to begin one of the user's. Both are folded, and divided
// by the same signs. Han, kana and Hangul are written without blanks: two letters that stand next to each other are a
// word there, and so is the last one.

const BETWEEN = new RegExp(`(?!')${classOf(SEPARATING_RANGES)}`, 'u')

// As whole blocks, and Hangul as folding takes it apart: the same under every version of Unicode.
const HANGUL = '[\\u1100-\\u115f\\ua960-\\ua97f]+[\\u1160-\\u11a7\\ud7b0-\\ud7ca]*[\\u11a8-\\u11ff\\ud7cb-\\ud7ff]*'
const KANA = '\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u31f0-\\u31ff\\u{1aff0}-\\u{1b16f}'
const HAN = '\\u3005-\\u3007\\u3021-\\u3029\\u3400-\\u4dbf\\u4e00-\\u9fff\\u{20000}-\\u{3ffff}'
const LETTER = `(?:${HANGUL}|[${KANA}${HAN}][\\u3099\\u309a]*)`
const LETTERS = new RegExp(LETTER, 'gu')
const HAS_LETTER = new RegExp(LETTER, 'u')
const PARTS = new RegExp(`(?:${LETTER})+|(?:(?!${LETTER}).)+`, 'gsu')
const BEGINS_WITH_LETTER = new RegExp(`^${LETTER}`, 'u')

/** True if a word begins with a letter of Han, kana or Hangul: one of these says as much as several of an alphabet. */
export function isLetterWord (word: string): boolean {
  return BEGINS_WITH_LETTER.test(word)
}

const cut = (word: string): string => word.length <= WORD_MAX ? word : [...word].slice(0, WORD_MAX).join('')

/** Folding takes the marks of sound off kana: a letter without one is another letter, and no beginning of it. */
const composed = (folded: string): string => folded.replace(/.[\u3099\u309a]/gu, (pair) => pair.normalize('NFC'))

/** The parts of a word: of letters of Han, kana or Hangul every two that stand next to each other. */
function partsOf (word: string, isSearch: boolean): string[] {
  return (word.match(PARTS) ?? []).flatMap((part) => {
    const letters = isLetterWord(part) ? part.match(LETTERS) ?? [] : []
    if (letters.length < 2) return [part]
    const pairs = letters.slice(1).map((letter, i) => `${letters[i] ?? ''}${letter}`)
    return isSearch ? pairs : [...pairs, letters.at(-1) ?? '']
  })
}

/** The words of a text. `isSearch`: those that a search for it has. */
function wordsIn (text: string, isSearch: boolean): string[] {
  const folded = composed(fold(text))
  const words = folded.split(BETWEEN).flatMap((each) => {
    if (!each.includes('\'')) return each
    const split = each.split('\'')
    return isSearch ? split : [...split, split.join('')]
  }).filter((word) => word !== '')
  const parts = HAS_LETTER.test(folded) ? words.flatMap((word) => partsOf(word, isSearch)) : words
  return [...new Set(parts.map(cut))]
}

/** The words of a name, an address or another text, each once. */
export function wordsOf (text: string): string[] {
  return wordsIn(text, false)
}

const withoutZeros = (digits: string): string => digits.replace(/^0+/, '')

/**
 * The digits of a number that people write with blanks and signs, as one word from each group of digits to the end: so
 * it is found with and without the code of its country, and the zeros before it.
 */
export function digitWords (text: string): string[] {
  const groups = (fold(text).match(/\d+/g) ?? []).slice(0, WORD_MAX)
  const words = groups.map((_group, i) => cut(withoutZeros(groups.slice(i).join(''))))
  return [...new Set(words.filter((word) => word !== ''))]
}

/** The words of several texts, each once, and at most as many as a store keeps of the own fields. */
export function wordsOfAll (lists: ReadonlyArray<readonly string[]>): string[] {
  return [...new Set(lists.flat())].slice(0, FIELD_WORDS_MAX)
}

const NUMBER = /^[\d\s+()./-]*\d[\d\s+()./-]*$/

/**
 * The words of a search: a user is found if all words of one of these lists begin words of its own. There is a second
 * list if the search may be a number with blanks and signs in it, and `numbers` says that users have such.
 */
export function searchedWords (text: string, numbers: boolean): string[][] {
  const words = wordsIn(text, true)
  // What is the beginning of another one adds nothing.
  const needed = words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
  const digits = numbers && NUMBER.test(fold(text)) ? digitWords(text)[0] : undefined
  return [needed, ...digits === undefined || needed.join(' ') === digits ? [] : [[digits]]]
    .filter((each) => each.length > 0)
}
