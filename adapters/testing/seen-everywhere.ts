import type { Idempotency, UserRecord } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { FILTERABLE, play } from './everywhere.ts'
import { createModel } from './model.ts'
import { anyVersion, apiKeyOf, idOf, keysOf, onlyVersion, rename, timeOf, userOf } from './values.ts'

const KEEP_ADMIN = { keepOneWith: ['keys:write'] }
const readdress = (value: string) => ({ email: { value, key: value.toLowerCase() } })

function creation (n: number, members: Partial<UserRecord> = {}, idempotency: Idempotency | null = null) {
  const user = userOf(n, members)
  return ['createUser', user, keysOf(user), idempotency] as const
}

const idempotency: Idempotency =
  { key: 'k'.repeat(43), fingerprint: 'f'.repeat(43), now: timeOf(0), expiresAt: timeOf(1000), note: null }
const one = idOf('usr', 1)

const changes: ReadonlyArray<CallOf<Writer>> = [
  creation(2, { fields: { plan: 'free' } }),
  creation(1, { fields: { plan: 'pro', seats: 1 } }),
  creation(3),
  ['updateUser', one, rename('Zoe'), timeOf(50), anyVersion],
  ['updateUser', one, readdress('New@example.org'), timeOf(51), anyVersion],
  ['updateUser', one, { fields: { plan: 'free', active: true } }, timeOf(52), anyVersion],
  ['updateUser', one, { ...rename('Both'), ...readdress('both@example.org'), fields: {} }, timeOf(53), onlyVersion(4)],
  // Storing the same value again changes nothing. A value that only looks the same to a careless store is a change.
  ['updateUser', one, { ...rename('Both'), fields: {} }, timeOf(54), anyVersion],
  ['updateUser', one, {}, timeOf(55), anyVersion],
  ['updateUser', one, rename('both'), timeOf(56), anyVersion],
  ['updateUser', one, readdress('BOTH@example.org'), timeOf(57), anyVersion],
  ['updateUser', one, { fields: { a: 1, b: 2 } }, timeOf(58), anyVersion],
  ['updateUser', one, { fields: { b: 2, a: 1 } }, timeOf(59), anyVersion],
  // Back to former values, and to values of deleted users.
  ['updateUser', one, readdress('User1@Example.org'), timeOf(60), anyVersion],
  ['deleteUser', idOf('usr', 2), onlyVersion(1)],
  ['updateUser', one, readdress('User2@Example.org'), timeOf(61), anyVersion],
  creation(4, { email: 'user1@example.org' }),
  ['deleteUser', one, anyVersion],
  ['deleteUser', one, anyVersion],
  ['updateUser', one, rename('Gone'), timeOf(62), anyVersion],
  // The id and the address of a deleted user are free.
  creation(1, { name: 'Again', email: 'user2@example.org' }),
  ['deleteUser', idOf('usr', 4), anyVersion],
  ['deleteUser', idOf('usr', 3), anyVersion],
  ['deleteUser', one, anyVersion]
]

