import type { SchemaRequirements, UserChanges, UserFilter, UserKeys, Words } from '../../../lib/storage/storage.ts'
import { leak } from './leaks.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { UserRow } from './state.ts'

/** A mistake in how a word of a search is compared with one of a user. */
function begins (title: string, matches: (word: string, beginning: string) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override begins (word: string, beginning: string) {
      return matches(word, beginning)
    }
  })
}

/** A mistake in which words a user has. */
function owns (title: string, wordsOf: (keys: UserKeys) => Words): Mistake {
  return plant(title, class extends PlainStore {
    override wordsOf (keys: UserKeys) {
      return wordsOf(keys)
    }
  })
}

/** A mistake in the words that a change brings. */
function changes (title: string, change: (keys: UserKeys, given: UserChanges) => UserKeys): Mistake {
  return plant(title, class extends PlainStore {
    override changedRow (...[row, given, at]: Parameters<PlainStore['changedRow']>) {
      const changed = super.changedRow(row, given, at)
      return { ...changed, keys: change({ ...changed.keys, ...wordsIn(row.keys, given) }, given) }
    }
  })
}

const wordsIn = ({ nameWords = [], emailWords = [], fieldWords = [] }: UserKeys, given: UserChanges) => ({
  nameWords: given.name === undefined ? nameWords : given.name.words ?? [],
  emailWords: given.email === undefined ? emailWords : given.email.words ?? [],
  fieldWords: given.fields === undefined ? fieldWords : given.fieldWords ?? []
})

const PATTERN = /[.*+?^${}()|[\]\\]/g

const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '')

export const listsWords: Mistake[] = [
  begins('a search finds text within words', (word, part) => word.includes(part)),
  begins('a search finds whole words only', (word, beginning) => word === beginning),
  begins('a word that is whole is not found', (word, beginning) => word !== beginning && word.startsWith(beginning)),
  begins('words are compared without case', (word, beginning) =>
    word.toLowerCase().startsWith(beginning.toLowerCase())),
  begins('words are compared without accents', (word, beginning) => fold(word).startsWith(fold(beginning))),
  begins('one letter finds nothing', (word, beginning) => beginning.length > 1 && word.startsWith(beginning)),
  begins('a word of more than 50 characters is cut', (word, beginning) => word.startsWith(beginning.slice(0, 50))),
  begins('words that go on with other than ASCII are missed', (word, beginning) =>
    word >= beginning && word < `${beginning}~`),
  begins('words that go on with a private character are missed', (word, beginning) =>
    word >= beginning && word < `${beginning}\uE000`),
  begins('words are compared in Latin-1', (word, beginning) =>
    Buffer.from(word, 'latin1').toString('latin1').startsWith(Buffer.from(beginning, 'latin1').toString('latin1'))),
  owns('words of names alone are found', ({ nameWords = [] }) => nameWords),
  owns('words of addresses are not found', ({ nameWords = [], fieldWords = [] }) => [...nameWords, ...fieldWords]),
  owns('words of fields are not found', ({ nameWords = [], emailWords = [] }) => [...nameWords, ...emailWords]),
  owns('only the first word of each member is found', ({ nameWords = [], emailWords = [], fieldWords = [] }) =>
    [nameWords, emailWords, fieldWords].flatMap((words) => words.slice(0, 1))),
  owns('the words of a user are one text', ({ nameWords = [], emailWords = [], fieldWords = [] }) =>
    [[...nameWords, ...emailWords, ...fieldWords].join('')]),
  plant('one word of a search is enough', class extends PlainStore {
    override hasWords (keys: UserKeys, words: Words) {
      return words.some((word) => this.hasWord(keys, word))
    }
  }),
  plant('the words of a search have to be in their order', class extends PlainStore {
    override hasWords (keys: UserKeys, words: Words) {
      const own = this.wordsOf(keys)
      let from = 0
      return words.every((word) => {
        const at = own.findIndex((each, i) => i >= from && this.begins(each, word))
        from = at + 1
        return at >= 0
      })
    }
  }),
  plant('the words of a search have to be in one member', class extends PlainStore {
    override hasWords ({ nameWords = [], emailWords = [], fieldWords = [] }: UserKeys, words: Words) {
      return [nameWords, emailWords, fieldWords].some((own) =>
        words.every((word) => own.some((each) => this.begins(each, word))))
    }
  }),
  plant('words of two users make a match', class extends PlainStore {
    override matching (...[state, filter]: Parameters<PlainStore['matching']>) {
      const rows = [...state.users.values()]
      return super.matching(state, {
        ...filter,
        words: filter.words?.map((words) => words.filter((word) =>
          rows.filter(({ keys }) => this.hasWord(keys, word)).length !== 1)) ?? null
      })
    }
  }),
  plant('a search uses its first list of words only', class extends PlainStore {
    override matchesSearch (keys: UserKeys, lists: readonly Words[]) {
      return super.matchesSearch(keys, lists.slice(0, 1))
    }
  }),
  plant('all lists of a search have to match', class extends PlainStore {
    override matchesSearch (keys: UserKeys, lists: readonly Words[]) {
      return lists.every((words) => this.hasWords(keys, words))
    }
  }),
  plant('words and an e-mail key are joined by or', class extends PlainStore {
    override matches (row: UserRow, filter: UserFilter) {
      if (filter.words === null || filter.emailKey === null) return super.matches(row, filter)
      return super.matches(row, { ...filter, words: null }) || super.matches(row, { ...filter, emailKey: null })
    }
  }),
  changes('a change of the name keeps the words before', (keys, { name }) =>
    name === undefined ? keys : { ...keys, nameWords: [...keys.nameWords ?? [], 'ann'] }),
  changes('a change of the name loses the words of the address', (keys, { name }) =>
    name === undefined ? keys : { ...keys, emailWords: [] }),
  changes('a change of the address loses its words', (keys, { email }) =>
    email === undefined ? keys : { ...keys, emailWords: [] }),
  changes('a change of the address loses the words of the fields', (keys, { email }) =>
    email === undefined ? keys : { ...keys, fieldWords: [] }),
  changes('a change of the status loses the words', (keys, { status }) =>
    status === undefined ? keys : { ...keys, nameWords: [], emailWords: [] }),
  plant('fields without words keep those before', class extends PlainStore {
    override changedRow (...[row, given, at]: Parameters<PlainStore['changedRow']>) {
      const changed = super.changedRow(row, given, at)
      const { fieldWords = [] } = row.keys
      return given.fields !== undefined && given.fieldWords === undefined
        ? { ...changed, keys: { ...changed.keys, fieldWords } }
        : changed
    }
  }),
  leak('migrate makes no words of other fields', (right) => ({
    migrate: ({ searchable: _searchable, ...others }: SchemaRequirements = {}) => right.migrate(others),
    check: ({ searchable: _searchable, ...others }: SchemaRequirements = {}) => right.check(others)
  })),
  plant('an e-mail key in a filter ignores case', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return stored.toLowerCase() === emailKey.toLowerCase()
    }
  }),
  plant('an e-mail key in a filter takes an underscore for any character', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      const pattern = emailKey.replace(PATTERN, '\\$&').replaceAll('_', '.')
      return stored.length === emailKey.length && new RegExp(`^${pattern}`, 'su').test(stored)
    }
  }),
  plant('an e-mail key in a filter is a prefix', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return stored.startsWith(emailKey)
    }
  }),
  plant('an e-mail key in a filter ignores spaces at its end', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return stored === emailKey.trimEnd()
    }
  })
]
