import assert from 'node:assert/strict'
import type { Storage, TenantRecord, Unit } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { firstPage, upTo } from '../list-values.ts'
import { apiKeyOf, userOf } from '../values.ts'
import { turn, whileWriting } from './beside.ts'
import { ORDERS, requireSame } from './compare.ts'
import { dropUsers, putUsers, rowOf } from './put.ts'

async function putKeys (storage: Storage, tenants: ReadonlyArray<string | undefined>): Promise<void> {
  const units = tenants.map((tenant, n): Unit => {
    const record = { ...apiKeyOf(n, tenant === undefined ? {} : { tenant }), version: 1 }
    return { writes: [{ in: 'apiKeys', put: { record, keys: null, of: null }, was: null }], events: [], rewrites: [] }
  })
  assert.deepEqual(await storage.commit(units), units.map(() => ({ code: 'ok' })))
}

/** The list of tenants. */
export const tenants: Subject = {
  needs: {},
  cases: {
    'listTenants: those with a user or a key are listed, with the numbers of their users': async (storage) => {
      assert.deepEqual(await storage.listTenants(firstPage(9)), { items: [], total: 0 })
      const users = ['b_2', 'b_2', 'b-1', undefined, 'c'].map((tenant, n) =>
        rowOf(userOf(n, tenant === undefined ? {} : { tenant })))
      await putUsers(storage, users)
      await putKeys(storage, ['a', 'b_2', undefined])
      let all: TenantRecord[] = [
        { id: 'a', users: 0 }, { id: 'b-1', users: 1 }, { id: 'b_2', users: 2 }, { id: 'c', users: 1 }
      ]
      assert.deepEqual(await storage.listTenants(firstPage(9)), { items: all, total: 4 })
      await dropUsers(storage, users.slice(1, 3))
      all = [{ id: 'a', users: 0 }, { id: 'b_2', users: 1 }, { id: 'c', users: 1 }]
      assert.deepEqual(await storage.listTenants(firstPage(9)), { items: all, total: 3 })
    },

    'listTenants: pages have every tenant once, in the order of names, and the total of all': async (storage) => {
      const names = ['b', 'a', 'a-', 'a0', 'a_', 'aa', '9', '10', 'z']
      await putUsers(storage, names.map((tenant, n) => rowOf(userOf(n, { tenant }))))
      const sorted = names.toSorted((a, b) => a < b ? -1 : 1)
      for (const order of ORDERS) {
        const all = order === 'asc' ? sorted : sorted.toReversed()
        const requireTenants = async (from: { offset: number } | { after: string }, expected: readonly string[]) => {
          const items = expected.slice(0, 2).map((id) => ({ id, users: 1 }))
          const given = await storage.listTenants({ order, limit: 2, from })
          requireSame(given, { items, total: names.length }, { order, from })
        }
        for (const offset of [0, 3, 8, 9, 99]) await requireTenants({ offset }, all.slice(offset))
        for (const after of ['0', 'a', 'aa', 'b', 'x', 'zz']) {
          await requireTenants({ after }, all.filter((id) => order === 'asc' ? id > after : id < after))
        }
      }
    },

    'listTenants: numbers are exact and of one moment while others write': async (storage) => {
      await putUsers(storage, upTo(4).map((n) => rowOf(userOf(n, { tenant: 'acme' }))))
      await whileWriting(async (n) => {
        const row = rowOf(userOf(n, { tenant: `t${n % 7}` }))
        await putUsers(storage, [row])
        await turn()
        await dropUsers(storage, [row])
      }, async () => {
        for (let i = 0; i < 40; i++) {
          await turn()
          const { items, total } = await storage.listTenants(firstPage(i % 2 === 0 ? 99 : 3))
          assert.equal(items.length, Math.min(total, i % 2 === 0 ? 99 : 3), 'the page and the total are of one moment')
          assert.deepEqual(items[0], { id: 'acme', users: 4 })
          assert.ok(items.every(({ users }) => users > 0), 'a tenant that is listed has users')
        }
      })
    }
  }
}
