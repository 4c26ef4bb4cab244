import type { Json } from '../../lib/storage/storage.ts'
import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { play } from './everywhere.ts'
import { LOOKALIKES } from './hostile-values.ts'
import { createModel } from './model.ts'
import { anyVersion, keysOf, timeOf, userOf } from './values.ts'

/** Values one after the other, each different from the one before, that a careless comparison takes for equal. */
const NEAR: readonly Json[] = [
  1, '1', 1.5, '1.5', 1, true, 'true', 0, false, '', null, 'null', [], {}, [null], [1], 1, ['1'], [1, 1], [1, 2],
  [2, 1], [[1, 2]], [[1], [2]], { a: 1 }, { a: '1' }, { a: 1, b: 2 }, { b: 2, a: 1 }, { b: 2 }, { b: { c: 1 } },
  { b: { d: 1 } }, { b: { d: 1, c: null } }, { b: { c: null, d: 1 } }, { b: {} }, { b: null }, {}, 'a', 'A', 'a ',
  'á', 'a\u0301', 0.1, 0.10001, 1e21, 1e21 + 131072, 2 ** 53 - 1, 2 ** 53 - 2, 'x'.repeat(1000),
  `${'x'.repeat(999)}y`, { long: { a: [1, { b: 1 }] } }, { long: { a: [1, { b: 2 }] } },
  { long: { a: [1, { b: 2 }], c: 1 } }, { long: { a: [1] } }
]

/** Duties of updates about changes that are easily overlooked. */
export const nearValueCases: Cases = {
  'update with fields: every change of a value is a change, and no old value stays': async (storage) => {
    const user = userOf(1)
    const calls: Array<CallOf<Writer>> = [['createUser', user, keysOf(user), null]]
    for (const [n, value] of NEAR.entries()) {
      calls.push(['updateUser', user.id, { fields: { value } }, timeOf(n), anyVersion])
      calls.push(['updateUser', user.id, { fields: { value } }, timeOf(5000 + n), anyVersion])
    }
    calls.push(['updateUser', user.id, { fields: { other: 1 } }, timeOf(9000), anyVersion])
    calls.push(['updateUser', user.id, { fields: {} }, timeOf(9001), anyVersion])
    await play(storage, createModel(), calls, { recent: 1 })
  },

  'update: every change of a name or an address is a change': async (storage) => {
    const user = userOf(1)
    const calls: Array<CallOf<Writer>> = [['createUser', user, keysOf(user), null]]
    for (const [n, text] of LOOKALIKES.entries()) {
      const value = { value: text, key: text }
      calls.push(['updateUser', user.id, n % 2 === 0 ? { name: value } : { email: value }, timeOf(n), anyVersion])
      calls.push(['updateUser', user.id, { name: value, email: value }, timeOf(200 + n), anyVersion])
      calls.push(['updateUser', user.id, { name: value, email: value }, timeOf(400 + n), anyVersion])
    }
    await play(storage, createModel(), calls, { recent: 1 })
  }
}
