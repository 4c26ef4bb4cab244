// Contract §4 and §6: which names and e-mail addresses are valid, tested exhaustively where that is possible.
import fc from 'fast-check'
import { test } from 'tap'
import type { User } from '../../lib/index.ts'
import { checkEmail, checkName } from '../../lib/core/text.ts'
import { testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'

test('normalises valid names and refuses the others', (t) => {
  const name = (text: string) => {
    const result = checkName(text)
    return 'value' in result ? result.value : result.code
  }
  for (const [text, expected, what] of [
    ['  A  B\u00a0\u3000\t\n', 'A  B', 'only the ends are trimmed'],
    ['e\u0301', 'é', 'kept in NFC'],
    [' \n ', 'too_short', 'nothing is left'],
    ['x'.repeat(200), 'x'.repeat(200), 'the longest'],
    ['x'.repeat(201), 'too_long', 'one more'],
    ['🦊'.repeat(200), '🦊'.repeat(200), 'code points, not UTF-16 units'],
    ['e\u0301'.repeat(200), 'é'.repeat(200), 'counted after NFC'],
    [`${' '.repeat(5000)}x`, 'x', 'however much is trimmed'],
    ['\u03b1\u0313\u0300\u0345'.repeat(200), 'ᾂ'.repeat(200), 'four characters that become one'],
    ['\u{11d05}'.repeat(201), 'too_long', 'more that NFC leaves']
  ] as const) t.equal(name(text), expected, what)
  for (const text of ['a\0b', 'a\nb', 'a\x7fb', 'a\x85b', '\ud800', '\udc00\ud800']) {
    t.equal(name(text), 'characters', JSON.stringify(text))
  }
  for (const text of [
    '\u200b', '\u00ad\u2060', '\u2062', '\u034f', '\u061c', '\u180e', '\u115f\u1160', '\u3164', '\uffa0',
    '\u2800 \u2800', '\ufe0f', '\ufff9\ufffb', '\u{13430}', '\u{13441}', '\u{1bca0}', '\u{1d159}', '\u{1d173}',
    '\u{e0001}', '\u{e0100}', '\u0301', '\u202e\u202c', '\u2028\u200b'
  ]) { t.equal(name(text), 'too_short', encodeURIComponent(text)) }
  for (const text of [
    'Zoë', '李雷', 'مريم', 'O’Brien', '👩‍👩‍👧', '\u202eabc', "Robert'); DROP TABLE users; --", '<script>'
  ]) { t.equal(name(text), text.normalize('NFC')) }
  t.end()
})

test('accepts valid e-mail addresses and refuses the others', (t) => {
  const email = (text: string) => {
    const result = checkEmail(text)
    return 'value' in result ? result.value : result.code
  }
  const label = 'd'.repeat(63)
  for (const text of [
    'a@b.co', 'A.b+c@x-y.example', "!#$%&'*+/=?^_`{|}~-@b.co", `${'l'.repeat(64)}@b.co`,
    `a@${label}.${label}.${label}.${'d'.repeat(60)}`, 'a@1.2a', 'a@1.b', 'a@b.xn--p1ai', '1@b.c'
  ]) { t.equal(email(text), text) }
  t.equal(email(' \ta@b.co\n'), 'a@b.co')
  // Others, with what is wrong: test/core/email-fault.test.ts.
  for (const text of ['@', 'a@1.2', 'a@b.c.0', 'a@.co', '"a"@b.co', 'a@[1.2.3.4]', 'a@b.co\0', '\ud800@b.co']) {
    t.equal(email(text), 'format', JSON.stringify(text))
  }
  t.equal(email(`${'l'.repeat(65)}@b.co`), 'too_long')
  t.equal(email(`a@${`${'d'.repeat(50)}.`.repeat(5)}co`), 'too_long')
  t.end()
})

test('accepts no other Unicode character in an address, and keys are lower-case ASCII', (t) => {
  const accepted: string[] = []
  // At night each of them, before that each of the first plane and some of the others.
  const step = from('nightly') === false ? 1 : 257
  for (let point = 0; point <= 0x10ffff; point += point < 0x10000 ? 1 : step) {
    const character = String.fromCodePoint(point)
    const result = checkEmail(`x${character}y@example.org`)
    if ('key' in result) accepted.push(character)
    if ('key' in result && (result.key !== result.key.toLowerCase() || !/^[\x21-\x7e]+$/.test(result.key))) {
      t.fail(`the key of ${point}`)
    }
  }
  t.equal(accepted.join(''), "!#$%&'*+-./0123456789=?ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz{|}~")
  t.end()
})

// fc.string of every character makes a map of them all, which takes seconds.
const texts = fc.array(fc.integer({ min: 0, max: 0x10ffff }).filter((point) => point < 0xd800 || point > 0xdfff), {
  minLength: 1, maxLength: 60
}).map((points) => String.fromCodePoint(...points))

test('returns every accepted name byte for byte', async (t) => {
  const { call, app } = await testApp(t)
  const statusOf = async (payload: string) =>
    (await call('POST', '/users', { headers: { 'content-type': 'application/json' }, payload })).statusCode
  let n = 0
  await fc.assert(
    fc.asyncProperty(texts, async (name) => {
      const created = await call('POST', '/users', { payload: { name, email: `u${n++}@example.org` } })
      if (created.statusCode !== 201) return created.statusCode === 400
      const user: User = created.json()
      const read = await call('GET', `/users/${user.id}`)
      const found = await call('GET', `/users?q=${encodeURIComponent(name.normalize('NFC').trim().slice(0, 40))}`)
      return (
        read.body === created.body &&
        user.name === name.normalize('NFC').trim() &&
        (found.statusCode === 400 || found.json().data.some(({ id }: User) => id === user.id))
      )
    }),
    { numRuns: from('nightly') === false ? 300 : 100 }
  )
  t.equal(await statusOf('{"name":"\\ud800","email":"s@example.org"}'), 400)
  t.equal(await statusOf('{"name":"a\\u0000b","email":"s@example.org"}'), 400)
  const deep = '['.repeat(5000)
  t.equal(await statusOf(`{"name":${deep}${deep.replaceAll('[', ']')},"email":"a@b.co"}`), 400, 'deeply nested')
  t.ok((await app.users.list()).meta.total > 0)
})

test('lists at most 50 faults, then says how many there are', async (t) => {
  const { call } = await testApp(t)
  const problem = async (method: string, path: string, payload?: object) => {
    const { statusCode, body } = await call(method, path, { ...(payload !== undefined && { payload }) })
    const { code, detail, errors } = JSON.parse(body)
    return { statusCode, code, detail, errors: errors.length, bytes: body.length }
  }
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, 1]))
  const few = await problem('POST', '/users', { name: 'Ann', email: 'ann@example.org', ...members(50) })
  t.match(few, { statusCode: 400, errors: 50, detail: 'The request is not valid; errors lists every problem.' })
  for (const [method, path, payload, count] of [
    ['POST', '/users', { name: 'Ann', email: 'ann@example.org', ...members(51) }, 51],
    ['POST', '/users', { name: 'Ann', email: 'ann@example.org', ...members(1500) }, 1500],
    ['GET', `/users?${Array.from({ length: 1500 }, (_, i) => `p${i}`).join('&')}`, undefined, 1500]
  ] as const) {
    const { bytes, ...others } = await problem(method, path, payload)
    const detail = `The request has ${count} problems; errors lists the first 50.`
    t.strictSame(others, { statusCode: 400, code: 'validation_failed', detail, errors: 50 }, path.slice(0, 20))
    t.ok(bytes < 5000, `${bytes} bytes`)
  }
})
