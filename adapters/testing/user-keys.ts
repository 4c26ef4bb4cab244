import { WORD_MAX } from '../../lib/core/limits.ts'
import type { UserKeys, UserRecord } from '../../lib/storage/storage.ts'

/** The words of a text. They distinguish more of them than the plugin's words do, because a store compares bytes. */
export function wordsOf (text: string): string[] {
  const words = text.normalize('NFC').toLowerCase().split(/[\0-/:-`{-\x7f\ud800-\udfff]+/u)
  return [...new Set(words.filter((word) => word !== '').map((word) => [...word].slice(0, WORD_MAX).join('')))]
}

/** Keys of a user, and its words, which distinguish more names than the plugin's do. */
export function keysOf ({ name, email }: UserRecord): UserKeys {
  const keys = { emailKey: email.toLowerCase(), nameKey: name.normalize('NFC').toLowerCase() }
  return { ...keys, nameWords: wordsOf(name), emailWords: wordsOf(email) }
}
