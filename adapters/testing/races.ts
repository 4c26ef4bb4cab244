import assert from 'node:assert/strict'
import type { Outcome, Row } from '../../lib/storage/storage.ts'
import type { Subject } from './cases.ts'
import { markMoved, untilMade } from './attempts.ts'
import { awaitedLater, codesOf, concurrently, CONCURRENT_CALLS, turns } from './concurrency.ts'
import {
  add, addNth, type AnyRow, CHANGES, COLLECTIONS, commit, countAll, drop, eventOf, listAll, make, move, nextOf, nth,
  OWNERS, ownerOf, rowIn, unitOf, withIdOf, withMembers
} from './rows.ts'
import { everyone, idOf, timeOf } from './values.ts'

const first = { order: 'asc', limit: 10, from: { offset: 0 } } as const
const ROUNDS = 6
const LOST = CONCURRENT_CALLS - 1

/** The number of the one call that succeeded. */
function winnerOf (outcomes: readonly Outcome[], lost: string, what: string): number {
  assert.deepEqual(codesOf(outcomes), { ok: 1, [lost]: LOST }, what)
  return outcomes.findIndex(({ code }) => code === 'ok')
}

/** A user with an address and fields of the caller's. */
const userAt = (n: number, emailKey: string, members: object = {}): Row<'users'> => {
  const row = withMembers(nth.users(n), members)
  return { ...row, keys: { ...row.keys, emailKey } }
}

