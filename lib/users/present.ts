import type { FastifyBaseLogger } from 'fastify'
import type { Fields } from '../fields/fields.ts'
import { type ListedPage, listMeta } from '../paging.ts'
import type { JsonObject, UserRecord } from '../storage.ts'
import type { User } from './types.ts'

/** How users are shown: in process, and as JSON text over HTTP. */
export interface Presenter {
  user (record: UserRecord): User
  userJson (record: UserRecord): string
  /** A list in its envelope. */
  listJson (page: ListedPage<UserRecord>): string
}

// Member by member, so that nothing else of a record can ever reach an answer.
const user = ({ id, name, email, version, createdAt, updatedAt }: UserRecord): User => ({ id, name, email, version, createdAt, updatedAt })
const view = ({ id, name, email, createdAt, updatedAt }: UserRecord): object => ({ id, name, email, createdAt, updatedAt })

function presenterOf (user: (record: UserRecord) => User, view: (record: UserRecord) => object): Presenter {
  return {
    user,
    userJson: (record) => JSON.stringify(view(record)),
    listJson: (page) => JSON.stringify({ data: page.items.map(view), meta: listMeta(page) })
  }
}

/** Users with the fields that the host has declared, as they are stored. One that was stored under an older schema is told to the log, once. */
export function createPresenter (fields: Fields | null, log: FastifyBaseLogger): Presenter {
  if (fields === null) return presenterOf(user, view)
  let told = false

  const { fits, has } = fields

  function declared ({ id, fields: stored }: UserRecord): JsonObject {
    if (!told && !fits(stored)) {
      told = true
      log.warn({ userId: id }, 'a user is stored under another schema than that of the option fields: it is served as it is, and so are others')
    }
    return Object.fromEntries(Object.entries(stored).filter(([name]) => has(name)))
  }

  return presenterOf(
    (record) => {
      const { id, name, email, version, createdAt, updatedAt } = record
      return { id, name, email, ...declared(record), version, createdAt, updatedAt }
    },
    (record) => {
      const { id, name, email, createdAt, updatedAt } = record
      return { id, name, email, ...declared(record), createdAt, updatedAt }
    }
  )
}
