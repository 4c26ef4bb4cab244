import { type Fault, UsersError, validationFailed } from '../errors.ts'
import { isUserId, newId } from '../ids.ts'
import { fromStorage } from '../storage-errors.ts'
import type { Page, PageRequest, Storage, UserRecord, VersionGuard } from '../storage.ts'
import { type CheckedListQuery, checkListQuery, type Limits, type ListQuery } from './list-query.ts'
import { checkCreate, checkUpdate } from './rules.ts'

/** The versions a precondition names: one, several, or any at all. */
export type Versions = '*' | number | readonly number[]

/** Preconditions of a write (RFC 9110 section 13.1), on the user's `version`. */
export interface WriteOptions {
  /** The user must have this version; `*`: it must exist. */
  ifMatch?: Versions
  /** The user must not have this version; `*`: it must not exist. */
  ifNoneMatch?: Versions
}

/** A page of users, and whether there are more behind it. */
export interface UserPage extends Page<UserRecord> {
  query: CheckedListQuery
  more: boolean
}

export interface UsersServiceOptions {
  storage: Storage
  limits: Limits
  requireIfMatch: boolean
}

export type UsersService = ReturnType<typeof createUsersService>

function listOf (versions: number | readonly number[]): readonly number[] {
  return typeof versions === 'number' ? [versions] : versions
}

function guardOf ({ ifMatch, ifNoneMatch }: WriteOptions): VersionGuard {
  return {
    // If-None-Match: * holds for a user that does not exist; one that does has no version that would pass.
    ifVersion: ifNoneMatch === '*' ? [] : ifMatch === undefined || ifMatch === '*' ? null : listOf(ifMatch),
    unlessVersion: ifNoneMatch === undefined || ifNoneMatch === '*' ? [] : listOf(ifNoneMatch)
  }
}

function refuse<Checked extends object> (found: readonly Fault[], checked: Checked | { faults: Fault[] }): asserts checked is Checked {
  const faults = 'faults' in checked ? [...found, ...checked.faults] : found
  if (faults.length > 0) throw validationFailed(faults)
}

/**
 * What can be done with users, without HTTP: the rules, and the order validation → existence → precondition → uniqueness.
 * Every method takes what a stranger sent and throws UsersError alone. `found` are faults that the caller knows already, so that all are told at once.
 */
export function createUsersService ({ storage, limits, requireIfMatch }: UsersServiceOptions) {
  const notFound = () => new UsersError('user_not_found')

  async function get (id: string): Promise<UserRecord> {
    const user = isUserId(id) ? await fromStorage(storage.findUser(id)) : null
    if (user === null) throw notFound()
    return user
  }

  async function requireCondition (id: string, { ifMatch }: WriteOptions): Promise<void> {
    if (!requireIfMatch || ifMatch !== undefined) return
    await get(id)
    throw new UsersError('precondition_required', { errors: [{ header: 'if-match', code: 'required', detail: 'is required' }] })
  }

  async function create (input: unknown, found: readonly Fault[] = []): Promise<UserRecord> {
    const checked = checkCreate(input)
    refuse(found, checked)
    const { name, email } = checked
    const now = new Date().toISOString()
    const user = { id: newId('usr'), name: name.value, email: email.value, version: 1, createdAt: now, updatedAt: now }
    await fromStorage(storage.createUser(user, { emailKey: email.key, nameKey: name.key }))
    return user
  }

  async function change (id: string, patch: unknown, options: WriteOptions, whole: boolean, found: readonly Fault[] = []): Promise<UserRecord> {
    const checked = checkUpdate(patch, id, whole)
    refuse(found, checked)
    if (!isUserId(id)) throw notFound()
    await requireCondition(id, options)
    const result = await fromStorage(storage.updateUser(id, checked.changes, new Date().toISOString(), guardOf(options)))
    if (result === null) throw notFound()
    return result.user
  }

  async function remove (id: string, options: WriteOptions): Promise<void> {
    if (!isUserId(id)) throw notFound()
    await requireCondition(id, options)
    if (await fromStorage(storage.deleteUser(id, guardOf(options))) === null) throw notFound()
  }

  async function list (query: Readonly<Record<string, unknown>>, found: readonly Fault[] = []): Promise<UserPage> {
    const checked = checkListQuery(query, limits, found)
    const { limit, order, filter, start } = checked
    if ('page' in start) {
      const offset = (start.page - 1) * limit
      const page = await fromStorage(storage.listUsers(filter, { order, limit, from: { offset } }))
      return { ...page, query: checked, more: offset + limit < page.total }
    }
    // One more than asked for tells whether a next page exists.
    const { items, total } = await fromStorage(storage.listUsers(filter, { order, limit: limit + 1, from: start }))
    return { items: items.slice(0, limit), total, query: checked, more: items.length > limit }
  }

  async function * iterate ({ sort, email, q }: Pick<ListQuery, 'sort' | 'email' | 'q'>): AsyncGenerator<UserRecord, void, undefined> {
    const { order, filter } = checkListQuery({ sort, email, q }, limits)
    let from: PageRequest['from'] = { offset: 0 }
    while (true) {
      const { items }: Page<UserRecord> = await fromStorage(storage.listUsers(filter, { order, limit: limits.max, from }))
      yield * items
      const last: UserRecord | undefined = items.at(-1)
      if (last === undefined || items.length < limits.max) return
      from = { after: last.id }
    }
  }

  return { get, create, change, remove, list, iterate }
}
