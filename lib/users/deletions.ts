import { type Call, type CallerId, type Context, FROM_PROCESS, IN_PROCESS, type ReadCall } from '../core/context.ts'
import { validationFailed } from '../core/errors.ts'
import { isUserId } from '../core/ids.ts'
import { type ListedPage, type PageSize, pagingParameters, readPage, readPaging } from '../core/paging.ts'
import { parameterFaults, type Parameters } from '../core/parameters.ts'
import type { Repository } from '../storage/repository.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { UserRecord, VersionGuard } from '../storage/storage.ts'
import type { DeletedUser, Trash } from '../storage/trash.ts'
import type { UserWrite } from '../storage/user-writes.ts'
import { type CreateOptions, idempotencyKeyFaults, idempotencyOf } from './idempotency.ts'
import { doneOf, publishedTypes, type PublishUser, type ScopeOf, writeAlone } from './outcomes.ts'
import { findIn, type RequirePrecondition, throwFaults, userNotFound } from './write-checks.ts'
import { type DeleteOptions, deletionFaults, guardOf, type WriteOptions, writeOptionsFaults } from './write-options.ts'

// Purge as many users in one step: each is a write.
const PURGED_TOGETHER = 100

const ANY: VersionGuard = { ifVersion: null, unlessVersion: [] }

/** The option `trash`: seconds that a deleted user can be restored. */
export interface TrashOption { retention: number }

export interface DeletionParts {
  repository: Repository
  scopeOf: ScopeOf
  pageSize: PageSize
  /** Null: a deletion is final. */
  trash: TrashOption | null
  /** Seconds that an idempotency key is kept. */
  idempotencyTtl: number
  publish: PublishUser
  makeEvent: MakeEvent
  requirePrecondition: RequirePrecondition
}

/** Options of a restoration. */
export interface RestoreOptions extends WriteOptions, CreateOptions {}

/** A call that may have to look up whose idempotency key it has. */
export interface KeyedCall extends Call {
  ownerOf?: () => Promise<CallerId | null>
}

/** Declares the parameters of the list of deleted users. */
export function trashParameters (size: PageSize): Parameters {
  const { page, limit } = pagingParameters(size, /^/)
  return { page, limit }
}

/** The write of a deletion: `final` for one that can't be undone. */
export function deletionOf (
  { trash, makeEvent }: Pick<DeletionParts, 'trash' | 'makeEvent'>,
  { id, guard, erase, final }: { id: string, guard: VersionGuard, erase: boolean, final: boolean },
  context: Context
): UserWrite {
  const { actor } = context
  if (trash !== null && (final || erase)) {
    return { type: 'purge', id, putAwayBefore: null, guard, event: makeEvent('user.purged', context), erase }
  }
  const event = makeEvent('user.deleted', context)
  if (trash === null) return { type: 'delete', id, guard, event, erase }
  const deletedBy = actor === null ? null : { type: actor.type, id: actor.id, name: actor.name }
  return { type: 'delete', id, guard, event, erase: false, putAway: { deletedAt: new Date().toISOString(), deletedBy } }
}

