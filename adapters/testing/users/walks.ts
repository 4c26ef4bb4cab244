import assert from 'node:assert/strict'
import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import { isStorageError } from '../../../lib/storage/storage-error.ts'
import type { UserRecord } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { firstPage, idsOf, upTo } from '../list-values.ts'
import { everyone, idOf, timeOf, userOf } from '../values.ts'
import { turn } from './beside.ts'
import { idsIn, ORDERS, requireFound, requireUsers, walked } from './compare.ts'
import { FILTERS } from './lists.ts'
import { plainWalk } from './plain.ts'
import { changeUser, dropUsers, outcomeOf, putUsers, rowOf, type UserRow } from './put.ts'
import { fromBothEnds, SAMPLE_FIELDS, sampleOf } from './samples.ts'
import { SORTS } from './sorts.ts'

const codeOf = (error: unknown): unknown => isStorageError(error) ? error.code : error

/** Walks through all users. */
export const walks: Subject = {
  needs: { filterable: SAMPLE_FIELDS },
  cases: {
    'users.walk: an empty store gives no part': async (storage) => {
      await storage.users.walk(everyone, 'asc', async () => { assert.fail('a part without users') })
      await putUsers(storage, [sampleOf(1)])
      await storage.users.walk({ ...everyone, tenant: 'none' }, 'desc', async () => { assert.fail('nobody is there') })
      await storage.users.walk({ ...everyone, emailKey: 'a\0' }, 'asc', async () => { assert.fail('nobody has it') })
    },

    'users.walk: everybody comes once, in parts of at most 1,000, each after the one before was taken': async (
      storage, { records }
    ) => {
      const rows = fromBothEnds(Math.max(records, READ_PART_MAX + 1)).map((n) => rowOf(userOf(n)))
      await putUsers(storage, rows)
      for (const order of ORDERS) {
        const met: UserRecord[] = []
        let isTaken = true
        await storage.users.walk(everyone, order, async (part) => {
          assert.ok(isTaken, 'the part before this one is not taken yet')
          isTaken = false
          assert.ok(part.length > 0 && part.length <= READ_PART_MAX, `a part of ${part.length} users`)
          met.push(...part)
          // Long enough for a store that does not wait.
          for (let turns = 0; turns < 20; turns++) await turn()
          isTaken = true
        })
        assert.ok(isTaken, 'it ended before the last part was taken')
        requireUsers(met, plainWalk(rows, everyone, order).map(({ record }) => record), order)
      }
    },

    'users.walk: everybody comes once in every order and for every filter, in several parts': async (storage) => {
      const rows = fromBothEnds(READ_PART_MAX * 2 + 50).map(sampleOf)
      await putUsers(storage, rows)
      for (const sort of SORTS) {
        for (const filter of [{}, { tenant: 'acme' }]) {
          for (const order of ORDERS) {
            const met: UserRecord[] = []
            await storage.users.walk({ ...everyone, ...filter }, order, async (part) => {
              assert.ok(part.length > 0 && part.length <= READ_PART_MAX, `a part of ${part.length} users`)
              met.push(...part)
            }, sort)
            const expected = plainWalk(rows, { ...everyone, ...filter }, order, sort).map(({ record }) => record)
            requireUsers(met, expected, { filter, sort, order })
          }
        }
      }
      for (const filter of FILTERS) await requireFound(storage, rows, filter)
    },

    'users.walk: a part that is refused ends it with that error, and the store goes on': async (storage) => {
      await putUsers(storage, upTo(READ_PART_MAX + 1).map((n) => rowOf(userOf(n))))
      const refusal = new Error('the reader is gone')
      for (const fails of [1, 2, 1, 1]) {
        let parts = 0
        const walk = storage.users.walk(everyone, 'asc', async () => {
          if (++parts === fails) throw refusal
        })
        assert.equal(await walk.then(() => 'no error', (error: unknown) => error), refusal)
        assert.equal(parts, fails, 'no part comes after the one that was refused')
      }
      await putUsers(storage, [rowOf(userOf(READ_PART_MAX + 2))])
      assert.equal((await walked(storage)).length, READ_PART_MAX + 2)
    }
  }
}