/** Duties about concurrent units: judged by what is there afterwards. */
export const raceSubject: Subject = {
  needs: { unique: ['memberNo'] },
  cases: {
    'commit: of concurrent units that replace one version, one is made': async (storage) => {
      for (const name of COLLECTIONS) {
        await addNth(storage, name, 1)
        const row = nth[name](1)
        const puts: AnyRow[] = Array.from({ length: CONCURRENT_CALLS }, (_, i) =>
          nextOf(row, name === 'users' ? { name: `Name ${i}`, updatedAt: timeOf(100 + i) } : CHANGES[name]))
        const outcomes = await concurrently((i) => commit(storage, [move(name, row, puts[i])]))
        const winner = winnerOf(outcomes, 'changed', name)
        assert.deepEqual(await rowIn(storage, name, row.record.id), puts[winner], name)
      }
    },

    'commit: of concurrent units that take a row away or change it, one is made': async (storage) => {
      for (const name of COLLECTIONS) {
        await addNth(storage, name, 1)
        const row = nth[name](1)
        const outcomes = await concurrently((i) =>
          commit(storage, [i % 2 === 0 ? drop(name, row) : move(name, row, nextOf(row, CHANGES[name]))]))
        const isGone = winnerOf(outcomes, 'changed', name) % 2 === 0
        assert.equal((await rowIn(storage, name, row.record.id))?.record.version ?? null, isGone ? null : 2, name)
      }
    },

    'commit: of concurrent units that add one id, one is made': async (storage) => {
      for (const name of COLLECTIONS) {
        const row = withIdOf(name, nth[name](1))
        const owner = ownerOf(name)
        if (owner !== null) await addNth(storage, owner, 9000)
        if (name === 'memberships') await addNth(storage, 'users', 9001)
        // Unique values of their own, so that it is the id that they meet at.
        const outcomes = await concurrently((i) => commit(storage, [add(name, name === 'users'
          ? userAt(1, `${i}@x.org`, { name: `Name ${i}` })
          : name === 'apiKeys' || name === 'userGroups'
            ? withMembers(nth[name](i), { id: row.record.id })
            : name === 'memberships' ? { ...row, record: { ...row.record, member: idOf('usr', 9001) } } : row)]))
        const winner = winnerOf(outcomes, 'changed', name)
        const there = await rowIn(storage, name, row.record.id)
        if (name === 'users') assert.equal(Object(there?.record).name, `Name ${winner}`)
        assert.equal(there?.record.version, 1, name)
      }
    },

    'commit: of concurrent users with one address, one is added': async (storage) => {
      for (let round = 0; round < ROUNDS; round++) {
        const nthOf = (i: number) => userAt(100 * round + i, `one${round}@x.org`)
        const outcomes = await concurrently((i) => commit(storage, [add('users', nthOf(i))]))
        const winner = winnerOf(outcomes, 'taken', `round ${round}`)
        const page = await storage.users.list({ ...everyone, emailKey: `one${round}@x.org` }, first)
        assert.deepEqual(page, { items: [nthOf(winner).record], total: 1 })
      }
      assert.equal((await storage.users.list(everyone, first)).total, ROUNDS)
    },

    'commit: of concurrent changes to one address, one is made, and of those with an addition': async (storage) => {
      await addNth(storage, 'users', ...Array.from({ length: CONCURRENT_CALLS }, (_, i) => i))
      const address = 'one@x.org'
      const outcomes = await concurrently(async (i) => {
        const row = nth.users(i)
        const moved = { ...nextOf(row), keys: { ...row.keys, emailKey: address } }
        return commit(storage, [i % 3 === 0 ? add('users', userAt(100 + i, address)) : move('users', row, moved)])
      })
      winnerOf(outcomes, 'taken', 'one address')
      assert.equal((await storage.users.list({ ...everyone, emailKey: address }, first)).total, 1)
    },

    'commit: of concurrent users with one value of a unique field, one is there, in each tenant': async (storage) => {
      for (const members of [{}, { tenant: 'acme' }]) {
        const offset = 'tenant' in members ? 100 : 0
        const outcomes = await concurrently((i) => commit(storage, [
          add('users', userAt(offset + i, `${offset + i}@x.org`, { fields: { memberNo: 7 }, ...members }))
        ]))
        const winner = winnerOf(outcomes, 'taken', JSON.stringify(members))
        const filter = { ...everyone, fields: { memberNo: 7 }, ...members }
        const { items } = await storage.users.list(filter, first)
        assert.ok(items.some(({ id }) => id === idOf('usr', offset + winner)))
        assert.equal(items.length, 1)
        await make(storage, [drop('users', userAt(offset + winner, '', { fields: { memberNo: 7 }, ...members }))])
      }
    },

    'commit: of concurrent keys with one start, one is added': async (storage) => {
      const { start } = nth.apiKeys(1).record
      const outcomes = await concurrently((i) =>
        commit(storage, [add('apiKeys', withMembers(nth.apiKeys(i), { start }))]))
      const winner = winnerOf(outcomes, 'taken', 'one start')
      const [found] = await storage.find('apiKeys', [{ start }])
      assert.equal(found?.record.id, idOf('key', winner))
      assert.equal((await storage.list('apiKeys', { page: first })).total, 1)
    },

    'commit: a row that is added while its owner is taken away is not left alone': async (storage) => {
      for (const name of ['keyUses', 'deliveries', 'idempotency', 'memberships'] as const) {
        for (let n = 1; n <= ROUNDS; n++) {
          if (name === 'memberships') await addNth(storage, 'users', 100 + n)
          const owner = nth[OWNERS[name]](n)
          await addNth(storage, OWNERS[name], n)
          const [gone, added] = await Promise.all([
            turns(n % 3).then(() => commit(storage, [drop(OWNERS[name], owner)])),
            turns(n % 2).then(() => commit(storage, [add(name, name === 'memberships'
              ? withMembers(nth.memberships(n), { member: idOf('usr', 100 + n) })
              : nth[name](n))]))
          ])
          assert.equal(gone.code, 'ok', name)
          assert.ok(added.code === 'ok' || added.code === 'changed', `${name}: ${added.code}`)
          assert.equal(await rowIn(storage, name, nth[name](n).record.id), null, `${name}, which was ${added.code}`)
        }
      }
    },

    'commit: units that meet crosswise on two rows end, and none is half made': async (storage) => {
      for (const name of ['users', 'apiKeys', 'marks', 'webhooks'] as const) {
        await addNth(storage, name, 1, 2)
        let [one, two]: [AnyRow, AnyRow] = [nth[name](1), nth[name](2)]
        const ids = [one, two].map(({ record: { id } }) => ({ id }))
        for (let round = 0; round < ROUNDS; round++) {
          const before: AnyRow = one
          const beside: AnyRow = two
          const outcomes = await concurrently((i) => {
            const members = name === 'marks' ? {} : { updatedAt: timeOf(1000 * round + i) }
            const [x, y] = [move(name, before, nextOf(before, members)), move(name, beside, nextOf(beside, members))]
            return commit(storage, i % 2 === 0 ? [x, y] : [y, x])
          })
          winnerOf(outcomes, 'changed', name)
          const [left, right]: Array<AnyRow | null> = await storage.find(name, ids)
          assert.deepEqual([left?.record.version, right?.record.version], [round + 2, round + 2], name)
          assert.equal(Object(left?.record).updatedAt, Object(right?.record).updatedAt, `${name}: both of one unit`)
          one = left ?? before
          two = right ?? beside
        }
      }
    },

    'commit: a mark that all writers move lets them see each other': async (storage) => {
      await addNth(storage, 'apiKeys', ...Array.from({ length: CONCURRENT_CALLS }, (_, i) => i))
      // Each goes as long as it is not the last one.
      const gone = await concurrently((i) => untilMade(storage, async () => {
        const moved = await markMoved(storage)
        const { total } = await storage.list('apiKeys', { page: first })
        return total < 2 ? null : unitOf([drop('apiKeys', nth.apiKeys(i)), moved])
      }))
      assert.equal(gone.filter((isGone) => isGone).length, CONCURRENT_CALLS - 1)
      assert.equal((await storage.list('apiKeys', { page: first })).total, 1)
      // The first of all, where there is no mark yet.
      await make(storage, [drop('marks', await rowIn(storage, 'marks', nth.marks(0).record.id) ?? nth.marks(0))])
      await make(storage, (await listAll(storage, 'apiKeys')).items.map((row) => drop('apiKeys', row)))
      const added = await concurrently((i) => untilMade(storage, async () => {
        const moved = await markMoved(storage)
        const { total } = await storage.list('apiKeys', { page: first })
        return total > 0 ? null : unitOf([add('apiKeys', nth.apiKeys(i)), moved])
      }))
      assert.equal(added.filter((isAdded) => isAdded).length, 1)
      assert.equal((await storage.list('apiKeys', { page: first })).total, 1)
    },

    'commit: who reads a row again until its unit is made loses no write': async (storage) => {
      await addNth(storage, 'apiKeys', 1)
      await addNth(storage, 'keyUses', 2)
      await concurrently((i) => untilMade(storage, async () => {
        const row = nth.keyUses(2)
        const was = await rowIn(storage, 'keyUses', row.record.id) ?? row
        return unitOf([move('keyUses', was, nextOf(was, { uses: was.record.uses + i }))])
      }))
      const { record } = await rowIn(storage, 'keyUses', nth.keyUses(2).record.id) ?? nth.keyUses(2)
      assert.deepEqual([record.uses, record.version], [2 + LOST * CONCURRENT_CALLS / 2, CONCURRENT_CALLS + 1])
    },

    'commit: events are there for the units that are made, and for no other': async (storage) => {
      await addNth(storage, 'marks', 1)
      const results = await concurrently((i) =>
        commit(storage, [move('marks', nth.marks(1))], [eventOf(i), eventOf(50 + i)]))
      const winner = winnerOf(results, 'changed', 'one version')
      const page = await storage.log.read({ after: null, limit: 100, types: null })
      assert.deepEqual(page?.events, [eventOf(winner), eventOf(50 + winner)])
    },

    'list: what one unit has moved is seen together, and each page has its exact number': async (storage) => {
      await addNth(storage, 'marks', 1, 2)
      const reading = new AbortController()
      const writing = awaitedLater((async () => {
        for (let n = 1; !reading.signal.aborted; n++) {
          const [a, b] = [1, 2].map((i) => withMembers(nth.marks(i), { version: n }))
          const extra = nth.marks(3)
          const more = n % 2 === 1 ? add('marks', extra) : drop('marks', extra)
          if (a !== undefined && b !== undefined) await make(storage, [move('marks', a), more, move('marks', b)])
          await turns(1)
        }
      })())
      try {
        for (let round = 0; round < 40; round++) {
          const { items, total } = await storage.list('marks', { page: first })
          assert.equal(items.length, total)
          const [one, two] = items.map(({ record: { version } }) => version)
          assert.equal(one, two, 'both rows are of one unit')
          // The third is there at every second version.
          assert.equal(total, Number(one) % 2 === 0 ? 3 : 2, 'and so is what it has added')
        }
      } finally {
        reading.abort()
        await writing.catch(() => {})
      }
      await writing
    },

    'commit: many concurrent units leave exactly what they say': async (storage) => {
      const outcomes = await Promise.all(Array.from({ length: 5 }, (_, part) => storage.commit(
        Array.from({ length: 40 }, (_row, i) =>
          unitOf([add('users', nth.users(i * (part % 2 + 1)))], [eventOf(part * 40 + i)]))
      )))
      const made = outcomes.flat().filter(({ code }) => code === 'ok').length
      assert.equal(made, 60, 'the ids 0 to 39, and the even ones up to 78')
      const counts = await countAll(storage)
      assert.deepEqual([counts['users'], counts['events']], [made, made])
    }
  }
}
