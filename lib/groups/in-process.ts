import { type ListMeta, listMeta, type PagingQuery } from '../core/paging.ts'
import type { Context } from '../core/context.ts'
import type { ListQuery } from '../users/list-query.ts'
import type { Presenter } from '../users/presenter.ts'
import type { UsersService } from '../users/service.ts'
import type { User, UserFields } from '../users/types.ts'
import type { WriteOptions } from '../users/write-options.ts'
import { type Group, toGroup } from '../storage/group.ts'
import type { GroupInput, GroupPatch, GroupsQuery, MembersInput } from './rules.ts'
import { FROM_PROCESS, type GroupsService } from './service.ts'

/** Groups in process, with the option `groups`: without it every method throws a TypeError. Others throw UsersError. */
export interface GroupMethods<Fields = UserFields> {
  /** @throws `validation_failed`, `name_taken`, `storage_unavailable` */
  create (input: GroupInput): Promise<Group>
  /** @throws `group_not_found`, `storage_unavailable` */
  get (id: string): Promise<Group>
  /** A page with the exact total. @throws `validation_failed`, `storage_unavailable` */
  list (query?: GroupsQuery): Promise<{ data: Group[], meta: ListMeta }>
  /**
   * Changes the given members.
   * @throws `validation_failed`, `group_not_found`, `name_taken`, `precondition_failed`, `precondition_required`,
   * `storage_unavailable`
   */
  update (id: string, patch: GroupPatch, options?: WriteOptions): Promise<Group>
  /**
   * Deletes the group. Its members stay users.
   * @throws `validation_failed`, `group_not_found`, `precondition_failed`, `precondition_required`,
   * `storage_unavailable`
   */
  delete (id: string, options?: WriteOptions): Promise<void>
  /**
   * A page of its members, with the parameters of every list of users and the exact total.
   * @throws `validation_failed`, `group_not_found`, `storage_unavailable`
   */
  members (id: string, query?: ListQuery<Fields>): Promise<{ data: Array<User<Fields>>, meta: ListMeta, next?: string }>
  /**
   * Adds and removes users in one step: who is a member already, or none, stays so.
   * @throws `validation_failed` for who is no user, `group_not_found`, `storage_unavailable`
   */
  changeMembers (id: string, members: MembersInput): Promise<Group>
  /** A page of the groups of a user. @throws `validation_failed`, `user_not_found`, `storage_unavailable` */
  of (user: string, query?: PagingQuery): Promise<{ data: Group[], meta: ListMeta }>
}

/** The members of a group, as every list of users. */
export async function listMembers (
  groups: GroupsService, users: UsersService, id: string, query: Readonly<Record<string, unknown>>,
  call: Parameters<UsersService['list']>[1] & { tenant?: string | undefined }
) {
  const group = await groups.get(id, call.tenant)
  return users.list(query, { ...call, group })
}

/** Makes `app.users.groups`. `groups`: null without the option. */
export function groupMethods (
  groups: GroupsService | null, users: UsersService, presenter: Presenter,
  { tenant, context }: { tenant?: string | undefined, context: Context }
): GroupMethods {
  const call = { ...FROM_PROCESS, tenant, context }
  const some = (): GroupsService => {
    if (groups !== null) return groups
    throw new TypeError('fastify-users: there are groups only with the option groups')
  }
  return Object.freeze({
    create: async (input: GroupInput) => toGroup((await some().create(input, call)).group),
    get: async (id: string) => toGroup(await some().get(id, tenant)),
    async list (query: GroupsQuery = {}) {
      const page = await some().list({ ...query }, call)
      return { data: page.items.map(toGroup), meta: listMeta(page) }
    },
    update: async (id: string, patch: GroupPatch, options: WriteOptions = {}) =>
      toGroup(await some().change(id, patch, undefined, { ...options }, call)),
    delete: async (id: string, options: WriteOptions = {}) => some().remove(id, { ...options }, call),
    async members (id: string, query: ListQuery = {}) {
      const page = await listMembers(some(), users, id, { ...query }, { tenant })
      const { next } = page
      return { data: page.items.map(presenter.user), meta: listMeta(page), ...(next !== undefined && { next }) }
    },
    changeMembers: async (id: string, members: MembersInput) => toGroup(await some().changeMembers(id, members, call)),
    async of (user: string, query: PagingQuery = {}) {
      const page = await some().ofUser(user, { ...query }, call)
      return { data: page.items.map(toGroup), meta: listMeta(page) }
    }
  })
}
