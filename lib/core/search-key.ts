import { SEARCH_MAX } from './limits.ts'
import { classOf, FOLDED_RANGES, STRIPPED_RANGES } from './unicode-ranges.ts'

const ASCII = /^[\0-\x7f]*$/
const FOLDED = new RegExp(`${classOf(FOLDED_RANGES)}+`, 'gu')
const STRIPPED = new RegExp(classOf(STRIPPED_RANGES), 'gu')

/** Letters and signs that Unicode has no decomposition for, as people type them who lack the key. */
const TYPED_AS = new Map([
  'a ɑ', 'ae æ', 'oe œ', 'o ø', 'd đðɗ', 'th þ', 'l ł', 'h ħ', 't ŧ', 'n ŋ', 'e əǝ', 'b ɓ', 'k ƙ', 'y ƴ',
  // Arabic and Persian keyboards have different characters for one letter.
  'ي ىی', 'ك ک', 'ه ة',
  '\' ‘’ʻʼʹ′', '- ‐‒–—−'
].flatMap((row) => {
  const [typed = '', written = ''] = row.split(' ')
  return [...written].map((character) => [character, typed] as const)
}))

/** Full case folding of one character: without its neighbours, a capital sigma has one lower case. */
function caseFolded (character: string): string {
  return Array.from(character.toLowerCase().toUpperCase(), (each) => each.toLowerCase()).join('')
}

/** Folded characters: each costs several calls of ICU. At most those of the ranges, some 20,000. */
const known = new Map<string, string>()

function foldedCharacter (character: string): string {
  const found = known.get(character)
  if (found !== undefined) return found
  let folded = character
  let before: string
  do {
    before = folded
    const bare = folded.normalize('NFKD').replace(STRIPPED, '')
    folded = Array.from(bare, (each) => TYPED_AS.get(each) ?? caseFolded(each)).join('')
  } while (folded !== before)
  known.set(character, folded)
  return folded
}

/**
 * Marks in their canonical order. One that would have to move before others goes: a part of a text would else be no
 * beginning of the whole. No language writes such marks.
 */
function inOrder (text: string): string {
  if (text.normalize('NFD') === text) return text
  let ordered = ''
  for (const character of text) {
    if (`${ordered}${character}`.normalize('NFD') === ordered + character) ordered += character
  }
  return ordered
}

/**
 * A text without what people don't distinguish when they search: full Unicode case folding and compatibility forms
 * (NFKD), without accents and characters that are not seen. The beginning of a text gives a beginning of the whole.
 *
 * It is the same under every version of Node.js: characters that are newer than those of `unicode-ranges.ts` stay as
 * they are.
 */
export function fold (text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text.replace(FOLDED, (part) => inOrder(Array.from(part.normalize('NFC'), foldedCharacter).join('')))
}

/**
 * The key that names are sorted by: the folded name. It is cut off at the length of the longest search: folding can
 * make 18 characters of one.
 */
export function searchKey (text: string): string {
  const key = fold(text)
  return key.length <= SEARCH_MAX ? key : [...key].slice(0, SEARCH_MAX).join('')
}
