// The grammar of filters and paths (RFC 7644 sections 3.4.2.2 and 3.5.2), with its bounds.
import { test } from 'tap'
import { parseFilter, parsePath } from '../../lib/scim/filter.ts'

const at = (name: string, sub = '', schema = '') => ({ schema, name, sub })
const eq = (name: string, value: unknown, sub = '') => ({ op: 'eq', attribute: at(name, sub), value })

test('filters of the RFC, and what clients make of them', (t) => {
  for (const [text, expected] of [
    ['userName eq "bjensen"', eq('username', 'bjensen')],
    ['USERNAME EQ "a \\"quoted\\" (with) [all] and or not"', eq('username', 'a "quoted" (with) [all] and or not')],
    ['name.familyName co "O\'Malley"', { op: 'co', attribute: at('name', 'familyname'), value: "O'Malley" }],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"', {
      op: 'sw', attribute: at('username', '', 'urn:ietf:params:scim:schemas:core:2.0:user'), value: 'J'
    }],
    ['title pr', { op: 'pr', attribute: at('title') }],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', {
      op: 'gt', attribute: at('meta', 'lastmodified'), value: '2011-05-13T04:42:34Z'
    }],
    ['active eq true and n eq -1.5e2 and x eq null', {
      op: 'and', of: [eq('active', true), eq('n', -150), eq('x', null)]
    }],
    ['a eq 1 or b eq 2 and c eq 3', { op: 'or', of: [eq('a', 1), { op: 'and', of: [eq('b', 2), eq('c', 3)] }] }],
    ['(a eq 1 or b eq 2) and c eq 3', { op: 'and', of: [{ op: 'or', of: [eq('a', 1), eq('b', 2)] }, eq('c', 3)] }],
    ['not (a eq 1)', { op: 'not', of: [eq('a', 1)] }],
    ['emails[type eq "work" and value eq "x"]', {
      op: 'has', attribute: at('emails'), of: [{ op: 'and', of: [eq('type', 'work'), eq('value', 'x')] }]
    }]
  ] as const) t.strictSame(parseFilter(text), expected, text)
  t.end()
})

test('what is no filter is invalidFilter', (t) => {
  for (const text of [
    '', 'userName', 'userName eq', 'userName eq bob', "userName eq 'bob'", 'userName eq "bob', 'userName is "bob"',
    'eq "x"', '(a eq 1', 'a eq 1)', 'a eq 1 and', 'a eq 1 b eq 2', 'not a eq 1', 'a[b eq 1', '__proto__ eq 1',
    'a.b.c eq 1', 'a eq {}', 'a eq [1]', 'userName eq "\\x"', '"a" eq 1', `${'('.repeat(50)}a eq 1${')'.repeat(50)}`,
    `a eq "${'x'.repeat(2000)}"`, Array.from({ length: 200 }, () => 'a eq 1').join(' or ')
  ]) t.throws(() => parseFilter(text), { errors: [{ code: 'invalidFilter' }] }, text.slice(0, 40))
  t.end()
})

test('paths', (t) => {
  for (const [text, expected] of [
    ['members', { ...at('members'), filter: null }],
    ['name.familyName', { ...at('name', 'familyname'), filter: null }],
    ['members[value eq "2819"]', { ...at('members'), filter: eq('value', '2819') }],
    ['addresses[type eq "work"].streetAddress', { ...at('addresses', 'streetaddress'), filter: eq('type', 'work') }],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value', {
      ...at('manager', 'value', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user'), filter: null
    }]
  ] as const) t.strictSame(parsePath(text), expected, text)
  for (const text of ['', '[a eq 1]', 'a[', 'a[b eq 1', 'a[b eq 1]c', 'a[b eq 1].c.d', '__proto__', 'a b', 'a.']) {
    t.throws(() => parsePath(text), { code: 'validation_failed' }, text)
  }
  t.end()
})
