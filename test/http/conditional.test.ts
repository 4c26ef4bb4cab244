// Preconditions as they are read. What follows from them: test/contract/answers.test.ts.
import { test } from 'tap'
import type { Fault } from '../../lib/core/fault.ts'
import { isNotModified, preconditions } from '../../lib/http/responses/conditional.ts'

/** Reads the preconditions of a request with these raw header lines. */
function read (...rawHeaders: string[]) {
  const faults: Fault[] = []
  return { conditions: preconditions(Object({ raw: { rawHeaders } }), faults), faults }
}

test('If-Match is compared strongly, and If-None-Match weakly (RFC 9110 section 13.1)', async (t) => {
  const rows: Array<[text: string, ifMatch: '*' | number[]]> = [
    [' , "1" ,, "2" , ', [1, 2]],
    ['W/"1", "2"', [2]],
    // Tags that are not ours are well-formed and match nothing.
    ['"abc"', []],
    ['""', []],
    ['"01"', []],
    ['"1e3"', []],
    ['"a,b", "3"', [3]],
    [`"${'9'.repeat(15)}"`, [999_999_999_999_999]],
    [`"${'9'.repeat(16)}"`, []]
  ]
  for (const [text, ifMatch] of rows) {
    t.strictSame(read('If-Match', text), { conditions: { ifMatch }, faults: [] }, text)
  }
  t.strictSame(read('if-none-match', 'W/"1", "2"').conditions, { ifNoneMatch: [1, 2] })
})

test('the lines of a header are one list (RFC 9110 section 5.3)', async (t) => {
  t.strictSame(read('if-match', '"1"', 'host', 'x', 'IF-MATCH', '"2"').conditions, { ifMatch: [1, 2] })
  t.equal(read('if-match', '*', 'if-match', '"2"').faults.length, 1, '* stands alone')
  t.equal(read('if-match', '').faults.length, 1, 'an empty one is no absent one')
})

test('a client without the version does not get to know it, and If-Match comes first', async (t) => {
  const headers: unknown[] = []
  const reply = Object({ header: (...given: unknown[]) => { headers.push(given) } })
  for (const conditions of [{ ifMatch: [2] }, { ifMatch: [] }, { ifMatch: [2], ifNoneMatch: [3] }]) {
    t.throws(() => isNotModified(conditions, 3, reply), { code: 'precondition_failed' })
  }
  t.strictSame(headers, [])
})
