import type { Json, JsonObject, UserRecord } from '../../../lib/storage/storage.ts'
import { gives, keeps, type Mistake, puts, reads, untyped } from './users-wrappers.ts'

const TEXTS = 'commit, users.find, users.list: names, addresses and reasons'
const FIELDS = 'commit, users.find, users.list: every value of JSON'
const TIMES = 'commit, users.find, users.list: times'
const NEAR = 'commit, users.find: a value that differs little'
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

const fields = (name: string, change: (value: Json) => Json, failed = FIELDS): Mistake =>
  keeps(failed, name, (user) => {
    const changed = deep(user.fields, change)
    return { ...user, fields: isObject(changed) ? changed : {} }
  })

const members = (name: string, change: (members: Array<[string, Json]>) => Array<[string, Json]>): Mistake =>
  fields(name, (value) => isObject(value) ? Object.fromEntries(change(Object.entries(value))) : value)

const times = (name: string, change: (time: string) => string): Mistake =>
  keeps(TIMES, name, (user) => ({ ...user, createdAt: change(user.createdAt), updatedAt: change(user.updatedAt) }))

const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString()

const lookUps = (name: string, wanted: (id: string) => string): Mistake =>
  reads(LOOK_UPS, name, ({ find }) => ({ find: (id) => find(wanted(id)) }))

/** Mistakes in what is kept and given of users. */
export const usersValues: Mistake[] = [
  keeps(TEXTS, 'names are cut to 191 characters', (user) => ({ ...user, name: [...user.name].slice(0, 191).join('') })),
  keeps(TEXTS, 'names are composed', (user) => ({ ...user, name: user.name.normalize('NFC') })),
  keeps(TEXTS, 'names lose spaces around them', (user) => ({ ...user, name: user.name.trim() })),
  keeps(TEXTS, 'characters beyond the first plane become question marks', (user) =>
    ({ ...user, statusReason: user.statusReason?.replace(/[\u{10000}-\u{10ffff}]/gu, '?') ?? null })),
  keeps(TEXTS, 'addresses are kept in lower case', (user) => ({ ...user, email: user.email.toLowerCase() })),
  members('members are sorted by name', (all) => all.toSorted(([a], [b]) => a < b ? -1 : 1)),
  members('members that are null are left out', (all) => all.filter(([, value]) => value !== null)),
  members('a dot in the name of a member becomes an underscore', (all) =>
    all.map(([name, value]) => [name.replaceAll('.', '_'), value])),
  fields('numbers are kept as 32-bit floats', (value) => typeof value === 'number' ? Math.fround(value) : value),
  fields('an empty list becomes an empty object', (value) => Array.isArray(value) && value.length === 0 ? {} : value),
  fields('texts that look like numbers become numbers', (value) =>
    typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
  times('times are cut to seconds', (time) => time.replace(/\.\d+Z/, '.000Z')),
  times('years of two digits are those of the last century', (time) => time.replace(/^00(\d\d)/, '19$1')),
  times('summer times are an hour off', (time) =>
    Number(time.slice(5, 7)) > 3 && Number(time.slice(5, 7)) < 10 ? later(time, 3_600_000) : time),
  gives('commit, users.find: versions stay exact', 'versions have 16 bits', (user) =>
    ({ ...user, version: user.version % 65_536 })),
  gives('commit, users.find, users.list: a user keeps its tenant', 'the tenant is lost', ({ tenant, ...user }) => user),
  gives('commit, users.find, users.list: a user keeps its tenant', 'whoever has no tenant has an empty one', (user) =>
    ({ ...user, tenant: user.tenant ?? '' })),
  puts(NEAR, 'fields are merged into those before', (put, was) =>
    ({ ...put, record: { ...put.record, fields: { ...was?.record.fields, ...put.record.fields } } })),
  puts(NEAR, 'a change of case is no change', (put, was) => {
    const isSame = was !== null && was.record.name.toLowerCase() === put.record.name.toLowerCase()
    return isSame ? { ...put, record: { ...put.record, name: was.record.name } } : put
  }),
  puts(NEAR, 'another order of members is no change', (put, was) => {
    const text = ({ fields }: UserRecord) => JSON.stringify(fields).split('').sort().join('')
    const isSame = was !== null && text(was.record) === text(put.record)
    return isSame ? { ...put, record: { ...put.record, fields: was.record.fields } } : put
  }),
  keeps(UNKEPT, 'a NUL is left out of names', (user) => ({ ...user, name: user.name.replaceAll('\0', '') })),
  keeps(UNKEPT, 'a lone surrogate becomes a replacement character', (user) =>
    ({ ...user, name: user.name.toWellFormed() })),
  fields('a NUL ends a text in fields', (value) => typeof value === 'string' ? value.split('\0')[0] ?? '' : value,
    UNKEPT),
  gives(PLAIN, 'versions are texts', (user) => ({ ...user, version: String(user.version) })),
  gives(PLAIN, 'records have columns of the table too', (user) => ({ ...user, name_key: user.name.toLowerCase() })),
  reads(PLAIN, 'totals are texts', ({ list }) => ({
    async list (filter, page) {
      const { items, total } = await list(filter, page)
      return { items, total: untyped(String(total)) }
    }
  })),
  reads(PLAIN, 'a walk gives how many there were', ({ walk }) => ({
    walk: async (...given) => untyped(await walk(...given) ?? 3)
  })),
  reads(LOOK_UPS, 'who is not there is undefined', ({ find }) => ({
    find: async (id) => await find(id) ?? untyped(undefined)
  })),
  lookUps('ids are looked up in any case', (id) => id.toLowerCase()),
  lookUps('ids are looked up without spaces around them', (id) => id.trim()),
  lookUps('ids are looked up until a NUL', (id) => id.split('\0')[0] ?? ''),
  lookUps('an id that is not well-formed is an error', (id) => {
    encodeURIComponent(id)
    return id
  }),
  reads(LOOK_UPS, 'an id that is long is an error', ({ find }) => ({
    async find (id) {
      if (id.length > 64) throw new RangeError('value too long for type character varying(64)')
      return find(id)
    }
  }))
]
