import type { Json, JsonObject, UserFilter } from '../../../lib/storage/storage.ts'
import { isObject, type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State, UserRow } from './state.ts'

type Value = string | number | boolean

/** A mistake in how a stored value is compared with the one of a filter; `really` is the right answer. */
function compares (
  title: string, same: (stored: Json | undefined, wanted: Value, really: boolean) => boolean
): Mistake {
  return plant(title, class extends PlainStore {
    override hasField (fields: JsonObject, name: string, value: Value) {
      const stored = Object.hasOwn(fields, name) ? fields[name] : undefined
      return same(stored, value, super.hasField(fields, name, value))
    }
  })
}

/** A mistake in what a filter asks for. */
function asks (title: string, change: (filter: UserFilter) => UserFilter): Mistake {
  return plant(title, class extends PlainStore {
    override matching (state: State, filter: UserFilter) {
      return super.matching(state, change(filter))
    }
  })
}

function fieldsWhere (title: string, isKept: (value: Value) => boolean): Mistake {
  return asks(title, (filter) => ({
    ...filter, fields: Object.fromEntries(Object.entries(filter.fields).filter(([, value]) => isKept(value)))
  }))
}

function numbers (title: string, same: (stored: number, wanted: number) => boolean): Mistake {
  return compares(title, (stored, wanted, really) => {
    return typeof stored === 'number' && typeof wanted === 'number' ? same(stored, wanted) : really
  })
}

function texts (title: string, same: (stored: string, wanted: string) => boolean): Mistake {
  return compares(title, (stored, wanted, really) => {
    return typeof stored === 'string' && typeof wanted === 'string' ? same(stored, wanted) : really
  })
}

function contains (value: Json, name: string, wanted: Value): boolean {
  if (!isObject(value)) return false
  return (Object.hasOwn(value, name) && value[name] === wanted) ||
    Object.values(value).some((member) => contains(member, name, wanted))
}

function fold (text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '')
}

