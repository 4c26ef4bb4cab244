import type { UserRecord } from '../storage.ts'
import type { UserPage } from './service.ts'

/** A list's `meta`: the values that apply to the page; `page` is absent in a walk by `after`. */
export interface ListMeta {
  page?: number
  limit: number
  total: number
}

/** What a list says about itself. */
export function listMeta ({ query: { start, limit }, total }: UserPage): ListMeta {
  return 'page' in start ? { page: start.page, limit, total } : { limit, total }
}

// Member by member, so that nothing else of a record can ever reach an answer.
function view ({ id, name, email, createdAt, updatedAt }: UserRecord) {
  return { id, name, email, createdAt, updatedAt }
}

/** A user as JSON text. */
export function userJson (user: UserRecord): string {
  return JSON.stringify(view(user))
}

/** A list as JSON text, in its envelope. */
export function userListJson (page: UserPage): string {
  return JSON.stringify({ data: page.items.map(view), meta: listMeta(page) })
}
