import { type ListedPage, listMeta } from '../paging.ts'
import type { UserRecord } from '../storage.ts'

// Member by member, so that nothing else of a record can ever reach an answer.
function view ({ id, name, email, createdAt, updatedAt }: UserRecord) {
  return { id, name, email, createdAt, updatedAt }
}

/** A user as JSON text. */
export function userJson (user: UserRecord): string {
  return JSON.stringify(view(user))
}

/** A list as JSON text, in its envelope. */
export function userListJson (page: ListedPage<UserRecord>): string {
  return JSON.stringify({ data: page.items.map(view), meta: listMeta(page) })
}
