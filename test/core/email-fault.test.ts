// What is said of a text that is no e-mail address.
import { test } from 'tap'
import { checkEmail } from '../../lib/core/text.ts'

test('a refused address says which character is wrong, and where, and never the text', (t) => {
  const cases: Array<[string, string]> = [
    ['', 'it has no @'],
    ['ann', 'it has no @'],
    ['@example.org', 'it has nothing before its @'],
    ['ann@', 'it has nothing after its @'],
    ['ann lee@example.org', "it can't have a space at position 4"],
    ['Ann <ann@example.org>', "it can't have a space at position 4"],
    ['ann@example.org,bob@example.org', 'it can\'t have "," at position 16'],
    ['ann@@example.org', 'it can\'t have "@" at position 5'],
    ['ann\u00a0lee@example.org', "it can't have U+00A0 at position 4"],
    ['a🦊b@example.org', "it can't have U+1F98A at position 2"],
    ['🦊', "it can't have U+1F98A at position 1"],
    ['jürgen@example.org', "it can't have U+00FC at position 2"],
    ['ann@bücher.example', "it can't have U+00FC at position 6; a domain beyond ASCII is written with xn--"],
    ['ann@例え.jp', "it can't have U+4F8B at position 5; a domain beyond ASCII is written with xn--"],
    ['ann@exa_mple.org', 'it can\'t have "_" at position 8'],
    ['.ann@example.org', 'it can\'t have "." at position 1'],
    ['ann.@example.org', 'it can\'t have "." at position 4'],
    ['a..n@example.org', 'it can\'t have "." at position 2'],
    ['ann@example.org.', 'it can\'t have "." at position 16'],
    ['ann@-example.org', 'it can\'t have "-" at position 5'],
    ['ann@example-.org', 'it can\'t have "-" at position 12'],
    ['ann@localhost', 'its domain has no dot'],
    ['ann@192.0.2.1', 'the last part of its domain is a number'],
    [`ann@${'x'.repeat(64)}.org`, 'a part of its domain has more than 63 characters']
  ]
  for (const [text, problem] of cases) {
    t.strictSame(checkEmail(` ${text} `), { code: 'format', detail: `must be an e-mail address: ${problem}` }, text)
  }
  t.match(checkEmail('ann@xn--bcher-kva.example'), { key: 'ann@xn--bcher-kva.example' })
  t.end()
})
