import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Json } from '../../../lib/storage/storage.ts'
import { isObject, type Mistake, plantFields, plantKeptUser, plantMembers } from './plant.ts'

function numbers (title: string, change: (value: number) => Json): Mistake {
  return plantFields(title, (value) => typeof value === 'number' ? change(value) : value)
}

function lists (title: string, change: (value: readonly Json[]) => Json): Mistake {
  return plantFields(title, (value) => Array.isArray(value) ? change(value) : value)
}

function names (title: string, change: (name: string) => string): Mistake {
  return plantMembers(title, (members) => members.map(([name, value]) => [change(name), value]))
}

function withoutNames (title: string, isLost: (name: string) => boolean): Mistake {
  return plantMembers(title, (members) => members.filter(([name]) => !isLost(name)))
}

function shallow (value: Json, depth: number): Json {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return '[object Object]'
  if (Array.isArray(value)) return value.map((item) => shallow(item, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shallow(member, depth - 1)]))
}

function isEmptyObject (value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0
}

function compareNames ([a]: [string, Json], [b]: [string, Json]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export const valuesFields: Mistake[] = [
  names('a dollar sign at the start of a member name is lost', (name) => name.replace(/^\$/, '')),
  names('a dot in a member name becomes an underscore', (name) => name.replaceAll('.', '_')),
  names('member names are cut to 30 characters', (name) => name.slice(0, 30)),
  names('member names come in lower case', (name) => name.toLowerCase()),
  names('member names lose spaces around them', (name) => name.trim()),
  withoutNames('a member named _id is left out', (name) => name === '_id'),
  withoutNames('a member whose name is a method of objects is left out', (name) => name !== '__proto__' && name in {}),
  withoutNames('a member with an empty name is left out', (name) => name === ''),
  plantKeptUser('a member named version, name or email is left out', (user) => ({
    ...user, fields: Object.fromEntries(Object.entries(user.fields).filter(([name]) => !Object.hasOwn(user, name)))
  })),
  plantMembers('the members of fields are sorted by name', (members) => members.toSorted(compareNames)),
  plantFields('the members of nested objects are sorted by length', (value) => !isObject(value)
    ? value
    : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a.length - b.length))),
  plantMembers('members that are null are left out', (members) => members.filter(([, value]) => value !== null)),
  plantMembers('an empty object in fields is left out', (members) => {
    return members.filter(([, value]) => !isEmptyObject(value))
  }),
  plantMembers('members after the fiftieth are lost', (members) => members.slice(0, 50)),
  plantMembers('members of false are left out', (members) => members.filter(([, value]) => value !== false)),
  lists('an empty array becomes an empty object', (list) => list.length === 0 ? {} : list),
  lists('arrays in arrays are made flat', (list) => list.flat()),
  lists('an array of one item becomes the item', (list) => list.length === 1 ? list[0] ?? null : list),
  lists('equal items of an array are kept once', (list) => [...new Set(list)]),
  lists('nulls in an array are left out', (list) => list.filter((item) => item !== null)),
  lists('items of an array are sorted', (list) => list.toSorted()),
  plantKeptUser('objects below the fourth level become text', (user) => ({
    ...user,
    fields: Object.fromEntries(Object.entries(user.fields).map(([name, value]) => [name, shallow(value, 3)]))
  })),
  numbers('numbers are kept as 32-bit floats', Math.fround),
  numbers('whole numbers are kept in 32 bits', (value) => Number.isInteger(value) ? value | 0 : value),
  numbers('whole numbers are kept with 15 digits', (value) => Number(value.toPrecision(15))),
  numbers('decimals are rounded to four places', (value) => Math.round(value * 1e4) / 1e4),
  numbers('numbers with an exponent become null', (value) => String(value).includes('e') ? null : value),
  numbers('numbers in fields become text', String),
  plantFields('booleans in fields become 0 and 1', (value) => typeof value === 'boolean' ? Number(value) : value),
  plantKeptUser('fields of more than 8,000 bytes are refused', (user) => {
    if (Buffer.byteLength(JSON.stringify(user.fields)) <= 8000) return user
    throw new StorageError('fault', 'the row is too large')
  })
]
