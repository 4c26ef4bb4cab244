import assert from 'node:assert/strict'
import type { JsonObject, Storage } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { firstPage } from '../list-values.ts'
import { everyone, userOf } from '../values.ts'
import { requireFound, requirePage, requireSame } from './compare.ts'
import { changeUser, dropAt, outcomeOf, putUsers, rowOf, type UserRow } from './put.ts'

const userWith = (n: number, fields: JsonObject, tenant?: string): UserRow =>
  rowOf(userOf(n, { fields, ...(tenant !== undefined && { tenant }) }))

async function requireTaken (storage: Storage, fields: JsonObject, field = 'legacyId', tenant?: string): Promise<void> {
  const outcome = await outcomeOf(storage, userWith(999, fields, tenant))
  requireSame(outcome, { code: 'taken', at: 0, member: { field } }, { fields, tenant })
}

/** Fields whose value at most one user has. */
export const unique: Subject = {
  needs: { unique: ['legacyId', 'badge'] },
  cases: {
    'commit: a unique value is compared by its type and every character': async (storage) => {
      const near = [
        '7', 7, '07', '7 ', 'a7', 'A7', 'null', '', 'ａ7', 70, 7.5, -7, '\u{10ffff}', 'x"\\\n', 'é', 'e\u0301',
        ...['x', 'y'].map((end) => 'x'.repeat(252) + end), true, false, 'true', 1e21, 0.1
      ]
      const rows = near.map((legacyId, n) => userWith(n, { legacyId }))
      await putUsers(storage, rows)
      for (const legacyId of near) {
        await requireTaken(storage, { legacyId })
        await requirePage(storage, rows, { fields: { legacyId } }, firstPage(9))
      }
      assert.equal((await storage.users.list(everyone, firstPage(1))).total, near.length)
    },

    'commit: any number of users lack a unique field, or have null': async (storage) => {
      const rows = [{}, {}, { legacyId: null }, { legacyId: null }, { other: 'A7' }, { other: 'A7' }]
        .map((fields, n) => userWith(n, fields))
      await putUsers(storage, rows)
      await requireFound(storage, rows, { exists: { legacyId: false } })
    },

    'commit: each unique field has values of its own, and each tenant too': async (storage) => {
      const rows = [
        userWith(1, { legacyId: 7, badge: 7 }), userWith(2, { legacyId: 8 }), userWith(3, { badge: 8 }),
        userWith(4, { legacyId: 7, badge: 8 }, 'acme'), userWith(5, { legacyId: 7 }, 'beta')
      ]
      await putUsers(storage, rows)
      await requireTaken(storage, { legacyId: 7 })
      await requireTaken(storage, { legacyId: 9, badge: 8 }, 'badge')
      await requireTaken(storage, { legacyId: 7 }, 'legacyId', 'acme')
      await requireTaken(storage, { legacyId: 8, badge: 8 }, 'badge', 'acme')
      await requireFound(storage, rows, { fields: { legacyId: 7 } })
      await requireFound(storage, rows, { fields: { legacyId: 7 }, tenant: 'acme' })
    },

    'commit: a user keeps its unique value, and one that it gives up is free': async (storage) => {
      const rows = [1, 2, 3].map((n) => userWith(n, { legacyId: n }))
      await putUsers(storage, rows)
      const same = await changeUser(storage, userWith(1, { legacyId: 1 }), { fields: { legacyId: 1, plan: 'pro' } })
      const taken = { ...same, record: { ...same.record, version: 3, fields: { legacyId: 2 } } }
      assert.deepEqual(await outcomeOf(storage, taken, same), {
        code: 'taken', at: 0, member: { field: 'legacyId' }
      })
      rows[0] = await changeUser(storage, same, { fields: { legacyId: 10 } })
      await dropAt(storage, rows, 2)
      rows.push(userWith(4, { legacyId: 1 }), userWith(5, { legacyId: 3 }))
      await putUsers(storage, rows.slice(2))
      for (const legacyId of [1, 2, 3, 10]) {
        await requireTaken(storage, { legacyId })
        await requireFound(storage, rows, { fields: { legacyId } })
      }
    }
  }
}
