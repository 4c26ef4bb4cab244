import assert from 'node:assert/strict'
import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { play } from './everywhere.ts'
import { FIELDS, LOOKALIKES, MOMENTS, NUMBERS } from './hostile-values.ts'
import { createModel } from './model.ts'
import { anyVersion, everyone, idOf, keysOf, onlyVersion, timeOf, userOf } from './values.ts'

const first = { order: 'asc', limit: 400, from: { offset: 0 } } as const

/** Ids whose order by bytes differs from the order of their creation, and from that of some languages. */
const IDS = ['ch', 'cz', 'hz', 'aa', 'az', 'dz', 'zz', 'y0', 'v9', '0a', 'a0', '00']
  .map((end) => `usr_01h455vb4pex5vsknk08zzzz${end}`)

/** Texts that no record has, of forms that a look-up may turn into another text, a pattern or a query. */
export function lookUpsNear (known: string): string[] {
  return [
    '', ' ', '\0', `${known}\0`, `${known}\u0301`, known.replace('u', 'ú'), known.replace(/k/, '\u212a'),
    `${known}\u200b`, `${known} `, ` ${known}`, known.slice(0, -1), `${known}0`, known.toUpperCase(),
    `${known.slice(0, -1)}_`, `${known.slice(0, -1)}%`, `${known.slice(0, -1)}*`, `${known.slice(0, 8)}%`, '%', '*',
    '.*', '_'.repeat(known.length), `${known}\n`, `${known}\ud800`, '__proto__', 'constructor', 'toString', 'null',
    'undefined', '0', '{}', '[object Object]', '"', '\'', '\\', `${known}' OR '1'='1`, '$ne', 'x'.repeat(500),
    'é', '🦊'
  ].filter((text) => text !== known)
}

function creation (n: number, members: Parameters<typeof userOf>[1] = {}, keys = {}): CallOf<'createUser'> {
  const user = userOf(n, members)
  return ['createUser', user, { ...keysOf(user), ...keys }, null]
}

