import type { Json, JsonObject, UserRecord } from '../../../lib/storage/storage.ts'
import { timeOf, userOf } from '../values.ts'
import { rowOf, type UserRow } from './put.ts'

const NAMES = ['Ann', 'Bob Ann', 'annabel', 'Zoë', 'x', 'Straße ß']
const PLANS: readonly Json[] = ['pro', 'free', 'Pro', '', '1', null]
const SEATS: readonly Json[] = [0, 1, 10, 9.5, '1', true, null]
const WORDS = [['acme'], ['zz', 'an'], []]

/** The tenant of the nth user. */
export const tenantOf = (n: number): Pick<UserRecord, 'tenant'> =>
  [{ tenant: 'acme' }, { tenant: 'beta' }, {}][n % 3] ?? {}

/** What filters of samples are about. */
export const SAMPLE_FIELDS = ['plan', 'seats', 'active']

/**
 * The nth user of all kinds: three in a row have one address, in two tenants and in none; each order has ties, and
 * users without a value.
 */
export function sampleOf (n: number): UserRow {
  const fields: JsonObject = {
    ...(n % 4 > 0 && { plan: PLANS[n % 6] ?? null }),
    ...(n % 5 > 0 && { seats: SEATS[n % 7] ?? null }),
    ...(n % 3 > 0 && { active: n % 2 === 0 })
  }
  const record = userOf(n, {
    name: NAMES[n % 6] ?? '',
    email: `User${Math.floor(n / 3)}@Example.org`,
    fields,
    status: n % 4 === 1 ? 'suspended' : 'active',
    updatedAt: timeOf(n % 7),
    ...tenantOf(n)
  })
  return rowOf(record, { fieldWords: WORDS[n % 3] ?? [] })
}

/** The numbers from 1 to n, from both ends inwards, so that none is put in the order of its id. */
export function fromBothEnds (n: number): number[] {
  return Array.from({ length: n }, (_, i) => i % 2 === 0 ? i / 2 + 1 : n - (i - 1) / 2)
}