/** Walks beside others that write. Inside a transaction a walk sees its own writes. */
export const walksBeside: Subject = {
  needs: { filterable: SAMPLE_FIELDS },
  cases: {
    'users.walk: all parts are of one snapshot, whatever is written meanwhile': async (storage) => {
      const rows = new Map<string, UserRow>()
      const put = async (row: UserRow) => {
        // A number may be taken, or an address: then nothing is written.
        const { code } = await outcomeOf(storage, row) ?? {}
        if (code === 'ok') rows.set(row.record.id, row)
      }
      const all = upTo(READ_PART_MAX + 20).map((n) => rowOf(userOf(n * 2, {
        name: 'Ann', fields: { plan: 'pro', seats: n % 5 }, ...(n > 9 && { tenant: 'acme' })
      })))
      await putUsers(storage, all)
      for (const row of all) rows.set(row.record.id, row)
      let next = 0
      const orders = [...FILTERS.slice(0, 4).map((filter) => ({ filter, sort: undefined })),
        ...SORTS.map((sort) => ({ filter: {}, sort }))]
      for (const { filter, sort } of orders) {
        for (const order of ORDERS) {
          const asked = { ...everyone, ...filter }
          const before = plainWalk([...rows.values()], asked, order, sort).map(({ record }) => record)
          const met: UserRecord[] = []
          await storage.users.walk(asked, order, async (part) => {
            met.push(...part)
            if (met.length > part.length) return
            // Behind the part that is taken, and in it.
            for (const { id } of [...before.slice(-7), ...before.slice(0, 2)]) {
              const row = rows.get(id)
              if (row === undefined) continue
              if (next++ % 2 === 0) {
                await dropUsers(storage, [row])
                rows.delete(id)
              } else {
                const members = { name: `Zz ${next}`, fields: {}, updatedAt: timeOf(5000 + next) }
                rows.set(id, await changeUser(storage, row, members))
              }
            }
            for (const at of [30, READ_PART_MAX + 16, READ_PART_MAX + 20 + next]) {
              const members = { email: `user-${at}-${next}@example.org`, fields: { plan: 'pro' }, tenant: 'acme' }
              await put(rowOf(userOf(at * 2 + 1, members)))
            }
          }, sort)
          requireUsers(met, before, { filter, order, sort })
        }
      }
    },

    'users.walk: writers do not wait for it': async (storage) => {
      const rows = upTo(3).map(sampleOf)
      await putUsers(storage, rows)
      const met: UserRecord[] = []
      await storage.users.walk(everyone, 'asc', async (part) => {
        met.push(...part)
        await changeUser(storage, sampleOf(1), { name: 'Ann', updatedAt: timeOf(5) })
        await dropUsers(storage, [sampleOf(2)])
        await putUsers(storage, [sampleOf(4)])
        assert.equal((await storage.users.list(everyone, firstPage(1))).total, 3)
      })
      requireUsers(met, rows.map(({ record }) => record), 'as it began')
      assert.deepEqual(idsIn(await walked(storage)), idsOf([1, 3, 4]))
    },

    'users.walk: two run at the same time, each with a snapshot of its own': async (storage) => {
      await putUsers(storage, [1, 2].map(sampleOf))
      const met: string[][] = []
      await storage.users.walk(everyone, 'asc', async (part) => {
        await putUsers(storage, [sampleOf(3)])
        met.push(idsIn(await walked(storage)), idsIn(part))
      })
      assert.deepEqual(met, [idsOf([1, 2, 3]), idsOf([1, 2])])
    },

    'users.walk: more than two at the same time are whole, or unavailable, and leave room when they end': async (
      storage
    ) => {
      await putUsers(storage, [sampleOf(1)])
      const inner = async (depth: number): Promise<unknown> => {
        let deeper: unknown = null
        const outcome = await storage.users.walk(everyone, 'asc', async (part) => {
          assert.deepEqual(idsIn(part), [idOf('usr', 1)])
          if (depth < 5) deeper = await inner(depth + 1)
        }).then(() => 'whole', codeOf)
        assert.ok(outcome === 'whole' || (outcome === 'unavailable' && depth > 2), `walk ${depth}: ${String(outcome)}`)
        return deeper
      }
      for (let time = 0; time < 3; time++) await inner(1)
    },

    'close, users.walk: closing does not wait for a walk, which gets all or unavailable': async (storage) => {
      const rows = upTo(READ_PART_MAX + 1).map((n) => rowOf(userOf(n)))
      await putUsers(storage, rows)
      let release = (): void => {}
      const taken = new Promise<void>((resolve) => { release = resolve })
      let begin = (): void => {}
      const begun = new Promise<void>((resolve) => { begin = resolve })
      let met = 0
      const walk = storage.users.walk(everyone, 'asc', async ({ length }) => {
        met += length
        begin()
        await taken
      }).then(() => met === rows.length ? 'all' : `${met} of ${rows.length}`, codeOf)
      await Promise.race([begun, walk])
      await storage.close()
      release()
      assert.match(String(await walk), /^(?:all|unavailable)$/)
    }
  }
}
