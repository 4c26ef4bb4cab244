import { test } from 'tap'
import { parseQuery } from '../../lib/http/query.ts'

const fault = (code: string, detail: string) => (parameter: string) => ({ parameter, code, detail })
const encoding = fault('encoding', 'must be percent-encoded UTF-8')
const duplicate = fault('duplicate', 'must not be given more than once')

test('pairs are decoded in the order in which they came, and what is broken or repeated is a fault', async (t) => {
  const rows: Array<[query: string, pairs: Array<[string, string]>, ...faults: object[]]> = [
    ['&&', []],
    ['b=2&a=1', [['b', '2'], ['a', '1']]],
    ['a', [['a', '']]],
    ['=a', [['', 'a']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a+b=c+d%2B', [['a b', 'c d+']]],
    ['a[b]=1&a.c=2', [['a[b]', '1'], ['a.c', '2']]],
    ['__proto__=1&constructor=2', [['__proto__', '1'], ['constructor', '2']]],
    ['a=1&b=%2', [['a', '1']], encoding('b')],
    ['a=1&b=%ED%A0%80', [['a', '1']], encoding('b')],
    ['%zz=1', [], encoding('%zz')],
    ['%61=%zz', [], encoding('a')],
    ['a=1&a=1&%61=2', [['a', '1']], duplicate('a'), duplicate('a')],
    ['a=1&A=2', [['a', '1'], ['A', '2']]]
  ]
  for (const [query, pairs, ...faults] of rows) t.strictSame(parseQuery(query), { pairs, faults }, query)
})
