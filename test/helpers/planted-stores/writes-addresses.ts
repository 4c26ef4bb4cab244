// Mistakes of stores that keep an index of addresses beside their users.
import type { UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State, UserRow } from './state.ts'

/** A store that remembers every address of a user, and asks an index who has an address. */
class IndexedStore extends PlainStore {
  holders = new Map<string, string>()
  everyKeyOf = new Map<string, Set<string>>()

  override requireFreeEmail (_state: State, emailKey: string, id: string) {
    const holder = this.holders.get(emailKey)
    if (holder !== undefined && holder !== id) throw this.emailTaken(emailKey)
  }

  override putUser (state: State, row: UserRow) {
    const { id } = row.user
    const before = state.users.get(id)?.keys.emailKey
    if (before !== undefined && before !== row.keys.emailKey) this.free(id, before)
    super.putUser(state, row)
    this.holders.set(row.keys.emailKey, id)
    this.everyKeyOf.set(id, new Set([...this.everyKeyOf.get(id) ?? [], row.keys.emailKey]))
  }

  override removeUser (state: State, row: UserRow): UserRecord {
    this.freeOf(row)
    return super.removeUser(state, row)
  }

  free (_id: string, emailKey: string) {
    this.holders.delete(emailKey)
  }

  freeOf ({ user, keys }: UserRow) {
    this.free(user.id, keys.emailKey)
  }
}

export const writesAddresses: Mistake[] = [
  plant('deleteUser frees every address that its user ever had', class extends IndexedStore {
    override freeOf ({ user }: UserRow) {
      for (const emailKey of this.everyKeyOf.get(user.id) ?? []) this.free(user.id, emailKey)
    }
  }),
  plant('updateUser frees every address that its user ever had', class extends IndexedStore {
    override free (id: string, emailKey: string) {
      super.free(id, emailKey)
      for (const each of this.everyKeyOf.get(id) ?? []) super.free(id, each)
    }

    override freeOf ({ keys }: UserRow) {
      this.holders.delete(keys.emailKey)
    }
  })
]
