import type { Idempotency, UserRecord } from '../../lib/storage/storage.ts'
import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { raceCases, type Racers } from './race-cases.ts'
import type { Delay } from './races.ts'
import { anyVersion, idempotencyOf as firstKey, keysOf, onlyVersion, timeOf, userOf } from './values.ts'

/** Of one length, so that no word begins with that of another race. */
const digits = (n: number): string => String(n).padStart(6, '0')

function racer (n: number): UserRecord {
  return userOf(n, { name: `Racer${digits(n)}`, email: `Racer${digits(n)}@Example.org` })
}

const valueOf = (value: string) => ({ value, key: value.toLowerCase() })

function creation (user: UserRecord, idempotency: Idempotency | null = null): CallOf<'createUser'> {
  return ['createUser', user, keysOf(user), idempotency]
}

/** Every write that can meet another on the user with a number, or on its address, or on its idempotency key. */
function racersOf (n: number): Racers {
  const [one, other] = [racer(10 * n), racer(10 * n + 1)]
  const nth = (i: number) => racer(10 * n + i)
  const both = `Both${digits(n)}@Example.org`
  const next = `Next${digits(n)}@Example.org`
  const idempotencyOf = (key: string): Idempotency =>
    ({ ...firstKey(n), key: `${key}${n}`.padEnd(43, '_'), now: timeOf(100), expiresAt: timeOf(200) })
  const second = valueOf(`Second${digits(n)}`)
  const renewed = { ...idempotencyOf('old'), now: timeOf(250), expiresAt: timeOf(900) }
  const notSecond = { ifVersion: null, unlessVersion: [2] }
  return {
    before: [creation(one, idempotencyOf('old')), creation(other)],
    writers: [
      ['updateUser', one.id, { name: valueOf(`First${digits(n)}`) }, timeOf(110), anyVersion],
      ['updateUser', one.id, { name: valueOf(`Both${digits(n)}`), email: valueOf(both) }, timeOf(115), anyVersion],
      ['updateUser', one.id, { name: second, fields: { plan: 'pro' } }, timeOf(120), onlyVersion(1)],
      ['updateUser', one.id, { email: valueOf(next) }, timeOf(130), anyVersion],
      ['updateUser', other.id, { email: valueOf(one.email) }, timeOf(140), anyVersion],
      ['updateUser', one.id, { fields: { plan: 'free', seats: 3 } }, timeOf(150), notSecond],
      ['updateUser', one.id, { status: 'suspended', statusReason: 'unpaid' }, timeOf(155), anyVersion],
      ['deleteUser', one.id, anyVersion],
      ['deleteUser', one.id, onlyVersion(1)],
      creation({ ...nth(2), email: one.email }),
      creation({ ...nth(3), email: next }, idempotencyOf('new')),
      creation({ ...nth(4), email: `Repeated${digits(n)}@Example.org` }, idempotencyOf('old')),
      creation({ ...nth(6), email: `Other${digits(n)}@Example.org` }, idempotencyOf('new')),
      // The first key of idempotency is expired then, and is used again while it is pruned.
      creation({ ...nth(7), email: `Renewed${digits(n)}@Example.org` }, renewed),
      ['prune', timeOf(300)]
    ]
  }
}

function again (call: CallOf<Writer>, n: number): CallOf<Writer> {
  if (call[0] !== 'createUser') return call
  const [, user, , idempotency] = call
  return creation({ ...user, id: userOf(10 * n + 5).id }, idempotency)
}

/** Duties of every two writers that can meet on one user. */
export function userRaceCases (delays: readonly Delay[]): Cases {
  return raceCases({ subject: 'user', racersOf, again }, delays)
}
