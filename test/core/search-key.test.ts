import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { test } from 'tap'
import { searchKey } from '../../lib/core/search-key.ts'
import { checkName } from '../../lib/core/text.ts'
import { FOLDED_RANGES } from '../../lib/core/unicode-ranges.ts'

/** Every character that folding may change. */
const CHARACTERS = FOLDED_RANGES.split(' ').flatMap((range) => {
  const [from = 0, to = from] = range.split('-').map((point) => Number.parseInt(point, 16))
  return Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i))
})

/** Letters and marks of many scripts that combine, move, grow, shrink or vanish. */
const COMBINING = [
  ...'aeiıİIßẞſKÅæøłđŉǰΣσςΐᾳᾴᾼͅѐйЙЇԱևﬃﷺﷻㄱ가각각ᆩㅏ힣かがはばぱｶﾊﾞﾟ゙゚ゞ㌀株㍿漢葛神क़कऩऩ्ज्ञড়য়রেোேಓේේก้ำุู๋ຳຸ່གྷཱཱིྀེ',
  ...'\u0300\u0301\u0308\u0316\u0323\u0327\u0334\u034f\u05b0\u05bc\u064b\u0651\u0653\u0670\u093c\u0f71\u200c\u200d',
  ...'\u20e3\ufe0f\u{e0100}\u{16ff0}\u{1d165}\u{1109a}\u{110ba}\u{1e94a}', 'a', 'b', ' ', '\'', '1', '🦊', '\u{10ffff}'
]

const known = fc.oneof(fc.constantFrom(...COMBINING), fc.constantFrom(...CHARACTERS))
const anything = fc.oneof(known, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
const name = fc.string({ unit: anything, maxLength: 12 })
const knownName = fc.string({ unit: known, maxLength: 12 })

/** Checks the key of each beginning of a text. */
function hasKeysOfBeginnings (text: string): boolean {
  const key = searchKey(text)
  const characters = [...text]
  return characters.every((_, end) => key.startsWith(searchKey(characters.slice(0, end).join(''))))
}

test('texts have one key that people take for the same', (t) => {
  for (const same of [
    ['Οδυσσέας', 'ΟΔΥΣΣΈΑΣ', 'οδυσσεας', 'οδυσσεασ'],
    ['José', 'JOSE', 'Jose\u0301'],
    ['H̱ayim', 'h\u0331ayim', 'HAYIM'],
    ['J̌anis', '\u01f0anis', 'janis'],
    ['İpek', 'ipek', 'IPEK', 'ıpek', 'i̇pek'],
    ['Łódź Æsop Ørsted Đặng Þór', 'lodz aesop orsted dang thor'],
    ['Əliyev', 'eliyev'],
    ['O’Brien‐Smith', "o'brien-smith"],
    ['أحمد', 'احمد'],
    ['علی\u200cرضا', 'عليرضا'],
    ['שָׁלוֹם', 'שלום'],
    ['ज़ैन', 'जैन'],
    ['ﾀﾅｶﾞﾜ', 'タナガワ'],
    ['Ｊｏｅ\u3000１', 'joe 1'],
    ['葛\u{e0100}城', '葛城'],
    ['ᾳ', 'ΑΙ'],
    ['Ꭰ', 'ꭰ'],
    ['ﬃ Ⅷ', 'ffi viii']
  ]) t.strictSame(new Set(same.map(searchKey)).size, 1, `${same.join(' ')}: ${same.map(searchKey).join(' ')}`)
  for (const other of [
    ['かとう', 'がとう'], ['はは', 'ばば', 'ぱぱ'], ['कि', 'क', 'क्'], ['กา', 'ก', 'กุ', 'ก้'], ['한', '하'], ['か', 'カ']
  ]) t.strictSame(new Set(other.map(searchKey)).size, other.length, other.join(' '))
  t.end()
})

test('the key of a beginning is a beginning of the key', (t) => {
  fc.assert(fc.property(name, (text) => hasKeysOfBeginnings(text.normalize('NFC'))), { numRuns: 500 })
  fc.assert(fc.property(name, (text) => hasKeysOfBeginnings(searchKey(text))), { numRuns: 300 })
  // What has been typed of a letter or a syllable, mark by mark.
  for (const text of [
    'José', 'Οδυσσέας', 'Đặng Thị', '각 힣', 'ㄱㅏ', 'がぱぶ', 'ज़ैनब क़ुर्बान', 'น้ำผึ้ง กุ้ง',
    'රේණුකා', 'نُور', 'שָׁלוֹם', 'བཀྲ་ཤིས'
  ]) {
    t.ok(hasKeysOfBeginnings(text.normalize('NFD')), text)
  }
  t.end()
})

test('a key is normalised, and the key of itself, of every form and of either case', (t) => {
  const isRight = (text: string) => {
    const key = searchKey(text)
    return key === searchKey(key) && key === key.normalize('NFD') &&
      [text.normalize('NFC'), text.normalize('NFD')].every((form) => searchKey(form) === key)
  }
  t.strictSame(CHARACTERS.filter((character) => !isRight(character)), [])
  t.equal(searchKey('ก\u0e49\u034f\u0e38'), 'ก\u0e49', 'a mark goes that would have to move before another')
  fc.assert(fc.property(knownName, isRight), { numRuns: 500 })
  const hasCase = (character: string) => {
    const key = searchKey(character)
    // Newer versions of Unicode have a capital of a letter without one, which is folded to itself.
    return [character.toUpperCase(), character.toLowerCase()]
      .every((cased) => searchKey(cased) === key || searchKey(cased) === cased)
  }
  t.strictSame(CHARACTERS.filter((character) => !hasCase(character)), [])
  t.end()
})

test('keys are the same under every version of Node.js and its Unicode', (t) => {
  const digest = createHash('sha256').update(CHARACTERS.map(searchKey).join('\n')).digest('hex')
  t.equal(digest, '74d55a8537118d7d652e26e8e9053f4460bcc7b2154662f6134dba51e8cfc05b')
  for (const newer of ['\u{2ebf0}', '\u{10d50}', '\u{16d68}', '\u{105c9}', '\u1c89', '\ua7da', '\u0378']) {
    t.equal(searchKey(`É${newer}É`), `e${newer}e`, 'what Unicode 15.0 does not have stays as it is')
  }
  t.end()
})

test('keys have at most 254 characters, and every name that is accepted has one', (t) => {
  const longest = searchKey('ﷺ'.repeat(200))
  t.equal([...longest].length, 254)
  t.ok(longest.startsWith(searchKey('ﷺ'.repeat(7))))
  t.equal([...searchKey('𝒜'.repeat(100) + '가'.repeat(100))].length, 254)
  t.equal([...searchKey('🦊'.repeat(254) + 'é')].length, 254)
  const withoutKey = CHARACTERS.filter((character) => {
    const checked = checkName(character)
    return 'key' in checked && checked.key === ''
  })
  t.strictSame(withoutKey, [])
  t.end()
})
