import assert from 'node:assert/strict'
import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { type KitStorage, trashOf } from './kit-storage.ts'
import { type Delay, type Race, requireSomeOrder } from './races.ts'
import { addAway, DESK, listedAway, putAway, putAwayAt, restore } from './trash-values.ts'
import {
  addUsers, anyVersion, concurrently, CONCURRENT_CALLS, count, everyone, idOf, keysOf, onlyVersion, rename, timeOf,
  userOf
} from './values.ts'

const digits = (n: number): string => String(n).padStart(6, '0')

/** A user that is there, one that is put away, and every write that can meet others on them. */
function racersOf (n: number): { before: Array<CallOf<Writer>>, writers: Array<CallOf<Writer>> } {
  const racer = (i: number, email = i) => userOf(10 * n + i, {
    name: `Racer${digits(10 * n + i)}`, email: `Racer${digits(10 * n + email)}@Example.org`, createdAt: timeOf(i)
  })
  const [one, away] = [racer(0), racer(1)]
  const create = (user: ReturnType<typeof racer>): CallOf<'createUser'> => ['createUser', user, keysOf(user), null]
  const email = { value: away.email, key: away.email.toLowerCase() }
  return {
    before: [create(one), create(away), ['putAwayUser', away.id, anyVersion, putAwayAt(100)]],
    writers: [
      ['putAwayUser', one.id, anyVersion, putAwayAt(110)],
      ['putAwayUser', one.id, onlyVersion(1), putAwayAt(120, DESK)],
      ['putAwayUser', away.id, anyVersion, putAwayAt(130)],
      ['restoreUser', away.id, timeOf(210), anyVersion],
      ['restoreUser', away.id, timeOf(220), onlyVersion(1)],
      ['restoreUser', one.id, timeOf(230), anyVersion],
      ['purgeUser', one.id, anyVersion, null],
      ['purgeUser', away.id, anyVersion, null],
      ['purgeUser', away.id, anyVersion, timeOf(100)],
      ['updateUser', one.id, rename(`Next ${digits(n)}`), timeOf(240), anyVersion],
      ['updateUser', one.id, { status: 'suspended' }, timeOf(250), onlyVersion(1)],
      ['updateUser', one.id, { email }, timeOf(260), anyVersion],
      ['deleteUser', one.id, anyVersion],
      // With the address of the one that is put away, of the one that is there, and with the id of the first.
      create(racer(2, 1)),
      create(racer(3, 0)),
      create(racer(1, 4))
    ]
  }
}

// More than the trials of one race.
const APART = 100

/** Runs every race of two calls one of which is of this method, and the other of none before it. */
async function raceAll (
  storage: KitStorage,
  method: Writer,
  others: readonly Writer[],
  delays: readonly Delay[]
): Promise<void> {
  const { writers } = racersOf(0)
  const raceOf = (n: number, i: number, j: number): Race | null => {
    const racers = racersOf(n)
    const [first, second] = [racers.writers[i], racers.writers[j]]
    return first === undefined || second === undefined ? null : { before: racers.before, first, second }
  }
  const pairs = writers.flatMap(([first], i) => writers.flatMap(([second], j) =>
    first === method && (second === method ? j >= i : !others.includes(second)) ? [[i, j] as const] : []))
  for (const [at, [i, j]] of pairs.entries()) {
    await requireSomeOrder(storage, (trial) => raceOf(APART * at + trial, i, j), delays)
  }
}

/** Duties about concurrent calls, judged by what is there afterwards. */
export function trashRaceCases (delays: readonly Delay[]): Cases {
  return {
    'put away: it and any other concurrent write end as one order of them does': (storage) =>
      raceAll(storage, 'putAwayUser', [], delays),
    'restore: it and any other concurrent write end as one order of them does': (storage) =>
      raceAll(storage, 'restoreUser', ['putAwayUser'], delays),
    'purge: it and any other concurrent write end as one order of them does': (storage) =>
      raceAll(storage, 'purgeUser', ['putAwayUser', 'restoreUser'], delays),

    'restore: of many concurrent calls exactly one gives the user back': async (storage) => {
      await addAway(storage, 1)
      const { values, codes } = await concurrently((i) => restore(storage, 1, 900 + i))
      assert.deepEqual(codes, [])
      const [made, ...more] = values.filter((user) => user !== null)
      assert.deepEqual([made?.version, more], [2, []])
      assert.deepEqual(await storage.findUser(idOf('usr', 1)), made)
    },

    'restore: of many users with one address exactly one is given back': async (storage) => {
      for (let n = 0; n < CONCURRENT_CALLS; n++) {
        const user = userOf(n, { email: 'one@example.org' })
        await storage.createUser(user, keysOf(user), null)
        await putAway(storage, n, 100 + n)
      }
      const { values, codes } = await concurrently((i) => restore(storage, i, 900 + i))
      assert.deepEqual(codes, Array(CONCURRENT_CALLS - 1).fill('email_taken'))
      assert.equal(values.length, 1)
      assert.equal(await count(storage), 1)
      assert.equal((await listedAway(storage)).total, CONCURRENT_CALLS - 1)
    },

    'put away, restore: a user is at one place at every moment': async (storage) => {
      await addUsers(storage, 1)
      await concurrently(async (i) => {
        await (i % 2 === 0 ? putAway(storage, 1, 900 + i) : restore(storage, 1, 900 + i))
        const { total } = await storage.listUsers(everyone, { order: 'asc', limit: 1, from: { offset: 0 } })
        assert.ok(total <= 1)
      })
      const away = await listedAway(storage)
      assert.equal(away.total + await count(storage), 1)
      const user = away.total === 1
        ? (await trashOf(storage).find(idOf('usr', 1)))?.user
        : await storage.findUser(idOf('usr', 1))
      assert.ok(user !== undefined && user !== null && user.version <= 1 + CONCURRENT_CALLS / 2)
    }
  }
}