/** Deletions of users, and what undoes them and makes them final. They throw UsersError alone. */
export function createDeletions (parts: DeletionParts) {
  const { repository, scopeOf, pageSize, trash, idempotencyTtl, publish, makeEvent, requirePrecondition } = parts
  const declared = trashParameters(pageSize)
  const away = (): Trash => {
    if (trash !== null) return repository.trash
    throw new TypeError('fastify-users: deleted users are kept only with the option trash')
  }

  const isThere = async (id: string, tenant: string | undefined): Promise<boolean> =>
    isUserId(id) && (await findIn(repository, id, tenant) !== null || await repository.trash.find(id, tenant) !== null)

  /** Erases a user that was deleted before: its events, and what a mount with the option `trash` has put away. */
  async function eraseAfterwards (id: string, call: Call): Promise<void> {
    const { context, tenant } = call
    if (await fromStorage(() => repository.trash.find(id, tenant)) !== null) {
      const event = makeEvent('user.purged', context)
      const write = { type: 'purge', id, putAwayBefore: null, guard: ANY, event, erase: true } as const
      const { outcome } = await writeAlone(repository, write, scopeOf(call))
      if (outcome.code === 'done') return publishDeletion(write, doneOf(outcome), context)
    }
    const erased = await fromStorage(() => repository.events.erase(id, tenant))
    if (erased === 0) throw userNotFound()
  }

  async function remove (
    id: string,
    { erase = false, purge = false, ...options }: DeleteOptions,
    call: Call = FROM_PROCESS
  ): Promise<void> {
    const { context, priorFaults, tenant } = call
    const isLogged = makeEvent('user.deleted', context) !== null
    const faults = deletionFaults({ erase, purge }, { isLogged, hasTrash: trash !== null })
    throwFaults([...priorFaults, ...writeOptionsFaults(options), ...faults], {})
    if (!isUserId(id)) throw userNotFound()
    // If-Match can’t hold for a user who was deleted earlier: only events are left, and they have no version.
    const mayBeGone = erase && options.ifMatch === undefined
    const isFinal = erase || purge
    if (!mayBeGone || await fromStorage(() => isThere(id, tenant))) {
      await requirePrecondition(id, options, tenant, ...isFinal ? [() => isThere(id, tenant)] as const : [])
    }
    const write = deletionOf(parts, { id, guard: guardOf(options), erase, final: isFinal }, context)
    const { outcome } = await writeAlone(repository, write, scopeOf(call))
    if (outcome.code === 'not_found' && mayBeGone) return eraseAfterwards(id, call)
    publishDeletion(write, doneOf(outcome), context)
  }

  function publishDeletion (
    { type, event }: UserWrite, { user, types }: ReturnType<typeof doneOf>, context: Context
  ): void {
    for (const [each, recorded] of publishedTypes(type === 'purge' ? 'user.purged' : 'user.deleted', types, event)) {
      publish(each, user, context, recorded)
    }
  }

  async function restore (
    id: string,
    { idempotencyKey, ...options }: RestoreOptions,
    call: KeyedCall = FROM_PROCESS
  ): Promise<{ user: UserRecord, replayed: boolean }> {
    const { context, priorFaults, ownerOf } = call
    away()
    throwFaults([...priorFaults, ...writeOptionsFaults(options), ...idempotencyKeyFaults(idempotencyKey)], {})
    if (!isUserId(id)) throw userNotFound()
    const owner = ownerOf === undefined ? context.actor : await ownerOf()
    const idempotency = idempotencyKey === undefined
      ? null
      : idempotencyOf(idempotencyKey, ['restore', id, options], owner, idempotencyTtl)
    const event = makeEvent('user.restored', context)
    const write = { type: 'restore', id, updatedAt: new Date().toISOString(), guard: guardOf(options), event } as const
    const { outcome, replayed } = await writeAlone(repository, write, scopeOf(call), idempotency)
    const { user } = doneOf(outcome)
    if (!replayed) publish('user.restored', user, context, event)
    return { user, replayed }
  }

  async function listDeleted (
    query: Readonly<Record<string, unknown>>,
    { priorFaults = [], tenant }: ReadCall = {}
  ): Promise<ListedPage<DeletedUser>> {
    const { list } = away()
    const faults = priorFaults.concat(parameterFaults(declared, query))
    const paging = readPaging(query, pageSize, faults)
    if (faults.length > 0) throw validationFailed(faults)
    return readPage(paging, ({ from, limit }) =>
      fromStorage(() => list({ offset: 'offset' in from ? from.offset : 0, limit, tenant })))
  }

  /** Purges what was put away at this moment or before, in steps, as long as `goesOn`. Returns how many users. */
  async function purgeExpired (before: string, goesOn: () => boolean): Promise<number> {
    let count = 0
    while (goesOn()) {
      const ids = await fromStorage(() => away().expired(before, PURGED_TOGETHER))
      if (ids.length === 0) break
      const writes = ids.map((id) => {
        const event = makeEvent('user.purged', IN_PROCESS)
        return { type: 'purge', id, putAwayBefore: before, guard: ANY, event, erase: false } as const
      })
      const { outcomes } = await fromStorage(() => repository.users.write(writes, { atomic: false, idempotency: null }))
      let done = 0
      for (const [i, outcome] of outcomes.entries()) {
        if (outcome.code !== 'done' || outcome.user === null) continue
        publish('user.purged', outcome.user, IN_PROCESS, writes[i]?.event ?? null)
        done++
      }
      count += done
      // Other processes purge them too.
      if (done === 0) break
    }
    return count
  }

  return { remove, restore, listDeleted, purgeExpired }
}
