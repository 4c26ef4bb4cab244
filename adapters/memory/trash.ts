import { belongsTo } from '../../lib/storage/storage-rules.ts'
import type { DeletedUser, Trash, UserKeys } from '../../lib/storage/storage.ts'
import { SortedMap } from './sorted-map.ts'
import { userOf } from './user-entry.ts'

/** A user that is put away, with the keys that it had. Never changed. */
export interface DeletedEntry extends DeletedUser {
  keys: UserKeys
}

const placeOf = ({ deletedAt, user: { id } }: DeletedUser): string => `${deletedAt} ${id}`

const copyOf = ({ user, deletedAt, deletedBy }: DeletedUser): DeletedUser =>
  ({ user: userOf(user), deletedAt, deletedBy: deletedBy === null ? null : { ...deletedBy } })

/** The users that were put away, in memory. */
export class MemoryTrash implements Trash {
  readonly #entries = new Map<string, DeletedEntry>()
  /** By the moment of the deletion, then by id. */
  readonly #ordered = new SortedMap<DeletedEntry>()

  get (id: string): DeletedEntry | null {
    return this.#entries.get(id) ?? null
  }

  put (entry: DeletedEntry): void {
    this.drop(entry.user.id)
    this.#entries.set(entry.user.id, entry)
    this.#ordered.set(placeOf(entry), entry)
  }

  drop (id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    this.#entries.delete(id)
    this.#ordered.delete(placeOf(entry))
  }

  /** Drops users of a tenant, at most `limit`, and returns how many. */
  dropOf (tenant: string, limit: number): number {
    const going = this.#all().filter(({ user }) => user.tenant === tenant).slice(0, limit)
    for (const { user } of going) this.drop(user.id)
    return going.length
  }

  /** Gives all that belong to no tenant to one. */
  assign (tenant: string): void {
    for (const entry of this.#all()) {
      if (entry.user.tenant === undefined) this.put({ ...entry, user: { ...entry.user, tenant } })
    }
  }

  async find (id: string): ReturnType<Trash['find']> {
    const entry = this.get(id)
    return entry === null ? null : copyOf(entry)
  }

  async list ({ offset, limit, tenant }: Parameters<Trash['list']>[0]): ReturnType<Trash['list']> {
    const seen = this.#all().filter(({ user }) => belongsTo(user, tenant)).reverse()
    return { items: seen.slice(offset, offset + limit).map(copyOf), total: seen.length }
  }

  async expired (before: string, limit: number): Promise<string[]> {
    const count = Math.min(limit, this.#ordered.rank(`${before}!`))
    return this.#ordered.range(0, count).map(({ user }) => user.id)
  }

  #all (): DeletedEntry[] {
    return this.#ordered.range(0, this.#ordered.size)
  }
}
