import { belongsTo, type DeletedUser, type Storage } from 'fastify-users/storage'
import type { DeletedEntry, LmdbDatabase } from './database.ts'

export interface LmdbTrash {
  trash: NonNullable<Storage['trash']>
  /** Keeps a user, in place of another one with its id, in the write of its deletion. */
  keep (entry: DeletedEntry): void
  /** Forgets the user with this id, in the write of its restoration or purge. */
  forget (id: string): void
  /** Forgets users of a tenant, in the write of its removal; returns how many. */
  forgetOf (tenant: string, limit: number): number
  /** Gives all that belong to no tenant to one. */
  assign (tenant: string): void
}

const shown = ({ user, deletedAt, deletedBy }: DeletedEntry): DeletedUser => ({ user, deletedAt, deletedBy })

/** The users that are put away, in LMDB. */
export function lmdbTrash ({ deleted, deletedAt, read }: LmdbDatabase): LmdbTrash {
  function forget (id: string): void {
    const entry = deleted.get(id)
    if (entry === undefined) return
    deleted.removeSync(id)
    deletedAt.removeSync([entry.deletedAt, id])
  }

  /** Those that whoever asks may see, the latest first. */
  function seenBy (tenant: string | undefined): DeletedEntry[] {
    return [...deletedAt.getKeys({ reverse: true })].flatMap(([, id]) => deleted.get(id) ?? [])
      .filter(({ user }) => belongsTo(user, tenant))
  }

  return {
    keep (entry) {
      forget(entry.user.id)
      deleted.putSync(entry.user.id, entry)
      deletedAt.putSync([entry.deletedAt, entry.user.id], null)
    },

    forget,

    forgetOf (tenant, limit) {
      const going = seenBy(tenant).slice(0, limit)
      for (const { user } of going) forget(user.id)
      return going.length
    },

    assign (tenant) {
      for (const { user, ...rest } of seenBy(undefined)) {
        if (user.tenant === undefined) deleted.putSync(user.id, { ...rest, user: { ...user, tenant } })
      }
    },

    trash: {
      find: (id) => read(() => {
        const entry = deleted.get(id)
        return entry === undefined ? null : shown(entry)
      }),

      list: ({ offset, limit, tenant }) => read(() => {
        const seen = seenBy(tenant)
        return { items: seen.slice(offset, offset + limit).map(shown), total: seen.length }
      }),

      expired: (before, limit) => read(() =>
        [...deletedAt.getKeys({ end: [before, '\u{10ffff}'], limit })].map(([, id]) => id))
    }
  }
}
