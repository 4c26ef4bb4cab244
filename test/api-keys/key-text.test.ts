// The text of a key: its format, its checksum, and the digest that is stored.
import { test } from 'tap'
import { digestSecret, generateKey, isApiKey, keyReader } from '../../lib/api-keys/key-text.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('the text of a key is unique, evenly random, and can be read', (t) => {
  const read = keyReader('uk')
  const texts = new Set<string>()
  const counts = new Map<string, number>()
  for (let i = 0; i < 20_000; i++) {
    const { text, start, secret } = generateKey('uk')
    texts.add(text)
    for (const character of secret) counts.set(character, (counts.get(character) ?? 0) + 1)
    const parts = read(text)
    if (JSON.stringify(parts) !== JSON.stringify({ start, secret })) t.fail('a generated key can be read')
  }
  t.equal(texts.size, 20_000, 'all texts differ')
  const expected = (20_000 * 43) / 62
  const chiSquare = [...ALPHABET].reduce((sum, character) =>
    sum + ((counts.get(character) ?? 0) - expected) ** 2 / expected, 0)
  t.ok(chiSquare < 125, `every character is equally likely: ${chiSquare} of 61 degrees of freedom`)
  t.end()
})

// A fixed text, so that the format cannot change unnoticed. Six base62 digits with its CRC-32 follow.
const fixed = 'uk_ABCDEFGHIJKL_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'

test('reads a key only with its prefix and checksum', (t) => {
  const read = keyReader('uk')
  t.strictSame(read(`${fixed}2rm10u`), {
    start: 'uk_ABCDEFGHIJKL',
    secret: '0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
  })
  t.equal(read(`${fixed}2rm100`), 'malformed')
  for (const text of ['', 'uk_ABCDEFGHIJKL', `xk${fixed.slice(2)}2rm10u`]) {
    t.equal(read(text), null)
    t.notOk(isApiKey(text))
  }
  for (const text of [
    fixed, `${fixed}2rm10u `, ` ${fixed}2rm10u`, `${fixed}1jQbU-`, `${fixed}2rm10u\n`, `${fixed}2rm10`
  ]) {
    t.equal(read(text), 'malformed', 'so that nobody else is asked about a key with a slip')
    t.notOk(isApiKey(text))
  }
  t.equal(keyReader('acme')(generateKey('uk').text), null)
  t.ok(isApiKey(`${fixed}2rm10u`))
  t.ok(isApiKey(generateKey('acme').text, 'acme'))
  for (const other of [`${fixed}2rm100`, 5, null, undefined, [`${fixed}2rm10u`]]) t.notOk(isApiKey(other))
  t.notOk(isApiKey(`${fixed}2rm10u`, 'acme'))
  t.notOk(isApiKey(`${fixed}2rm10u`, '.*'), 'a prefix is not a pattern')
  t.end()
})

test('the checksum detects every wrong character and every swap of neighbours', (t) => {
  const read = keyReader('uk')
  const { text } = generateKey('uk')
  let tried = 0
  let accepted = 0
  const attempt = (changed: string) => {
    if (changed === text) return
    tried++
    if (typeof read(changed) === 'object' && read(changed) !== null) accepted++
  }
  for (let i = 0; i < text.length; i++) {
    for (const character of ALPHABET) attempt(text.slice(0, i) + character + text.slice(i + 1))
    attempt(text.slice(0, i) + text.charAt(i + 1) + text.charAt(i) + text.slice(i + 2))
  }
  t.ok(tried > 3900)
  t.equal(accepted, 0)
  t.end()
})

test('the digest of a secret depends on the pepper', (t) => {
  t.equal(digestSecret('secret', undefined), 'K7gNU3sdo-OL0wNhqoVWhr3g6s1xYv72ol_pe_Unols')
  t.not(digestSecret('secret', 'pepper'), digestSecret('secret', undefined))
  t.not(digestSecret('secret', 'pepper'), digestSecret('secret', 'salt'))
  t.end()
})
