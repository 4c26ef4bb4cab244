import type { Json, JsonObject } from '../../../lib/storage/storage.ts'
import { keeps, puts, reads, walks } from './users-wrappers.ts'
import { type Mistake, untyped } from './wrappers.ts'

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

/** Mistakes in what is kept and given of users. */
export const usersValues: Mistake[] = [
  keeps('commit, users.find, users.list: names, addresses and reasons', 'names are cut to 191 characters',
    (user) => ({ ...user, name: [...user.name].slice(0, 191).join('') })),
  fields('commit, users.find, users.list: every value of JSON', 'members are sorted by name', (value) => isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1))
    : value),
  keeps('commit, users.find, users.list: times', 'years of two digits are those of the last century', (user) =>
    ({ ...user, createdAt: user.createdAt.replace(/^00(\d\d)/, '19$1') })),
  keeps('commit, users.find: versions stay exact', 'versions have 16 bits', (user) =>
    ({ ...user, version: user.version % 65_536 })),
  keeps('commit, users.find, users.list: a user keeps its tenant', 'whoever has no tenant has an empty one',
    (user) => ({ ...user, tenant: user.tenant ?? '' })),
  puts('commit, users.find: a value that differs little', 'fields are merged into those before', (put, was) =>
    ({ ...put, record: { ...put.record, fields: { ...was?.record.fields, ...put.record.fields } } })),
  keeps('commit: a text that a store cannot keep', 'a lone surrogate becomes a replacement character', (user) =>
    ({ ...user, name: user.name.toWellFormed() })),
  walks('users.find, users.list, users.walk: records are plain values', 'a walk gives how many there were',
    async (walk, ...given) => untyped(await walk(...given) ?? 3)),
  reads('users.find: any text may be looked up', 'ids are looked up in any case',
    ({ find }) => ({ find: (id) => find(id.toLowerCase()) }))
]
