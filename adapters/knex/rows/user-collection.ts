import type { Collections, Keys, Row } from '../../../lib/storage/storage.ts'
import type { Words } from '../../../lib/storage/storage.ts'
import type { WordList } from '../schema/word-list.ts'
import { type Column, KEY_COLUMNS, USER_COLUMNS, WORD_LIST } from '../tables/columns.ts'
import { type Row as Read, toKeys, toUser, wordsText } from '../tables/rows.ts'
import { memberships, userGroups } from './group-collections.ts'
import {
  ID, json, moment, others as rest, type SqlCollection, type SqlCollections, type StoredColumn, text, VERSION
} from './collections.ts'

/** What no column has: a key that is not known, which a write that changes it gives. */
const UNKNOWN = '\0'
const textOf = (words: Words | undefined): string => words === undefined ? UNKNOWN : wordsText(words)

type UserValue = readonly [column: StoredColumn, of: (row: Row<'users'>) => string, key?: keyof Keys]

/** The members that are written otherwise than as they are. */
const OTHERWISE = new Set(['id', 'version', 'fields'])

/** The value of a member, empty for none. */
function memberValue ({ name, column, kind }: Column): UserValue {
  return [kind === 'moment' ? moment(column) : text(column), ({ record }) => String(Reflect.get(record, name) ?? '')]
}

/** The values of a user, each by itself, since most changes need few. */
function userValues (words: WordList): UserValue[] {
  const listedIn = ({ record, keys }: Row<'users'>) => words.wordsOf(record.fields, keys.fieldWords)
  return [
    [ID, ({ record }) => record.id],
    [VERSION, ({ record }) => String(record.version)],
    ...USER_COLUMNS.filter(({ name }) => !OTHERWISE.has(name)).map(memberValue),
    [text('name_key'), ({ keys }) => keys.nameKey ?? UNKNOWN, 'nameKey'],
    [text('name_words'), ({ keys }) => textOf(keys.nameWords), 'nameWords'],
    [text('email_key'), ({ keys }) => keys.emailKey ?? UNKNOWN, 'emailKey'],
    [text('email_words'), ({ keys }) => textOf(keys.emailWords), 'emailWords'],
    [json('fields'), ({ record }) => JSON.stringify(record.fields)],
    [text('field_words'), (row) => listedIn(row).words ?? UNKNOWN],
    [text(WORD_LIST), (row) => listedIn(row).list]
  ]
}

// The last three of these.
const OF_FIELDS = 3

function users (words: WordList): SqlCollection<'users'> {
  const all = userValues(words)
  const places = all.map((_, i) => i)
  const [others, ofFields] = [places.slice(1, -OF_FIELDS), places.slice(-OF_FIELDS)]
  return {
    table: (names) => names.users,
    columns: all.map(([column]) => column),
    values: (row) => all.map(([, of]) => of(row)),
    changes ({ put, was }) {
      // What was not changed is the same object.
      const keepsFields = put.record.fields === was.record.fields ||
        JSON.stringify(put.record.fields) === JSON.stringify(was.record.fields)
      const keepsWords = put.keys.fieldWords === undefined || put.keys.fieldWords === was.keys.fieldWords
      // A key that is not given stays.
      const may = others.filter((i) => {
        const key = all[i]?.[2]
        return key === undefined || put.keys[key] !== undefined
      })
      // With the list of searched fields, also where they have the same words: the tables may have another list by now.
      return { may, does: keepsFields && keepsWords ? [] : ofFields }
    },
    value: (row, place) => all[place]?.[1](row) ?? '',
    read: [...USER_COLUMNS, ...KEY_COLUMNS],
    toRow: (row) => ({ record: toUser(row), keys: keysIn(row), of: null }),
    members: {},
    of: null,
    alsoSame: { column: moment('updated_at'), valueOf: ({ record }) => record.updatedAt }
  }
}

function keysIn (row: Read): Collections['users']['keys'] {
  const { nameKey, emailKey, nameWords = [], emailWords = [], fieldWords = [] } = toKeys(row)
  return { nameKey, emailKey, nameWords, emailWords, fieldWords }
}

/**
 * All collections. `words`: the words of the users' fields that the tables have. `hasReferences`: the database sees to
 * it that a row goes with another.
 */
export function sqlCollections (words: WordList, hasReferences: boolean): SqlCollections {
  const all = { users: users(words), userGroups, memberships, ...rest }
  if (hasReferences) return all
  return {
    ...all,
    idempotency: { ...rest.idempotency, beside: { users: 'user_id' } },
    memberships: { ...memberships, beside: { userGroups: 'group_id', users: 'member' } }
  }
}
