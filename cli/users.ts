import { eventPresenter } from '../lib/events/presenter.ts'
import { createSubjects, wholeSubject } from '../lib/events/subject.ts'
import { newEvent } from '../lib/storage/recorded-events.ts'
import { repositoryOf } from '../lib/storage/repository.ts'
import type { Storage, UserRecord, UserStatus } from '../lib/storage/storage.ts'
import type { DeletedUser } from '../lib/storage/trash.ts'
import { createUsersService, type UsersService } from '../lib/users/service.ts'
import { asStored } from './as-stored.ts'
import { type Bound, callOf, tenantOf, type TenantOptions } from './common.ts'
import { actorText } from './events.ts'
import { Refusal, UsageError } from './failure.ts'
import { fieldsIn } from './fields.ts'
import { isLogged, secondsOf } from './keys.ts'
import { requireReplaceable, writeFile } from './output-file.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'
import type { Cell } from './table.ts'

const PAGE = 100

/** Options of what is done to a user. */
export interface UserOptions extends TenantOptions {
  /** A file with the JSON Schema of the host's fields: the option `fields` of the server. */
  fields?: string
}

export interface PurgeOptions extends UserOptions {
  yes: boolean
  erase: boolean
  /** Purge all users that were deleted as long ago. */
  olderThan?: string
}

/**
 * The users of a storage. A deletion puts a user away, because the command line does not know whether a server has the
 * option `trash`, and a purge is a command of its own.
 */
export async function usersOf (storage: Storage, options: UserOptions): Promise<Bound<UsersService>> {
  const makeEvent = await isLogged(storage) ? newEvent : () => null
  const service = createUsersService({
    repository: repositoryOf(storage),
    fields: options.fields === undefined ? null : await fieldsIn(options.fields),
    pageSize: { default: PAGE, max: PAGE },
    requireIfMatch: false,
    idempotencyTtl: 0,
    // Nothing ends by itself here: expired users are purged by a command.
    trash: { retention: Infinity },
    publish () {},
    makeEvent
  })
  return { service, call: callOf(options) }
}

/** Says what became of a user; in JSON it is the user. */
async function show (output: Output, user: UserRecord, what: string): Promise<void> {
  await (output.json ? output.value(asStored.user(user)) : output.line(`${user.id} ${what}`))
}

/** Gives a user a status. Without a reason it has none. @throws UsersError */
export async function setStatus (
  { service: users, call }: Bound<UsersService>,
  output: Output,
  id: string,
  status: UserStatus,
  reason: string | undefined
): Promise<void> {
  const user = await users.change(id, { status, statusReason: reason ?? null }, {}, false, call)
  await show(output, user, `is ${status}.`)
}

/** Options of a list. */
export interface ListOptions {
  status?: string
  sort?: string
  limit?: string
}

/** Shows users, with their number. @throws UsersError */
export async function listUsers (
  { service: users, call }: Bound<UsersService>,
  output: Output,
  words: readonly string[],
  { status, sort, limit = '20' }: ListOptions
): Promise<void> {
  const { items, total } = await users.list({
    ...(words.length > 0 && { q: words.join(' ') }),
    ...(status !== undefined && { status }),
    ...(sort !== undefined && { sort }),
    limit: /^\d+$/.test(limit) ? Number(limit) : limit
  }, call)
  if (output.json) return output.value({ data: items.map(asStored.user), total })
  const rows = items.map(({ id, name, email, status, createdAt }): Cell[] => {
    const state: Cell = status === 'active' ? { text: status } : { text: status, tone: 'warning' }
    return [id, name, email, state, { text: output.moment(createdAt) }]
  })
  const heads = ['ID', 'NAME', 'E-MAIL', 'STATUS', 'CREATED']
  if (rows.length > 0) await output.table({ heads, rows, spare: ['CREATED'] })
  await output.line(`${items.length} of ${total} ${total === 1 ? 'user' : 'users'}`)
}

