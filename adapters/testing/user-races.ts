import type { Idempotency, UserRecord } from '../../lib/core/storage.ts'
import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { type Race, requireSomeOrder } from './races.ts'
import { anyVersion, keysOf, onlyVersion, timeOf, userOf } from './values.ts'

type UserWriter = 'createUser' | 'updateUser' | 'deleteUser' | 'pruneIdempotency'

/** Of one length, so that no name or address begins with that of another race. */
const digits = (n: number): string => String(n).padStart(6, '0')

function racer (n: number): UserRecord {
  return userOf(n, { name: `Racer ${digits(n)}`, email: `Racer${digits(n)}@Example.org` })
}

const valueOf = (value: string) => ({ value, key: value.toLowerCase() })

function creation (user: UserRecord, idempotency: Idempotency | null = null): CallOf<'createUser'> {
  return ['createUser', user, keysOf(user), idempotency]
}

/** Every write that can meet another on the user with a number, or on its address, or on its idempotency key. */
function writersOf (n: number) {
  const [one, other] = [racer(10 * n), racer(10 * n + 1)]
  const [third, fourth, fifth, sixth] = [racer(10 * n + 2), racer(10 * n + 3), racer(10 * n + 4), racer(10 * n + 6)]
  const both = `Both${digits(n)}@Example.org`
  const next = `Next${digits(n)}@Example.org`
  const idempotencyOf = (key: string): Idempotency =>
    ({ key: `${key}${n}`.padEnd(43, '_'), fingerprint: 'f'.repeat(43), now: timeOf(100), expiresAt: timeOf(200) })
  const second = valueOf(`Second ${digits(n)}`)
  const renewed = { ...idempotencyOf('old'), now: timeOf(250), expiresAt: timeOf(900) }
  const notSecond = { ifVersion: null, unlessVersion: [2] }
  const before: Array<CallOf<Writer>> = [creation(one, idempotencyOf('old')), creation(other)]
  const writers: ReadonlyArray<CallOf<UserWriter>> = [
    ['updateUser', one.id, { name: valueOf(`First ${digits(n)}`) }, timeOf(110), anyVersion],
    ['updateUser', one.id, { name: valueOf(`Both ${digits(n)}`), email: valueOf(both) }, timeOf(115), anyVersion],
    ['updateUser', one.id, { name: second, fields: { plan: 'pro' } }, timeOf(120), onlyVersion(1)],
    ['updateUser', one.id, { email: valueOf(next) }, timeOf(130), anyVersion],
    ['updateUser', other.id, { email: valueOf(one.email) }, timeOf(140), anyVersion],
    ['updateUser', one.id, { fields: { plan: 'free', seats: 3 } }, timeOf(150), notSecond],
    ['deleteUser', one.id, anyVersion],
    ['deleteUser', one.id, onlyVersion(1)],
    creation({ ...third, email: one.email }),
    creation({ ...fourth, email: next }, idempotencyOf('new')),
    creation({ ...fifth, email: `Repeated${digits(n)}@Example.org` }, idempotencyOf('old')),
    creation({ ...third, email: `Other${digits(n)}@Example.org` }, idempotencyOf('new')),
    // The first key of idempotency is expired then, and is used again while it is pruned.
    creation({ ...sixth, email: `Renewed${digits(n)}@Example.org` }, renewed),
    ['pruneIdempotency', timeOf(300)]
  ]
  return { before, writers }
}

/** The numbers of the two writers of every race, by the methods that meet. */
function pairs (): Map<string, Array<[number, number]>> {
  const { writers } = writersOf(0)
  const byMethods = new Map<string, Array<[number, number]>>()
  for (const [i, [one]] of writers.entries()) {
    for (const [j, [other]] of writers.entries()) {
      if (j < i) continue
      const methods = [...new Set([one, other])].sort().join(', ')
      byMethods.set(methods, [...byMethods.get(methods) ?? [], [i, j]])
    }
  }
  return byMethods
}

/** The race of two writers on the records with a number. The same creation twice is with two ids. */
function raceOf (n: number, i: number, j: number): Race {
  const { before, writers } = writersOf(n)
  const [first, second] = [writers[i], writers[j]]
  if (first === undefined || second === undefined) throw new RangeError('there is no such writer')
  if (first[0] !== 'createUser' || second[0] !== 'createUser' || first[1].id !== second[1].id) {
    return { before, first, second }
  }
  const [, user, , idempotency] = second
  return { before, first, second: creation({ ...user, id: userOf(10 * n + 5).id }, idempotency) }
}

/** Duties of every two writers that can meet on one user. */
export const userRaceCases: Cases = Object.fromEntries([...pairs()].map(([methods, list]) => [
  `${methods}: any two concurrent calls on one user end as one order of them does`,
  async (storage) => {
    for (const [i, j] of list) await requireSomeOrder(storage, (n) => raceOf(n, i, j))
  }
]))
