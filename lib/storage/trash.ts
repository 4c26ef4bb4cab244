// The users that were deleted and can be restored. They are in no list, look-up or total, and hold no address and no
// value of a unique field.

import { userIn } from './decide-users.ts'
import type { Page, UserRecord } from './records.ts'
import type { Row, Storage } from './storage.ts'
import { belongsTo } from './storage-rules.ts'
import type { PutAway } from './user-writes.ts'

/** A user that is put away, as it was at its deletion. */
export interface DeletedUser extends PutAway {
  user: UserRecord
  /** The ids of the groups that it was in. */
  groups?: string[]
}

/** Which users that are put away are read. */
export interface TrashRequest {
  offset: number
  limit: number
  /** Only users of this tenant. */
  tenant?: string | undefined
}

export type Trash = ReturnType<typeof createTrash>

function deletedIn (row: Row<'trash'>): DeletedUser {
  const { deletedAt, deletedBy, groups } = row.record
  return { user: userIn(row), deletedAt, deletedBy, ...(groups !== undefined && { groups }) }
}

/** Reads the trash of a store. */
export function createTrash (storage: Storage) {
  return {
    /** The user that is put away under this id, or `null`. `tenant`: null, if it belongs to another. */
    async find (id: string, tenant?: string): Promise<DeletedUser | null> {
      const [row] = await storage.find('trash', [{ id }])
      return row == null || !belongsTo(row.record, tenant) ? null : deletedIn(row)
    },

    /**
     * A page of the users that are put away, the latest first (of one moment, by id, the greatest first), with their
     * exact number, both from one snapshot.
     */
    async list ({ offset, limit, tenant }: TrashRequest): Promise<Page<DeletedUser>> {
      const page = { order: 'desc', limit, from: { offset } } as const
      const of = tenant === undefined ? {} : { tenant }
      const { items, total } = await storage.list('trash', { by: 'deletedAt', page, ...of })
      return { items: items.map(deletedIn), total }
    },

    /** The ids of at most `limit` users that were put away at this moment or before, the oldest first. */
    async expired (before: string, limit: number): Promise<string[]> {
      const { items } = await storage.list('trash', {
        upTo: { member: 'deletedAt', value: before },
        by: 'deletedAt',
        page: { order: 'asc', limit, from: { offset: 0 } }
      })
      return items.map(({ record: { id } }) => id)
    }
  }
}
