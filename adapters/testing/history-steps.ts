// Random calls of our operations, on few values, so that they collide.

import type {
  EventRecord, Idempotency, Json, JsonObject, NewEvent, UserChanges, UserKeys, UserRecord, VersionGuard
} from '../../lib/storage/storage.ts'
import { eventOf, nth, withMembers } from './rows.ts'
import { randomFrom } from './shrink.ts'
import { wordsOf } from './user-keys.ts'
import { idOf, timeOf } from './values.ts'

/** A call of an operation, as data: its name in the repository, and its arguments. */
export interface Step { method: string, args: readonly unknown[] }

/** Fields that the histories filter by and keep unique. */
export const HISTORY_NEEDS = { filterable: ['plan', 'seats'], unique: ['badge'] }

const ADDRESSES = ['a@x.org', 'a_@x.org', 'ab@x.org', 'b@x.org']
const NAMES = ['ann', 'anne', 'an%', 'ánn', 'ann ', 'ß']
const FIELDS: readonly JsonObject[] = [
  {}, {}, { plan: 'pro' }, { plan: 'Pro', seats: 1 }, { plan: '1', seats: 0 }, { badge: 1 }, { badge: '1' },
  { badge: 2, plan: null }
]
const TENANTS = [null, null, 'acme', 'beta'] as const
const DAYS = ['2026-01-29', '2026-01-30', '2026-01-31']
const first = (limit: number) => ({ order: 'asc', limit, from: { offset: 0 } })

