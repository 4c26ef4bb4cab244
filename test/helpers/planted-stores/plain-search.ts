import type { UserKeys, Words } from '../../../lib/storage/storage.ts'
import { PlainUnique } from './plain-unique.ts'

/** Whether the words of a search are words of a user. */
export class PlainSearch extends PlainUnique {
  /** Races search among thousands. No private member: a store in a transaction has this one as its prototype. */
  readonly known = new WeakMap<UserKeys, Words>()

  matchesSearch (keys: UserKeys, lists: readonly Words[]): boolean {
    return lists.some((words) => this.hasWords(keys, words))
  }

  hasWords (keys: UserKeys, words: Words): boolean {
    const own = this.known.get(keys) ?? this.wordsOf(keys)
    this.known.set(keys, own)
    return words.every((word) => own.some((each) => this.begins(each, word)))
  }

  hasWord (keys: UserKeys, word: string): boolean {
    return this.wordsOf(keys).some((each) => this.begins(each, word))
  }

  wordsOf ({ nameWords = [], emailWords = [], fieldWords = [] }: UserKeys): Words {
    return [...nameWords, ...emailWords, ...fieldWords]
  }

  begins (word: string, beginning: string): boolean {
    return word.startsWith(beginning)
  }
}
