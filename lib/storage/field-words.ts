import type { Searchable, Storage, UserWrite } from './storage.ts'

/** A write with the words of the fields that it stores. */
function withWords (write: UserWrite, { wordsOf }: Searchable): UserWrite {
  if (write.type === 'create') {
    return { ...write, keys: { ...write.keys, fieldWords: wordsOf(write.user.fields) } }
  }
  if (write.type !== 'update') return write
  const { changes } = write
  if (typeof changes !== 'function') {
    return changes.fields === undefined
      ? write
      : { ...write, changes: { ...changes, fieldWords: wordsOf(changes.fields) } }
  }
  return {
    ...write,
    changes (user) {
      const made = changes(user)
      return 'refused' in made || made.fields === undefined ? made : { ...made, fieldWords: wordsOf(made.fields) }
    }
  }
}

/** The same storage, whose writes find users by their fields too. null: none of these is searched. */
export function withFieldWords (storage: Storage, searchable: Searchable | null): Storage {
  if (searchable === null) return storage
  return {
    ...storage,
    writeUsers: (writes, options) => storage.writeUsers(writes.map((write) => withWords(write, searchable)), options)
  }
}
