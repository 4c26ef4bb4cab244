import assert from 'node:assert/strict'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import type { JsonObject, Storage } from '../../lib/storage/storage.ts'
import type { Cases, Subject } from './cases.ts'
import { FIELDS, LOOKALIKES, MOMENTS } from './hostile-values.ts'
import {
  add, addNth, type AnyRow, COLLECTIONS, commit, drop, eventOf, type Listed, listAll, make, move, nextOf, nth, ownerOf,
  rowIn, withMembers
} from './rows.ts'
import { idOf, timeOf } from './values.ts'

const TEXT = LOOKALIKES.join(' ')
const MAX = 2 ** 31 - 1
/** Of so many bytes as a member may have at most. */
const long = (bytes: number): string => 'x'.repeat(bytes)
const times = <Value>(length: number, make: (i: number) => Value): Value[] => Array.from({ length }, (_, i) => make(i))
const json: JsonObject = { z: 1, a: [null, true, 0.1, '', TEXT, { '': {} }], nested: { b: [[]], a: 1e21 } }

/** Sets of members that differ from the sample rows. A new row and a changed row are written with each set. */
const VARIANTS: { [Name in Listed]: object[] } = {
  trash: [
    { groups: times(100, (n) => idOf('grp', n)) },
    { deletedBy: { type: 'api_key', id: idOf('key', 7), name: TEXT } },
    { deletedBy: { type: 'user', id: 'x', name: null }, statusReason: TEXT, status: 'suspended', tenant: 'acme' },
    ...FIELDS.map((fields) => ({ fields })),
    ...MOMENTS.map((deletedAt) => ({ deletedAt }))
  ],
  apiKeys: [
    { scopes: ['z:read', 'a:write', 'a:read'], name: TEXT, lifetime: 2 ** 53 - 1, owner: TEXT.slice(0, 190) },
    { scopes: ['a:read'], lifetime: 0, tenant: 'acme', rotatedFrom: idOf('key', 999) },
    { addresses: times(100, (i) => `2001:db8:${i}::/48`), rateLimit: { max: MAX, window: 1 } },
    { scopes: times(16, (i) => `scope${i}:read`) },
    { rateLimit: { max: 1, window: MAX }, addresses: ['10.0.0.0/8'] },
    ...MOMENTS.slice(0, 12).map((moment, i) => ({
      expiresAt: moment,
      createdAt: moment,
      rotatedAt: MOMENTS[i + 1],
      revokedAt: MOMENTS[i + 2],
      lastUsedAt: MOMENTS[i + 3]
    }))
  ],
  keyUses: [{ uses: 1 }, { uses: 2 ** 31 }, { uses: 2 ** 53 - 1 }],
  webhooks: [
    { types: [], description: TEXT, tenant: 'acme', after: idOf('evt', 9), enabled: false, disabledReason: 'failing' },
    { secrets: [{ text: 'whsec_b', expiresAt: MOMENTS[0], rotation: TEXT }, { text: 'whsec_a', expiresAt: null }] },
    { failingSince: MOMENTS[1], pausedUntil: MOMENTS[2], createdAt: MOMENTS[3], updatedAt: MOMENTS[4] },
    { url: `https://example.org/?${encodeURIComponent(TEXT)}`, types: ['user.*', 'api_key.created'] },
    {
      url: `https://example.org/${long(2028)}`,
      types: times(20, (i) => `user.${'x'.repeat(24)}${String.fromCharCode(97 + i)}`),
      secrets: times(4, (i) => ({ text: `whsec_${i}${long(93)}`, expiresAt: i === 0 ? null : timeOf(i) }))
    }
  ],
  deliveries: [
    { status: 'succeeded', dueAt: null, claims: 2 ** 31, failures: 3, testEvent: json },
    {
      attempts: [
        { at: MOMENTS[0], status: 503, milliseconds: 1, error: null },
        { at: MOMENTS[1], status: null, milliseconds: 0, error: TEXT }
      ]
    },
    {
      attempts: times(20, (i) => ({ at: timeOf(i), status: 500, milliseconds: i, error: null, response: TEXT })),
      testEvent: { long: long(64_000) }
    },
    ...MOMENTS.map((dueAt) => ({ dueAt, createdAt: dueAt }))
  ],
  userGroups: [
    { name: TEXT.slice(0, 190), nameKey: TEXT.slice(0, 190), externalId: TEXT.slice(0, 250), members: 2 ** 31 },
    { nameKey: '🦊'.repeat(254), tenant: 'acme', members: 1 },
    ...MOMENTS.map((moment, n) => ({ createdAt: moment, updatedAt: moment, nameKey: `moment ${n}` }))
  ],
  memberships: [],
  idempotency: [
    ...[null, true, 0, '', TEXT, long(1_000_000), [json], json, ...FIELDS].map((kept) => ({ kept })),
    ...MOMENTS.map((expiresAt) => ({ expiresAt })), { fingerprint: TEXT }
  ],
  marks: []
}

