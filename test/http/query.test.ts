import { test } from 'tap'
import { parseQuery, queryOf } from '../../lib/http/query.ts'

const encoding = (parameter: string) => ({ parameter, code: 'encoding', detail: 'must be percent-encoded UTF-8' })
const duplicate = (parameter: string) => ({ parameter, code: 'duplicate', detail: 'must not be given more than once' })

test('the query begins after the first question mark', async (t) => {
  t.equal(queryOf('/v1/users', false), '')
  t.equal(queryOf('/v1/users?', false), '')
  t.equal(queryOf('/v1/users?a=1?b=2', false), 'a=1?b=2')
  t.equal(queryOf('/v1;x/users?a=1', false), 'a=1', 'a semicolon belongs to the path')
  t.equal(queryOf('/v1;x/users?a=1', true), 'x/users?a=1', 'unless the host made it the delimiter')
  t.equal(queryOf('/v1?a;b', true), 'a;b')
})

test('pairs are decoded, in the order in which they were sent', async (t) => {
  const rows: Array<[query: string, pairs: Array<[string, string]>]> = [
    ['', []],
    ['&&', []],
    ['b=2&a=1', [['b', '2'], ['a', '1']]],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['=a', [['', 'a']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a+b=c+d%2B', [['a b', 'c d+']]],
    ['q=%C3%A4%26%3D', [['q', 'ä&=']]],
    ['a[b]=1&a.c=2', [['a[b]', '1'], ['a.c', '2']]],
    ['__proto__=1&constructor=2', [['__proto__', '1'], ['constructor', '2']]]
  ]
  for (const [query, pairs] of rows) t.strictSame(parseQuery(query), { pairs, faults: [] }, query)
})

test('a broken escape is a fault, of the name as it was sent if that is broken', async (t) => {
  for (const value of ['%', '%2', '%zz', '%ff', '%ED%A0%80']) {
    t.strictSame(parseQuery(`a=1&b=${value}`), { pairs: [['a', '1']], faults: [encoding('b')] }, value)
  }
  t.strictSame(parseQuery('%zz=1'), { pairs: [], faults: [encoding('%zz')] })
  t.strictSame(parseQuery('%61=%zz'), { pairs: [], faults: [encoding('a')] })
})

test('a repeated name is a fault for each repetition, however it is spelt', async (t) => {
  t.strictSame(parseQuery('a=1&a=1&%61=2'), { pairs: [['a', '1']], faults: [duplicate('a'), duplicate('a')] })
  t.strictSame(parseQuery('a=1&A=2'), { pairs: [['a', '1'], ['A', '2']], faults: [] }, 'case distinguishes names')
})
