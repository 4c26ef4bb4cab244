import { type Call, FROM_PROCESS } from '../context.ts'
import { type Fault, UsersError, validationFailed } from '../errors.ts'
import type { Publish } from '../events.ts'
import { isUserId, newId } from '../ids.ts'
import { fromStorage } from '../storage-errors.ts'
import { type Limits, type ListedPage, readPage, unknownParameters } from '../paging.ts'
import type { Creation, Page, PageRequest, Storage, UserRecord } from '../storage.ts'
import { type CreateOptions, idempotencyOf, judgeCreateOptions } from './idempotency.ts'
import { checkListQuery, type ListQuery } from './list-query.ts'
import { checkCreate, checkUpdate } from './rules.ts'
import { guardOf, judgeWriteOptions, type WriteOptions } from './write-options.ts'

export interface UsersServiceOptions {
  storage: Storage
  limits: Limits
  requireIfMatch: boolean
  /** Seconds that an idempotency key is kept. */
  idempotencyTtl: number
  publish: Publish
}

export type UsersService = ReturnType<typeof createUsersService>

function refuse<Checked extends object> (found: readonly Fault[], checked: Checked | { faults: Fault[] }): asserts checked is Checked {
  const faults = 'faults' in checked ? [...found, ...checked.faults] : found
  if (faults.length > 0) throw validationFailed(faults)
}

/**
 * What can be done with users, without HTTP: the rules, and the order validation → existence → precondition → uniqueness.
 * Every method takes what a stranger sent and throws UsersError alone.
 */
export function createUsersService ({ storage, limits, requireIfMatch, idempotencyTtl, publish }: UsersServiceOptions) {
  const notFound = () => new UsersError('user_not_found')

  async function get (id: string): Promise<UserRecord> {
    const user = isUserId(id) ? await fromStorage(() => storage.findUser(id)) : null
    if (user === null) throw notFound()
    return user
  }

  async function requireCondition (id: string, { ifMatch }: WriteOptions): Promise<void> {
    if (!requireIfMatch || ifMatch !== undefined) return
    await get(id)
    throw new UsersError('precondition_required', { errors: [{ header: 'if-match', code: 'required', detail: 'is required' }] })
  }

  async function create (input: unknown, options: CreateOptions, { context, found }: Call = FROM_PROCESS): Promise<Creation> {
    const checked = checkCreate(input)
    refuse([...found, ...judgeCreateOptions(options)], checked)
    const { idempotencyKey } = options
    const { name, email } = checked
    const now = new Date().toISOString()
    const user = { id: newId('usr'), name: name.value, email: email.value, version: 1, createdAt: now, updatedAt: now }
    const idempotency = idempotencyKey === undefined ? null : idempotencyOf(idempotencyKey, input, context, idempotencyTtl)
    const creation = await fromStorage(() => storage.createUser(user, { emailKey: email.key, nameKey: name.key }, idempotency))
    if (!creation.replayed) publish('user.created', creation.user, context)
    return creation
  }

  async function change (id: string, patch: unknown, options: WriteOptions, whole: boolean, { context, found }: Call = FROM_PROCESS): Promise<UserRecord> {
    const checked = checkUpdate(patch, id, whole)
    refuse([...found, ...judgeWriteOptions(options)], checked)
    if (!isUserId(id)) throw notFound()
    await requireCondition(id, options)
    const result = await fromStorage(() => storage.updateUser(id, checked.changes, new Date().toISOString(), guardOf(options)))
    if (result === null) throw notFound()
    if (result.changed) publish('user.updated', result.user, context)
    return result.user
  }

  async function remove (id: string, options: WriteOptions, { context, found }: Call = FROM_PROCESS): Promise<void> {
    refuse([...found, ...judgeWriteOptions(options)], {})
    if (!isUserId(id)) throw notFound()
    await requireCondition(id, options)
    const user = await fromStorage(() => storage.deleteUser(id, guardOf(options)))
    if (user === null) throw notFound()
    publish('user.deleted', user, context)
  }

  async function list (query: Readonly<Record<string, unknown>>, found: readonly Fault[] = []): Promise<ListedPage<UserRecord>> {
    const checked = checkListQuery(query, limits, found)
    return readPage(checked, (page) => fromStorage(() => storage.listUsers(checked.filter, page)))
  }

  async function * iterate ({ sort, email, q, ...others }: Pick<ListQuery, 'sort' | 'email' | 'q'>): AsyncGenerator<UserRecord, void, undefined> {
    const { order, filter } = checkListQuery({ sort, email, q }, limits, unknownParameters(Object.keys(others)))
    let from: PageRequest['from'] = { offset: 0 }
    while (true) {
      const { items }: Page<UserRecord> = await fromStorage(() => storage.listUsers(filter, { order, limit: limits.max, from }))
      yield * items
      const last: UserRecord | undefined = items.at(-1)
      if (last === undefined || items.length < limits.max) return
      from = { after: last.id }
    }
  }

  return { get, create, change, remove, list, iterate }
}