/** Draws steps. `inTransaction`: none of the whole log, which is read after the commit. */
export function drawHistory (seed: number, length: number, inTransaction: boolean): Step[] {
  const random = randomFrom(seed)
  const below = (n: number): number => Math.floor(random() * n)
  const one = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)]
    if (item === undefined) throw new RangeError('nothing to choose from')
    return item
  }
  const maybe = (members: object): object => below(2) === 0 ? members : {}
  let time = 10
  let number = 0
  let groups = 0
  const now = (): string => timeOf(++time)
  const userId = (): string => idOf('usr', below(6))
  const keyId = (): string => idOf('key', below(Math.max(3, number)))
  const scope = (): { tenant?: string } => {
    const tenant = one(TENANTS)
    return tenant === null ? {} : { tenant }
  }

  function event (type: string): NewEvent | null {
    if (below(5) === 0) return null
    const { data, before, subject, ...made }: EventRecord = eventOf(++number + 1000, { type, timestamp: now() })
    const id = below(3) === 0 && !inTransaction ? userId() : keyId()
    return { ...made, actor: one([null, { type: 'user', id, name: 'Actor' }]) }
  }

  function guard (): VersionGuard {
    const version = 1 + below(4)
    const any = { ifVersion: null, unlessVersion: [] }
    const [only, but] = [{ ifVersion: [version], unlessVersion: [] }, { ifVersion: null, unlessVersion: [version] }]
    return one([any, any, any, only, but])
  }

  const keysFor = (emailKey: string, nameKey: string): UserKeys =>
    ({ emailKey, nameKey, nameWords: wordsOf(nameKey), emailWords: wordsOf(emailKey), fieldWords: [] })

  function creation () {
    const [emailKey, nameKey, at] = [one(ADDRESSES), one(NAMES), now()]
    const record: UserRecord = withMembers(nth.users(below(6)), {
      email: one([emailKey, emailKey.toUpperCase()]), name: nameKey, fields: one(FIELDS), createdAt: at, updatedAt: at
    }).record
    return { type: 'create', user: record, keys: keysFor(emailKey, nameKey), event: event('user.created') }
  }

  function changes (): UserChanges {
    const [email, name] = [one(ADDRESSES), one(NAMES)]
    return {
      ...maybe({ name: { value: name, key: name, words: wordsOf(name) } }),
      ...maybe({ email: { value: email, key: email, words: wordsOf(email) } }),
      ...maybe({ fields: one(FIELDS) }),
      ...maybe(one([
        { status: 'suspended' }, { status: 'suspended', statusReason: 'unpaid' },
        { status: 'active', statusReason: null }, { statusReason: 'fraud' }
      ]))
    }
  }

  function userWrite () {
    const common = { id: userId(), guard: guard() }
    const at = below(4) === 0 ? timeOf(below(time)) : now()
    const erase = below(3) === 0
    switch (below(10)) {
      case 0: case 1: case 2: return creation()
      case 3: case 4: case 9:
        return { type: 'update', ...common, changes: changes(), updatedAt: at, event: event('user.updated') }
      case 5: return { type: 'delete', ...common, event: event('user.deleted'), erase }
      case 6: {
        const putAway = { deletedAt: at, deletedBy: null }
        return { type: 'delete', ...common, event: event('user.deleted'), erase: false, putAway }
      }
      case 7: return { type: 'restore', ...common, updatedAt: at, event: event('user.restored') }
      default: {
        const putAwayBefore = one([null, at])
        return { type: 'purge', ...common, putAwayBefore, event: event('user.purged'), erase }
      }
    }
  }

  function idempotency (): Idempotency | null {
    if (below(2) === 0) return null
    const at = now()
    const note: Json = one([null, { n: 1 }])
    return {
      key: one(['k', 'K']).repeat(43),
      fingerprint: one(['f', 'f', 'g']).repeat(43),
      now: at,
      expiresAt: timeOf(time + 1 + below(30)),
      note
    }
  }

  function keyStep (): Step {
    const at = now()
    const made = () => {
      const { version, ...key } = withMembers(nth.apiKeys(number++), {
        scopes: one([['users:read'], ['keys:write', 'users:read']]),
        expiresAt: one([null, null, timeOf(time + below(40))])
      }).record
      return key
    }
    const write = [
      () => ({ type: 'create', key: made(), onlyFirst: below(3) === 0, event: event('api_key.created') }),
      () => {
        const id = keyId()
        const successor = { ...made(), rotatedFrom: id }
        const expiresAt = timeOf(time + below(30))
        return { type: 'rotate', id, successor, now: at, expiresAt, event: event('api_key.rotated') }
      },
      () => ({
        type: 'revoke',
        id: keyId(),
        revokedAt: at,
        keepOneWith: one([[], ['keys:write']]),
        successors: below(2) === 0,
        event: event('api_key.revoked')
      }),
      () => ({ type: 'touch', id: keyId(), usedAt: at, ifBefore: timeOf(Math.max(0, time - below(20))) })
    ]
    return { method: 'apiKeys.write', args: [one(write)(), scope().tenant] }
  }

  function webhookStep (): Step {
    const n = below(3)
    const { version: _version, ...webhook } = withMembers(nth.webhooks(n), scope()).record
    const { version: _other, ...made } = withMembers(nth.deliveries(number++), {
      webhook: webhook.id,
      event: idOf('evt', below(5)),
      dueAt: timeOf(time - below(20)),
      createdAt: timeOf(time - below(20))
    }).record
    const done = { ...made, status: 'failed', dueAt: null }
    return one([
      { method: 'webhooks.insert', args: [webhook] },
      { method: 'webhooks.change', args: [webhook.id, null, { deliveries: [made] }, undefined] },
      { method: 'webhooks.change', args: [webhook.id, null, { deliveries: [done] }, undefined] },
      { method: 'webhooks.claim', args: [webhook.id, { now: timeOf(time), until: timeOf(time + 9), limit: 2 }] },
      { method: 'webhooks.due', args: [timeOf(time)] },
      { method: 'webhooks.prune', args: [timeOf(time - 5), 2] },
      { method: 'webhooks.remove', args: [webhook.id, scope().tenant] },
      { method: 'webhooks.listDeliveries', args: [webhook.id, { offset: 0, limit: 9 }] }
    ])
  }

  function groupStep (): Step {
    const id = (): string => idOf('grp', below(Math.max(3, groups)))
    const [at, name] = [now(), one(['staff', 'Staff', 'other'])]
    const some = (): string[] => Array.from({ length: below(4) }, userId)
    const write = [
      () => {
        const group = withMembers(nth.userGroups(groups++), { name, nameKey: name.toLowerCase(), ...scope() }).record
        return { type: 'create', group, members: some(), event: event('group.created') }
      },
      () => {
        const members = one([{ add: some(), remove: some() }, { all: some() }, { add: [userId()] }])
        const changes = { ...maybe({ name: { value: name, key: name.toLowerCase() } }), ...maybe({ members }) }
        return { type: 'update', id: id(), changes, updatedAt: at, guard: guard(), event: event('group.updated') }
      },
      () => ({ type: 'delete', id: id(), guard: guard(), event: event('group.deleted') })
    ]
    return one([
      { method: 'groups.write', args: [{ ...one([...write, ...write.slice(0, 2)])(), ...scope() }] },
      { method: 'groups.ofUser', args: [userId(), first(9)] },
      { method: 'groups.list', args: [scope(), first(9), below(2) === 0] }
    ])
  }

  function listStep (): Step {
    const sort = one(['emailKey', 'updatedAt', { field: 'seats' }, null] as const)
    const filter = {
      emailKey: one([null, null, one(ADDRESSES)]),
      words: one([null, null, [['an']], [['b'], ['ann']]]),
      fields: one([{}, {}, { plan: 'pro' }, { seats: 0 }]),
      ...maybe({ status: one(['active', 'suspended']) }),
      ...below(4) === 0 && { group: idOf('grp', below(Math.max(3, groups))) },
      ...scope()
    }
    const order = one(['asc', 'desc'])
    return {
      method: 'users.list',
      args: [filter, { order, limit: 1 + below(5), from: { offset: below(4) }, ...sort !== null && { sort } }]
    }
  }

  const others: Array<() => Step> = [
    () => ({ method: 'keyUses.add', args: [[{ key: keyId(), day: one(DAYS), uses: 1 + below(9) }]] }),
    () => ({ method: 'keyUses.prune', args: [one(DAYS), 1 + below(3)] }),
    () => ({ method: 'keyUses.list', args: [keyId()] }),
    () => ({ method: 'trash.list', args: [{ offset: below(3), limit: 3, ...scope() }] }),
    () => ({ method: 'trash.expired', args: [timeOf(below(time)), 3] }),
    () => ({ method: 'apiKeys.list', args: [{ ...first(9), ...scope() }] }),
    () => ({ method: 'prune', args: [timeOf(time)] }),
    ...inTransaction
      ? []
      : [
          () => ({ method: 'events.prune', args: [timeOf(time - below(30)), 1 + below(6)] }),
          () => ({ method: 'events.erase', args: [userId(), scope().tenant] }),
          () => ({ method: 'tenants.remove', args: [one(['acme', 'beta']), 1000] }),
          () => ({ method: 'tenants.assign', args: ['acme', { after: null, limit: 100 }] })
        ]
  ]

  function next (): Step {
    const kind = below(20)
    if (kind < 7) return { method: 'users.writeOne', args: [userWrite(), scope()] }
    if (kind < 10) {
      const writes = Array.from({ length: 1 + below(4) }, userWrite)
      const options = { atomic: below(2) === 0, idempotency: idempotency(), ...scope() }
      return { method: 'users.write', args: [writes, options] }
    }
    if (kind < 13) return keyStep()
    if (kind < 14) return webhookStep()
    if (kind < 15) return groupStep()
    return kind < 17 ? listStep() : one(others)()
  }
  return Array.from({ length }, next)
}
