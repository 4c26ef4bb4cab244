import { StorageError } from '../../../lib/storage/storage-error.ts'
import { type Mistake, plant, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Delete = Parameters<PlainStore['deleteUser']>
type Removal = Parameters<PlainStore['removeUser']>

export const writesDelete: Mistake[] = [
  plant('deleteUser ignores the guard', class extends PlainStore {
    override async deleteUser (...[id]: Delete) {
      return await super.deleteUser(id, { ifVersion: null, unlessVersion: [] })
    }
  }),
  plant('deleteUser ignores unlessVersion', class extends PlainStore {
    override async deleteUser (...[id, { ifVersion }]: Delete) {
      return await super.deleteUser(id, { ifVersion, unlessVersion: [] })
    }
  }),
  plant('deleteUser throws for an unknown id', class extends PlainStore {
    override async deleteUser (...given: Delete) {
      const user = await super.deleteUser(...given)
      if (user === null) throw new StorageError('fault', 'no record was found to delete')
      return user
    }
  }),
  plant('deleteUser refuses an unknown id as version_mismatch', class extends PlainStore {
    override async deleteUser (...given: Delete) {
      const user = await super.deleteUser(...given)
      if (user === null && given[1].ifVersion !== null) throw new StorageError('version_mismatch', 'another version')
      return user
    }
  }),
  plant('deleteUser gives a user without fields', class extends PlainStore {
    override removeUser (...given: Removal) {
      return { ...super.removeUser(...given), fields: {} }
    }
  }),
  plant('deleteUser gives the user with a version more', class extends PlainStore {
    override removeUser (...given: Removal) {
      const user = super.removeUser(...given)
      return { ...user, version: user.version + 1 }
    }
  }),
  plant('deleteUser gives the id only', class extends PlainStore {
    override removeUser (...given: Removal) {
      const { id } = super.removeUser(...given)
      return untyped({ id })
    }
  }),
  plant('deleteUser gives null for the user that it deletes', class extends PlainStore {
    override async deleteUser (...given: Delete) {
      await super.deleteUser(...given)
      return null
    }
  }),
  plant('deleteUser leaves the user in lists', class extends PlainStore {
    deleted: Array<ReturnType<State['users']['get']>> = []

    override removeUser (...given: Removal) {
      this.deleted.push(given[1])
      return super.removeUser(...given)
    }

    override matching (...given: Parameters<PlainStore['matching']>) {
      const rows = this.deleted.filter((row) => row !== undefined && this.matches(row, given[1]))
      return [...super.matching(...given), ...rows.flatMap((row) => row === undefined ? [] : [row.user])]
    }
  }),
  plant('deleteUser deletes all users of the name', class extends PlainStore {
    override removeUser (...given: Removal) {
      const [{ users }, { keys }] = given
      for (const row of [...users.values()]) if (row.keys.nameKey === keys.nameKey) users.delete(row.user.id)
      return super.removeUser(...given)
    }
  }),
  plant('deleteUser leaves a user that findUser finds', class extends PlainStore {
    trash = new Map<string, Removal[1]>()

    override removeUser (...given: Removal) {
      this.trash.set(given[1].user.id, given[1])
      return super.removeUser(...given)
    }

    override async findUser (id: string) {
      const row = this.trash.get(id)
      return await super.findUser(id) ?? (row === undefined ? null : this.giveUser(row.user))
    }
  }),
  plant('a user comes back by an update after its deletion', class extends PlainStore {
    trash = new Map<string, Removal[1]>()

    override removeUser (...given: Removal) {
      this.trash.set(given[1].user.id, given[1])
      return super.removeUser(...given)
    }

    override checkUpdate (...given: Parameters<PlainStore['checkUpdate']>) {
      return super.checkUpdate(...given) ?? this.trash.get(given[1]) ?? null
    }
  })
]