const refusals: ReadonlyArray<CallOf<Writer>> = [
  creation(1, { fields: { plan: 'pro' } }, idempotency),
  creation(2, { fields: { plan: 'free' } }),
  // Refused for the address: the id, the name and the idempotency key are free afterwards.
  creation(3, { email: 'USER1@example.org', fields: { plan: 'pro' } }, { ...idempotency, key: 'l'.repeat(43) }),
  creation(3, { email: 'third@example.org' }, { ...idempotency, key: 'l'.repeat(43), fingerprint: 'g'.repeat(43) }),
  // Refused for the id: the address and the idempotency key are free afterwards.
  creation(1, { email: 'fourth@example.org', name: 'Fourth' }, { ...idempotency, key: 'm'.repeat(43) }),
  creation(4, { email: 'fourth@example.org' }, { ...idempotency, key: 'm'.repeat(43), fingerprint: 'g'.repeat(43) }),
  // Refused for the fingerprint: id and address are free afterwards, and the key still means the first creation.
  creation(5, { email: 'fifth@example.org' }, { ...idempotency, fingerprint: 'g'.repeat(43) }),
  creation(5, { email: 'fifth@example.org' }),
  creation(6, {}, idempotency),
  // A refused update changes none of its values, not even those before the one that was refused.
  [
    'updateUser', one, { ...rename('X'), ...readdress('user2@example.org'), fields: { plan: 'x' } }, timeOf(50),
    anyVersion
  ],
  ['updateUser', one, { ...rename('X'), ...readdress('free@example.org') }, timeOf(51), onlyVersion(2)],
  ['updateUser', one, { fields: { plan: 'free' } }, timeOf(52), { ifVersion: null, unlessVersion: [1] }],
  ['updateUser', one, rename('User 1'), timeOf(53), onlyVersion()],
  ['updateUser', idOf('usr', 99), readdress('free@example.org'), timeOf(54), anyVersion],
  ['deleteUser', one, onlyVersion(2)],
  ['deleteUser', one, { ifVersion: [1], unlessVersion: [1] }],
  ['deleteUser', idOf('usr', 99), anyVersion],
  creation(7, { email: 'free@example.org' }),
  // The refused update left both addresses with their holders.
  creation(8, { email: 'user1@example.org' }),
  creation(8, { email: 'user2@example.org' }),
  ['updateUser', one, rename('Still the first version'), timeOf(55), onlyVersion(1)]
]

const admin = { scopes: ['users:read', 'keys:write'] }
const keyOne = idOf('key', 1)

const successor = apiKeyOf(4, { name: 'Same', rotatedFrom: keyOne, lifetime: 60 })

const keyChanges: ReadonlyArray<CallOf<Writer>> = [
  // All keys have the same name: no look-up uses it.
  ['createApiKey', apiKeyOf(2, { ...admin, name: 'Same' }), { onlyFirst: true }],
  ['createApiKey', apiKeyOf(1, { name: 'Same', expiresAt: timeOf(900), lifetime: 60 }), { onlyFirst: false }],
  ['touchApiKey', keyOne, timeOf(100), timeOf(50)],
  ['touchApiKey', keyOne, timeOf(120), timeOf(100)],
  ['rotateApiKey', keyOne, successor, { now: timeOf(130), expiresAt: timeOf(800) }],
  // Rotate again, first with an earlier expiry and then with a later one: the earlier expiry stays.
  ['rotateApiKey', keyOne, apiKeyOf(5, { rotatedFrom: keyOne }), { now: timeOf(131), expiresAt: timeOf(700) }],
  ['rotateApiKey', keyOne, apiKeyOf(6, { rotatedFrom: keyOne }), { now: timeOf(132), expiresAt: timeOf(750) }],
  ['touchApiKey', keyOne, timeOf(140), timeOf(130)],
  ['revokeApiKey', keyOne, timeOf(150), { keepOneWith: [] }],
  ['touchApiKey', keyOne, timeOf(160), timeOf(150)],
  ['revokeApiKey', keyOne, timeOf(170), { keepOneWith: [] }],
  ['createApiKey', apiKeyOf(3, { ...admin, name: 'Same', lastUsedAt: timeOf(60), lifetime: 60 }), { onlyFirst: false }],
  ['revokeApiKey', idOf('key', 2), timeOf(180), KEEP_ADMIN],
  ['revokeApiKey', idOf('key', 6), timeOf(190), KEEP_ADMIN]
]

