import { isUserId } from '../core/ids.ts'
import type { UserRecord } from '../storage/storage.ts'
import { createDigestTable } from './digest-table.ts'
import type { FindHolder } from './import-judge.ts'
import { keysOfUser, textOfKey } from './import-keys.ts'
import { type ImportStore, userOfRow } from './import-store.ts'
import { openSpillFile } from './spill-file.ts'

/** Marks a key that its previous holder gave up. */
const FREE = -1
// A stretch as one number: the length is below 2 ** 20, since own fields have at most 16 KiB.
const LENGTHS = 2 ** 20

/**
 * An import that writes nothing: what it would have written covers what is in the storage. Users are kept in a file,
 * and only where they stand in it in memory.
 */
export async function importOver (
  { find: findStored, isIn }: Pick<ImportStore, 'find' | 'isIn'>, unique: ReadonlySet<string>
): Promise<ImportStore> {
  const file = await openSpillFile()
  const places = createDigestTable()

  const find: FindHolder = async (key) => {
    const place = places.get(textOfKey(key))
    if (place === undefined) return findStored(key)
    if (place === FREE) return null
    const text = await file.read({ position: Math.floor(place / LENGTHS), length: place % LENGTHS })
    const user: UserRecord = JSON.parse(text)
    return user
  }

  // Nobody asks for an id that was made.
  const textsOf = (user: UserRecord): string[] =>
    keysOfUser(user, unique).filter(({ name }) => name !== 'id' || isUserId(user.id)).map(textOfKey)

  /** Keeps a user, and frees the keys that it had before and has no more. */
  async function put (before: UserRecord | null, after: UserRecord): Promise<void> {
    const { position, length } = await file.add(JSON.stringify(after))
    if (before !== null) for (const text of textsOf(before)) places.set(text, FREE)
    for (const text of textsOf(after)) places.set(text, position * LENGTHS + length)
  }

  const memberText = (group: string, user: string): string => `${group} ${user}`
  const join = (groups: readonly string[], user: string): void => {
    for (const group of groups) places.set(memberText(group, user), 0)
  }

  return {
    find,
    isIn: async (group, user) => places.get(memberText(group, user)) !== undefined || isIn(group, user),

    async create (row) {
      // A made id is of no use to anybody, and must be nobody's.
      const user = { ...userOfRow(row), id: row.id ?? `line ${row.line}` }
      await put(null, user)
      join(row.joins, user.id)
      return { id: row.id }
    },

    async update ({ joins }, { target, changes, updatedAt }) {
      join(joins, target.id)
      if (Object.keys(changes).length === 0) return true
      const { name, email, fields, ...standing } = changes
      const user = {
        ...target,
        ...(name !== undefined && { name: name.value }),
        ...(email !== undefined && { email: email.value }),
        ...(fields !== undefined && { fields }),
        ...standing,
        version: target.version + 1,
        updatedAt
      }
      await put(target, user)
      return true
    },

    close: () => file.close()
  }
}

/** The id that a result may show: none that a dry run has made. */
export function shownId (id: string | null): string | null {
  return isUserId(id) ? id : null
}