/** Duties of users about values that stores tend to change, to fold or to confuse. */
export const hostileUserCases: Cases = {
  'create, listUsers: addresses are compared byte by byte, and folded in no way': async (storage) => {
    const long = ['x'.repeat(50), 'x'.repeat(100), 'x'.repeat(253)].flatMap((start) => [`${start}a`, `${start}b`])
    const domains = ['a.b@x.org', 'ab@x.org', 'a+b@x.org', 'a@x.org', 'a@x.org.', 'a@googlemail.com', 'a@gmail.com']
    const addresses = [...LOOKALIKES, ...long, ...domains]
    const calls: Array<CallOf<Writer>> = addresses.map((text, n) => creation(n, { email: text }, { emailKey: text }))
    calls.push(['updateUser', idOf('usr', 0), { email: { value: 'x', key: 'a  ' } }, timeOf(50), anyVersion])
    await play(storage, createModel(), calls, { recent: 1 })
    for (const [n, emailKey] of addresses.entries()) {
      const { items, total } = await storage.listUsers({ ...everyone, emailKey }, first)
      const found = n === 0 ? [] : [idOf('usr', n)]
      assert.deepEqual({ ids: items.map(({ id }) => id), total }, { ids: found, total: found.length }, emailKey)
    }
  },

  'create, update: names and addresses come back as they were given': async (storage) => {
    const calls: Array<CallOf<Writer>> = LOOKALIKES.flatMap((text, n) => [
      creation(n, { name: text, email: `${text}@${n}` }),
      ['updateUser', idOf('usr', n), { name: { value: `${text}${text}`, key: text } }, timeOf(60), onlyVersion(1)]
    ])
    await play(storage, createModel(), calls, { recent: 1 })
  },

  'create, update with fields: every value of JSON comes back, members in order': async (storage) => {
    const calls: Array<CallOf<Writer>> = FIELDS.flatMap((fields, n) => [
      creation(n, { fields }),
      creation(100 + n),
      ['updateUser', idOf('usr', 100 + n), { fields }, timeOf(60), onlyVersion(1)],
      ['updateUser', idOf('usr', 100 + n), { fields }, timeOf(61), anyVersion]
    ])
    await play(storage, createModel(), calls, { recent: 1 })
  },

  'create, update: times come back to the millisecond, whatever the zone and the year': async (storage) => {
    const calls: Array<CallOf<Writer>> = MOMENTS.flatMap((at, n) => [
      creation(n, { createdAt: at, updatedAt: at }),
      creation(100 + n),
      ['updateUser', idOf('usr', 100 + n), { name: { value: 'X', key: 'x' } }, at, anyVersion]
    ])
    await play(storage, createModel(), calls, { recent: 1 })
  },

  'update: versions stay exact up to the largest of 32 bits': async (storage) => {
    const versions = [1, 9, 127, 255, 32_767, 65_535, 2 ** 24, 2 ** 31 - 3]
    const calls: Array<CallOf<Writer>> = versions.flatMap((version, n) => [
      creation(n, { version }),
      ['updateUser', idOf('usr', n), { fields: { n } }, timeOf(60), onlyVersion(version + 1, version - 1)],
      ['updateUser', idOf('usr', n), { fields: { n } }, timeOf(61), onlyVersion(version)],
      ['deleteUser', idOf('usr', n), onlyVersion(version, version + 2)],
      ['updateUser', idOf('usr', n), { fields: {} }, timeOf(62), onlyVersion(version + 1)]
    ])
    await play(storage, createModel(), calls, { recent: 1 })
  },

  'listUsers: ids are ordered byte by byte, not by creation or by a language': async (storage) => {
    const calls = IDS.map((id, n) => creation(n, { id, createdAt: timeOf(100 - n) }))
    await play(storage, createModel(), calls, { recent: 2 })
    const sorted = IDS.toSorted((a, b) => (a < b ? -1 : 1))
    for (const [n, after] of sorted.entries()) {
      const page = { order: 'asc', limit: 3, from: { after } } as const
      const { items, total } = await storage.listUsers(everyone, page)
      const ids = items.map(({ id }) => id)
      assert.deepEqual({ ids, total }, { ids: sorted.slice(n + 1, n + 4), total: IDS.length })
    }
  },

  'findUser, update, delete: any text may be looked up, and only the whole id is found': async (storage) => {
    const model = createModel()
    await play(storage, model, [creation(10)])
    for (const id of lookUpsNear(idOf('usr', 10))) {
      const shown = JSON.stringify(id.slice(0, 60))
      assert.equal(await storage.findUser(id), null, `findUser(${shown})`)
      assert.equal(await storage.updateUser(id, {}, timeOf(50), anyVersion), null, `updateUser(${shown})`)
      assert.equal(await storage.deleteUser(id, anyVersion), null, `deleteUser(${shown})`)
      const none = { items: [], total: 0 }
      assert.deepEqual(await storage.listUsers({ ...everyone, emailKey: id }, first), none, `the e-mail key ${shown}`)
    }
    await play(storage, model, [['findUser', idOf('usr', 10)]])
  },

  'listUsers with fields: a filter tells every two values apart': async (storage) => {
    await storage.migrate({ filterable: ['value'] })
    const values = [...new Set([...LOOKALIKES, ...NUMBERS, true, false, '', ' ', ...NUMBERS.map(String)])]
    const others = [null, [], {}, [1], ['a'], { a: 1 }]
    const all = [...values, ...others]
    for (const [n, value] of all.entries()) {
      const user = userOf(n, { fields: { value } })
      await storage.createUser(user, keysOf(user), null)
    }
    const none = userOf(all.length)
    await storage.createUser(none, keysOf(none), null)
    for (const [n, value] of values.entries()) {
      const { items, total } = await storage.listUsers({ ...everyone, fields: { value } }, first)
      const shown = `the value ${JSON.stringify(value)} (${typeof value})`
      assert.deepEqual({ ids: items.map(({ id }) => id), total }, { ids: [idOf('usr', n)], total: 1 }, shown)
    }
    for (const value of ['x', 2, 0.5, 'Null', 'object Object', 'a\0', 'e']) {
      const found = await storage.listUsers({ ...everyone, fields: { value } }, first)
      assert.deepEqual(found, { items: [], total: 0 }, `the value ${JSON.stringify(value)}`)
    }
  }
}
