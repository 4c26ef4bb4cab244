import type { Json, JsonObject } from '../../../lib/storage/storage.ts'
import { keeps, puts, reads, totals, walks } from './users-wrappers.ts'
import { type Mistake, untyped } from './wrappers.ts'

const TEXTS = 'commit, users.find, users.list: names, addresses and reasons'
const FIELDS = 'commit, users.find, users.list: every value of JSON'
const TIMES = 'commit, users.find, users.list: times'
const TENANT = 'commit, users.find, users.list: a user keeps its tenant'
const UNKEPT = 'commit: a text that a store can not keep'
const PLAIN = 'users.find, users.list, users.walk: records are plain values'
const LOOK_UPS = 'users.find: any text may be looked up'

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Changes each value in fields, from the innermost outwards. */
function deep (value: Json, change: (value: Json) => Json): Json {
  if (Array.isArray(value)) return change(value.map((item) => deep(item, change)))
  if (!isObject(value)) return change(value)
  return change(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, deep(member, change)])))
}

const fields = (failed: string, name: string, change: (value: Json) => Json): Mistake =>
  keeps(failed, name, (user) => {
    const changed = deep(user.fields, change)
    return { ...user, fields: isObject(changed) ? changed : {} }
  })

const times = (name: string, change: (time: string) => string): Mistake =>
  keeps(TIMES, name, (user) => ({ ...user, createdAt: change(user.createdAt), updatedAt: change(user.updatedAt) }))

/** Mistakes in what is kept and given of users. */
export const usersValues: Mistake[] = [
  keeps(TEXTS, 'names are cut to 191 characters', (user) => ({ ...user, name: [...user.name].slice(0, 191).join('') })),
  keeps(TEXTS, 'characters beyond the first plane become question marks', (user) =>
    ({ ...user, statusReason: user.statusReason?.replace(/[\u{10000}-\u{10ffff}]/gu, '?') ?? null })),
  fields(FIELDS, 'members are sorted by name', (value) => isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1))
    : value),
  fields(FIELDS, 'numbers are kept as 32-bit floats', (value) =>
    typeof value === 'number' ? Math.fround(value) : value),
  times('times are cut to seconds', (time) => time.replace(/\.\d+Z/, '.000Z')),
  times('years of two digits are those of the last century', (time) => time.replace(/^00(\d\d)/, '19$1')),
  keeps('commit, users.find: versions stay exact', 'versions have 16 bits', (user) =>
    ({ ...user, version: user.version % 65_536 })),
  keeps(TENANT, 'the tenant is lost', ({ tenant, ...user }) => user),
  keeps(TENANT, 'whoever has no tenant has an empty one', (user) => ({ ...user, tenant: user.tenant ?? '' })),
  puts('commit, users.find: a value that differs little', 'fields are merged into those before', (put, was) =>
    ({ ...put, record: { ...put.record, fields: { ...was?.record.fields, ...put.record.fields } } })),
  keeps(UNKEPT, 'a lone surrogate becomes a replacement character', (user) =>
    ({ ...user, name: user.name.toWellFormed() })),
  fields(UNKEPT, 'a NUL ends a text in fields', (value) =>
    typeof value === 'string' ? value.split('\0')[0] ?? '' : value),
  totals(PLAIN, 'totals are texts', ({ total }) => untyped(String(total))),
  walks(PLAIN, 'a walk gives how many there were', async (walk, ...given) => untyped(await walk(...given) ?? 3)),
  reads(LOOK_UPS, 'who is not there is undefined', ({ find }) => ({
    find: async (id) => await find(id) ?? untyped(undefined)
  })),
  reads(LOOK_UPS, 'ids are looked up in any case', ({ find }) => ({ find: (id) => find(id.toLowerCase()) }))
]