/** Texts that a store may refuse. */
const UNSTORABLE = ['unkeepable\u0000b', '\u0000', '\ud83d', 'x\udc00unkeepable']
/** Keys that no row has, whatever a store makes of them. */
const UNKNOWN = [
  '', 'x', '%', '_', "'; DROP TABLE users; --", 'a\u0000', '\ud83d', '\u{10ffff}', 'x'.repeat(1000), '[object Object]',
  '__proto__'
]

/** A row for comparison: of JSON values the text, which has the order of members. */
const comparable = (row: AnyRow | null) => {
  const { fields, kept, testEvent } = Object(row?.record)
  return { row, texts: [fields, kept, testEvent].map((value) => JSON.stringify(value)) }
}

function requireRow (row: AnyRow | null, expected: AnyRow, what: string): void {
  assert.deepEqual(comparable(row), comparable(expected), what)
}

const valueCases: Cases = Object.fromEntries(COLLECTIONS.filter((name) => name !== 'users').map((name) => [
  `commit, find, list: every member of the rows of ${name} comes back as it was given`,
  async (storage: Storage) => {
    await addNth(storage, name, 0)
    let present: AnyRow = nth[name](0)
    requireRow(await rowIn(storage, name, present.record.id), present, name)
    const owner = ownerOf(name)
    for (const [i, members] of VARIANTS[name].entries()) {
      const what = JSON.stringify(members).slice(0, 300)
      const row = withMembers(nth[name](i + 1), members)
      if (owner !== null) await make(storage, [add(owner, nth[owner](i + 1))])
      await make(storage, [add(name, row)])
      requireRow(await rowIn(storage, name, row.record.id), row, what)
      // By a change too: all but what never changes, of its row and of the tenant.
      const unique = name === 'userGroups' ? { nameKey: `${i}` } : {}
      const { tenant: _tenant, ...others } = { tenant: null, ...members, ...unique }
      const next: AnyRow = nextOf(present, others)
      await make(storage, [move(name, present, next)])
      present = next
      requireRow(await rowIn(storage, name, present.record.id), present, `changed to ${what}`)
    }
    const { items, total } = await listAll(storage, name)
    assert.equal(total, VARIANTS[name].length + 1)
    for (const row of items) requireRow(row, (await rowIn(storage, name, row.record.id)) ?? row, 'as the list has it')
    requireRow(items[0] ?? null, present, 'as the list has it')
  }
]))