const keyRefusals: ReadonlyArray<CallOf<Writer>> = [
  ['createApiKey', apiKeyOf(1, admin), { onlyFirst: true }],
  ['createApiKey', apiKeyOf(2), { onlyFirst: true }],
  // Refused once for the id and once for the start: the other value of each stays free.
  ['createApiKey', apiKeyOf(1, { start: 'uk_otherstart0', name: 'x' }), { onlyFirst: false }],
  ['createApiKey', apiKeyOf(3, { start: 'uk_otherstart0' }), { onlyFirst: false }],
  ['createApiKey', apiKeyOf(4, { start: apiKeyOf(1).start }), { onlyFirst: false }],
  ['createApiKey', apiKeyOf(4), { onlyFirst: false }],
  ['rotateApiKey', keyOne, apiKeyOf(3, { start: 'uk_otherstart1' }), { now: timeOf(50), expiresAt: timeOf(60) }],
  ['rotateApiKey', keyOne, apiKeyOf(5, { start: apiKeyOf(4).start }), { now: timeOf(50), expiresAt: timeOf(60) }],
  ['rotateApiKey', idOf('key', 99), apiKeyOf(5), { now: timeOf(50), expiresAt: timeOf(60) }],
  // A successor with the id or the start of the key that it replaces.
  ['rotateApiKey', keyOne, apiKeyOf(1, { start: 'uk_otherstart2' }), { now: timeOf(50), expiresAt: timeOf(60) }],
  ['rotateApiKey', keyOne, apiKeyOf(5, { start: apiKeyOf(1).start }), { now: timeOf(50), expiresAt: timeOf(60) }],
  ['createApiKey', apiKeyOf(6, { ...admin, expiresAt: timeOf(70) }), { onlyFirst: false }],
  ['createApiKey', apiKeyOf(7, { ...admin, revokedAt: timeOf(20) }), { onlyFirst: false }],
  // The start of a revoked key is taken too.
  ['createApiKey', apiKeyOf(5, { start: apiKeyOf(7).start }), { onlyFirst: false }],
  ['createApiKey', apiKeyOf(8, { scopes: ['keys:writer', 'monkeys:write'] }), { onlyFirst: false }],
  ['rotateApiKey', idOf('key', 6), apiKeyOf(9), { now: timeOf(70), expiresAt: timeOf(90) }],
  ['rotateApiKey', idOf('key', 7), apiKeyOf(9), { now: timeOf(70), expiresAt: timeOf(90) }],
  ['revokeApiKey', keyOne, timeOf(70), KEEP_ADMIN],
  ['revokeApiKey', keyOne, timeOf(69), KEEP_ADMIN],
  ['revokeApiKey', idOf('key', 99), timeOf(70), KEEP_ADMIN],
  ['revokeApiKey', idOf('key', 8), timeOf(70), KEEP_ADMIN],
  // An inactive key may be revoked even if no other key has the scope.
  ['revokeApiKey', idOf('key', 6), timeOf(70), KEEP_ADMIN],
  ['touchApiKey', idOf('key', 99), timeOf(80), timeOf(70)],
  ['touchApiKey', keyOne, timeOf(80), timeOf(70)],
  ['touchApiKey', keyOne, timeOf(90), timeOf(79)],
  ['createApiKey', apiKeyOf(5), { onlyFirst: false }],
  ['createApiKey', apiKeyOf(9), { onlyFirst: false }]
]

/** Makes every kind of change to users on an empty store, and checks each change everywhere. */
export async function playUserChanges (storage: KitStorage): Promise<void> {
  await play(storage, createModel(), changes, { filterable: FILTERABLE })
}

/** The same for API keys. */
export async function playKeyChanges (storage: KitStorage): Promise<void> {
  await play(storage, createModel(), keyChanges)
}

/** Duties of every write of users: a change is seen everywhere, and a refusal changes nothing. */
export const userChangeCases: Cases = {
  'create, update, delete: a change is seen by every look-up, filter and total': async (storage) => {
    await storage.migrate({ filterable: FILTERABLE })
    await playUserChanges(storage)
  },

  'create, update, delete: a refusal changes nothing, and what it named stays free': async (storage) => {
    await storage.migrate({ filterable: FILTERABLE })
    await play(storage, createModel(), refusals, { filterable: FILTERABLE })
  }
}

/** The same for API keys. */
export const keyChangeCases: Cases = {
  'create key, rotate key, revoke key, touch key: a change is seen everywhere': async (storage) => {
    await playKeyChanges(storage)
  },

  'create key, rotate key, revoke key: a refusal changes nothing': async (storage) => {
    await play(storage, createModel(), keyRefusals)
  }
}