export const listsFilters: Mistake[] = [
  asks('a filter takes an empty e-mail key for none', (filter) => ({ ...filter, emailKey: filter.emailKey || null })),
  asks('a filter by fields is left out beside words', (filter) => filter.words === null
    ? filter
    : { ...filter, fields: {} }),
  asks('a filter by fields is left out beside an e-mail key', (filter) => filter.emailKey === null
    ? filter
    : { ...filter, fields: {} }),
  asks('words are left out beside an e-mail key', (filter) => filter.emailKey === null
    ? filter
    : { ...filter, words: null }),
  asks('a filter uses its first field only', (filter) => ({
    ...filter, fields: Object.fromEntries(Object.entries(filter.fields).slice(0, 1))
  })),
  asks('a filter uses its first three fields only', (filter) => ({
    ...filter, fields: Object.fromEntries(Object.entries(filter.fields).slice(0, 3))
  })),
  fieldsWhere('a filter ignores false', (value) => value !== false),
  fieldsWhere('a filter ignores 0', (value) => value !== 0),
  fieldsWhere('a filter ignores an empty text', (value) => value !== ''),
  compares('a filter takes a number and its text for equal', (stored, wanted) => {
    return typeof stored !== 'object' && String(stored) === String(wanted)
  }),
  compares('a filter takes 1 and true for equal', (stored, wanted, really) => {
    return really || (typeof stored === 'boolean' ? Number(stored) : stored) === Number(wanted)
  }),
  compares('a filter for false finds users without the field', (stored, wanted, really) => {
    return really || (wanted === false && stored === undefined)
  }),
  compares('a filter for an empty text finds users without the field', (stored, wanted, really) => {
    return really || (wanted === '' && stored === undefined)
  }),
  compares('a filter for 0 finds users with null', (stored, wanted, really) => {
    return really || (wanted === 0 && stored === null)
  }),
  compares('a filter finds users without the field', (stored, _wanted, really) => really || stored === undefined),
  compares('a filter finds a value in an array', (stored, wanted, really) => {
    return really || (Array.isArray(stored) && stored.includes(wanted))
  }),
  compares('a filter for a text finds the JSON of an object', (stored, wanted, really) => {
    return really || (typeof stored === 'object' && JSON.stringify(stored) === wanted)
  }),
  compares('a filter for the text null finds null', (stored, wanted, really) => {
    return really || (stored === null && wanted === 'null')
  }),
  texts('a filter ignores case in texts', (stored, wanted) => stored.toLowerCase() === wanted.toLowerCase()),
  texts('a filter ignores accents in texts', (stored, wanted) => fold(stored) === fold(wanted)),
  texts('a filter ignores spaces at the end of texts', (stored, wanted) => stored.trimEnd() === wanted.trimEnd()),
  texts('a filter compares the first 255 characters of texts', (stored, wanted) => {
    return stored.slice(0, 255) === wanted.slice(0, 255)
  }),
  texts('a filter does not find texts of more than 256 characters', (stored, wanted) => {
    return stored.length <= 256 && stored === wanted
  }),
  texts('a filter for a text finds longer ones that begin with it', (stored, wanted) => stored.startsWith(wanted)),
  texts('a filter for a text finds its words in any order', (stored, wanted) => {
    return stored.split(' ').toSorted().join(' ') === wanted.split(' ').toSorted().join(' ')
  }),
  texts('a filter takes composed and decomposed texts for equal', (stored, wanted) => {
    return stored.normalize('NFC') === wanted.normalize('NFC')
  }),
  texts('a filter does not find a text with a quote', (stored, wanted) => !/['"]/.test(wanted) && stored === wanted),
  texts('a filter takes an underscore in a text for any character', (stored, wanted) => {
    return stored.length === wanted.length && [...wanted].every((char, index) => char === '_' || char === stored[index])
  }),
  numbers('a filter compares numbers with a tolerance', (stored, wanted) => Math.abs(stored - wanted) < 1e-6),
  numbers('a filter compares whole numbers in 32 bits', (stored, wanted) => {
    return Number.isInteger(stored) && Number.isInteger(wanted) ? (stored | 0) === (wanted | 0) : stored === wanted
  }),
  numbers('a filter compares numbers as 32-bit floats', (stored, wanted) => {
    return Math.fround(stored) === Math.fround(wanted)
  }),
  numbers('a filter takes decimals for whole numbers', (stored, wanted) => Math.trunc(stored) === Math.trunc(wanted)),
  numbers('a filter does not find numbers above 2147483647', (stored, wanted) => stored === wanted && wanted < 2 ** 31),
  numbers('a filter does not find negative numbers', (stored, wanted) => stored === wanted && wanted >= 0),
  plant('a filter joins fields by or', class extends PlainStore {
    override matchesFields (fields: JsonObject, wanted: UserFilter['fields']) {
      const entries = Object.entries(wanted)
      return entries.length === 0 || entries.some(([name, value]) => this.hasField(fields, name, value))
    }
  }),
  plant('a filter finds a member in nested objects', class extends PlainStore {
    override hasField (fields: JsonObject, name: string, value: Value) {
      return contains(fields, name, value)
    }
  }),
  plant('a filter ignores case in names of fields', class extends PlainStore {
    override hasField (fields: JsonObject, name: string, value: Value) {
      return Object.entries(fields).some(([other, stored]) => {
        return other.toLowerCase() === name.toLowerCase() && stored === value
      })
    }
  }),
  plant('a filter by a field named constructor finds every user', class extends PlainStore {
    override hasField (fields: JsonObject, name: string, value: Value) {
      return (name in {} && name !== '__proto__') || super.hasField(fields, name, value)
    }
  }),
  plant('a filter by a field named name looks at the user\'s name', class extends PlainStore {
    override matches (row: UserRow, filter: UserFilter) {
      const wanted = filter.fields['name']
      if (wanted === undefined) return super.matches(row, filter)
      const { name, ...fields } = filter.fields
      return row.user.name === name && super.matches(row, { ...filter, fields })
    }
  }),
  plant('a filter finds the values from before an update', class extends PlainStore {
    indexed = new Map<string, JsonObject>()

    override matches ({ user, keys }: UserRow, filter: UserFilter) {
      const fields = this.indexed.get(user.id) ?? user.fields
      return super.matches({ user: { ...user, fields }, keys }, filter)
    }

    override applyUpdate (...given: Parameters<PlainStore['applyUpdate']>) {
      const { user } = given[1]
      if (!this.indexed.has(user.id)) this.indexed.set(user.id, user.fields)
      return super.applyUpdate(...given)
    }
  }),
  plant('a filter finds the values from before an update too', class extends PlainStore {
    before = new Map<string, UserRow[]>()

    override matches (row: UserRow, filter: UserFilter) {
      return [row, ...this.before.get(row.user.id) ?? []].some((version) => super.matches(version, filter))
    }

    override applyUpdate (...given: Parameters<PlainStore['applyUpdate']>) {
      const { id } = given[1].user
      const result = super.applyUpdate(...given)
      if (result.changed) this.before.set(id, [...this.before.get(id) ?? [], given[1]])
      return result
    }
  }),
  plant('the total ignores the filter', class extends PlainStore {
    override usersOf (...given: Parameters<PlainStore['usersOf']>) {
      return { ...super.usersOf(...given), total: given[0].users.size }
    }
  }),
  plant('the total ignores the filter by fields', class extends PlainStore {
    override usersOf (...[state, filter, page]: Parameters<PlainStore['usersOf']>) {
      const total = this.matching(state, { ...filter, fields: {} }).length
      return { ...super.usersOf(state, filter, page), total }
    }
  }),
  plant('the total ignores the words', class extends PlainStore {
    override usersOf (...[state, filter, page]: Parameters<PlainStore['usersOf']>) {
      return { ...super.usersOf(state, filter, page), total: this.matching(state, { ...filter, words: null }).length }
    }
  }),
  plant('the total counts a user twice that has two words of a search', class extends PlainStore {
    override usersOf (...[state, filter, page]: Parameters<PlainStore['usersOf']>) {
      const { items, total } = super.usersOf(state, filter, page)
      const [[word] = []] = filter.words ?? []
      if (word === undefined) return { items, total }
      const rows = [...state.users.values()].filter((row) => this.matches(row, filter))
      const isTwice = ({ keys }: UserRow) => this.wordsOf(keys).filter((each) => each.startsWith(word)).length > 1
      return { items, total: total + rows.filter(isTwice).length }
    }
  })
]