/** Duties about what rows keep, and how they are found. */
export const recordSubject: Subject = {
  needs: {},
  cases: {
    ...valueCases,

    'commit, find: a user keeps the keys and words that a change does not name': async (storage) => {
      const row = nth.users(1)
      await make(storage, [add('users', row)])
      const next = { ...nextOf(row, { status: 'suspended', updatedAt: timeOf(9) }), keys: {} }
      await make(storage, [move('users', row, next)])
      assert.deepEqual(await rowIn(storage, 'users', row.record.id), { ...next, keys: row.keys })
      const renamed = { ...nextOf(next, { name: 'Ann' }), keys: { nameKey: 'ann', nameWords: ['ann'] } }
      await make(storage, [move('users', next, renamed)])
      const keys = { ...row.keys, nameKey: 'ann', nameWords: ['ann'] }
      assert.deepEqual(await rowIn(storage, 'users', row.record.id), { ...renamed, keys })
      // Words that are given as none are none.
      const members = { email: 'E', fields: { a: 1 } }
      const last = { ...nextOf(renamed, members), keys: { emailKey: 'e', emailWords: [], fieldWords: [] } }
      await make(storage, [move('users', renamed, last)])
      assert.deepEqual(await rowIn(storage, 'users', row.record.id), { ...last, keys: { ...keys, ...last.keys } })
      await make(storage, [drop('users', last)])
    },

    'commit: a text that cannot be kept is a fault, and then nothing of the unit is there': async (storage) => {
      for (const [i, text] of UNSTORABLE.entries()) {
        const writes = [
          add('users', withMembers(nth.users(i), { name: text })),
          add('apiKeys', withMembers(nth.apiKeys(i), { name: text })),
          add('webhooks', withMembers(nth.webhooks(i), { description: text })),
          add('idempotency', { ...withMembers(nth.idempotency(i), { kept: text }), of: null }),
          add('trash', withMembers(nth.trash(i), { fields: { text } }))
        ]
        for (const write of writes) {
          const mark = nth.marks(i)
          const code = await commit(storage, [add('marks', mark), write]).then((outcome) => outcome.code, (error) => {
            assert.equal(isStorageError(error) ? error.code : error, 'fault')
            return 'fault'
          })
          const row = await rowIn(storage, write.in, write.put?.record.id ?? '')
          const kept = code === 'ok' ? [mark, write.put] : [null, null]
          assert.deepEqual([await rowIn(storage, 'marks', mark.record.id), row], kept, `${write.in}: ${code}`)
          if (code === 'ok') await make(storage, [drop('marks', mark)])
        }
      }
    },

    'find: rows come in the order of the keys, as often as they are asked for, and null for none': async (storage) => {
      for (const name of COLLECTIONS) {
        await addNth(storage, name, 3, 1, 2)
        const ids = [2, 9, 1, 3, 2].map((n) => ({ id: nth[name](n).record.id }))
        const row = nth[name]
        assert.deepEqual(await storage.find(name, ids), [row(2), null, row(1), row(3), row(2)], name)
        assert.deepEqual(await storage.find(name, []), [], name)
        const unknown = UNKNOWN.map((id) => ({ id }))
        assert.deepEqual(await storage.find(name, unknown), UNKNOWN.map(() => null), name)
        const { record: { id } } = row(1)
        const near = [id.toUpperCase(), `${id} `, `${id}0`, id.slice(0, -1)].map((each) => ({ id: each }))
        assert.deepEqual(await storage.find(name, near), near.map(() => null), name)
      }
    },

    'find: a key is found by its start, as it is now': async (storage) => {
      await addNth(storage, 'apiKeys', 1, 2)
      const [one, two] = [nth.apiKeys(1), nth.apiKeys(2)]
      const starts = [two, one].map(({ record: { start } }) => ({ start }))
      const mixed = [...starts, { id: one.record.id }, ...starts]
      assert.deepEqual(await storage.find('apiKeys', mixed), [two, one, one, two, one])
      const { start: text } = one.record
      for (const start of [...UNKNOWN, text.slice(0, -1), `${text}0`, text.toUpperCase()]) {
        assert.deepEqual(await storage.find('apiKeys', [{ start }]), [null], start)
      }
      const next = nextOf(one, { revokedAt: timeOf(9) })
      await make(storage, [move('apiKeys', one, next), drop('apiKeys', two)])
      assert.deepEqual(await storage.find('apiKeys', starts), [null, next])
    },

    'find: as many rows as are asked for': async (storage, { records }) => {
      const numbers = Array.from({ length: records }, (_, i) => i)
      for (const name of ['users', 'apiKeys'] as const) {
        await make(storage, numbers.map((n) => add(name, nth[name](n))))
        const found = await storage.find(name, numbers.map((n) => ({ id: nth[name](n).record.id })))
        assert.deepEqual(found, numbers.map((n) => nth[name](n)))
      }
    }
  }
}

/** The same of events, which are read after the commit. */
export const eventRecordSubject: Subject = {
  needs: {},
  cases: {
    'commit, log.read: every member of an event comes back as it was given': async (storage) => {
      const events = [
        { actor: null, requestId: null }, { reverts: idOf('evt', 7) },
        { actor: { type: 'x', id: TEXT, name: null }, requestId: TEXT },
        { data: json, before: { name: TEXT, fields: json, email: TEXT } }, { data: { fields: { b: 1, a: 2 } } },
        { subject: idOf('key', 9), type: 'api_key.created' }, { tenant: 'acme' },
        { data: { long: long(64_000) }, before: { statusReason: null, status: 'active' } },
        ...FIELDS.map((fields) => ({ data: { fields }, before: { fields } })),
        ...MOMENTS.map((timestamp) => ({ timestamp }))
      ].map((members, i) => eventOf(i, members))
      await make(storage, [], events)
      const page = await storage.log.read({ after: null, limit: 1000, types: null })
      for (const [i, event] of events.entries()) {
        const texts = ({ data, before }: typeof event) => JSON.stringify([data, before?.['fields']])
        assert.deepEqual(page?.events[i], event)
        assert.equal(page && texts(page.events[i] ?? event), texts(event))
        assert.deepEqual(await storage.log.find(event.id), event)
      }
    }
  }
}