/** Puts a user away. @throws UsersError */
export async function deleteUser (
  { service: users, call }: Bound<UsersService>, output: Output, id: string
): Promise<void> {
  await users.remove(id, {}, call)
  if (output.json) return output.value({ id })
  await output.line(`${id} is deleted, and can be restored until the purge.`)
}

/** One deleted user in a line. */
function lineOf ({ user: { id, name, email }, deletedAt, deletedBy }: DeletedUser, output: Output): string {
  return `${output.moment(deletedAt)}  ${id}  ${actorText(deletedBy)}  ${printable(`${name} <${email}>`)}`
}

/** Shows the deleted users that can be restored, the latest first. @throws UsersError */
export async function listDeleted ({ service: users, call }: Bound<UsersService>, output: Output): Promise<void> {
  let count = 0
  for (let page = 1, more = true; more && output.isWhole(); page++) {
    const found = await users.listDeleted({ page, limit: PAGE }, call)
    for (const each of found.items) {
      await (output.json ? output.value(asStored.deletedUser(each)) : output.line(lineOf(each, output)))
    }
    count += found.items.length
    more = found.more
  }
  if (!output.json) await output.line(`${count} deleted ${count === 1 ? 'user' : 'users'}`)
}

/** Restores a deleted user. @throws UsersError */
export async function restoreUser (
  { service: users, call }: Bound<UsersService>, output: Output, id: string
): Promise<void> {
  const { user } = await users.restore(id, {}, call)
  await show(output, user, 'is restored.')
}

async function purgeOlder (
  { service, call: { tenant } }: Bound<UsersService>, output: Output, age: string
): Promise<void> {
  if (tenant !== undefined) throw new UsageError('--older-than is for the users of all tenants: leave --tenant out')
  const before = new Date(Date.now() - secondsOf('--older-than', age) * 1000).toISOString()
  const count = await service.purgeExpired(before, () => true)
  if (output.json) return output.value({ users: count })
  await output.line(count === 1 ? '1 user is purged.' : `${count} users are purged.`)
}

/** Deletes a user, or all that were deleted long ago, for good. @throws UsageError, Refusal, UsersError */
export async function purge (
  storage: Storage,
  output: Output,
  id: string | undefined,
  { yes, erase, olderThan, ...options }: PurgeOptions
): Promise<void> {
  if ((id === undefined) === (olderThan === undefined)) throw new UsageError('give an id, or --older-than')
  if (erase && id === undefined) throw new UsageError('--erase needs an id')
  if (!yes) {
    throw new Refusal(`${id === undefined ? 'These users' : 'The user'} could not be restored any more: confirm with ` +
      '--yes.')
  }
  const bound = await usersOf(storage, options)
  if (id === undefined) return purgeOlder(bound, output, String(olderThan))
  // Without an event log there is nothing to erase.
  const erases = erase && await isLogged(storage)
  await bound.service.remove(id, erases ? { erase } : { purge: true }, bound.call)
  if (output.json) return output.value({ id })
  await output.line(`${id} is purged${erases ? ', and the user’s values are erased from the events' : ''}.`)
}

/** Sets what an event changed back. @throws Refusal where no events are recorded, UsersError */
export async function revertUser (storage: Storage, output: Output, id: string, event: string, options: UserOptions) {
  if (!await isLogged(storage)) throw new Refusal('no server records events in this database')
  const { service, call } = await usersOf(storage, options)
  const { user } = await service.revert(id, { event }, {}, call)
  await show(output, user, `has the values from before ${event} again.`)
}

/** Writes all that is stored of a person, as one JSON document. @throws UsageError, Refusal, UsersError */
export async function writeSubject (
  storage: Storage,
  output: Output,
  id: string,
  { output: path = '-', ...options }: UserOptions & { output?: string }
): Promise<void> {
  if (path !== '-') await requireReplaceable(path)
  const present = eventPresenter({ pastFields: (fields) => fields, showsTenant: true })
  const document = await wholeSubject(createSubjects(repositoryOf(storage), asStored, present)(id, tenantOf(options)))
  if (path === '-') return output.value(document)
  await writeFile(path, [JSON.stringify(document)])
}
