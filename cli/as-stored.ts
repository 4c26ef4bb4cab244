import type { UserRecord } from '../lib/storage/storage.ts'
import type { DeletedUser } from '../lib/storage/trash.ts'

const user = ({ fields, ...members }: UserRecord) => ({ ...members, ...fields })

/** Users with their fields as they are stored: nobody has said what they should be. */
export const asStored = {
  user,
  userJson (record: UserRecord): string {
    const { id, name, email, fields, ...rest } = record
    return JSON.stringify({ id, name, email, ...fields, ...rest })
  },
  deletedUser: (deleted: DeletedUser) =>
    ({ ...user(deleted.user), deletedAt: deleted.deletedAt, deletedBy: deleted.deletedBy })
}
