import { bodyReader } from '../core/body-shape.ts'
import { validationFailed } from '../core/errors.ts'
import { type Fault, type FaultReason, reasonFor } from '../core/fault.ts'
import { GROUP_ID, isUserId } from '../core/ids.ts'
import { EXTERNAL_ID_MAX, MEMBERS_MAX } from '../core/limits.ts'
import { type PageSize, type Paging, pagingParameters, readPaging } from '../core/paging.ts'
import { choiceParameter, type Parameter, parameterFaults, type Parameters } from '../core/parameters.ts'
import { searchKey } from '../core/search-key.ts'
import { checkName, hasAtMost, isStorable } from '../core/text.ts'
import { Type } from '../core/typebox.ts'
import type { GroupChanges } from '../storage/group-loop.ts'

const CLOSED = { additionalProperties: false }
const externalId = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const ids = Type.Optional(Type.Array(Type.String()))
const readInput = bodyReader(Type.Object({ name: Type.String(), externalId }, CLOSED))
const readPatch = bodyReader(Type.Object({ name: Type.Optional(Type.String()), externalId }, CLOSED))
const readMembers = bodyReader(Type.Object({ add: ids, remove: ids }, CLOSED))

/** The input for a new group. */
export interface GroupInput {
  /** 1 to 200 characters. */
  name: string
  /** 1 to 255 characters; null: none. */
  externalId?: string | null
}

/** The changes to a group; absent members stay as they are. */
export type GroupPatch = Partial<GroupInput>

/** Who joins a group and who leaves it, by the ids of users: 1,000 at most. Of an id in both lists, `remove` counts. */
export interface MembersInput { add?: readonly string[], remove?: readonly string[] }

/** Parameters of the list of groups. */
export interface GroupsQuery {
  page?: number
  limit?: number
  /** `createdAt` by default. */
  sort?: 'createdAt' | '-createdAt' | 'name' | '-name'
  /** Continue after this id. Not together with `page`, nor in the order of names. */
  after?: string
  /** Only the group with this name. Case and accents are ignored. */
  name?: string
  /** Only groups with this external id. Not together with `name`. */
  externalId?: string
}

type Query = Readonly<Record<string, unknown>>

function externalIdProblem (value: unknown): FaultReason | null {
  if (typeof value !== 'string') return { code: 'type', detail: 'must be a string' }
  if (!isStorable(value)) return { code: 'characters', detail: 'must be well-formed Unicode without NUL' }
  if (value === '') return { code: 'too_short', detail: 'must not be empty' }
  return hasAtMost(value, EXTERNAL_ID_MAX)
    ? null
    : { code: 'too_long', detail: `must have at most ${EXTERNAL_ID_MAX} characters` }
}

function nameProblem (value: unknown): FaultReason | null {
  if (typeof value !== 'string') return { code: 'type', detail: 'must be a string' }
  const checked = checkName(value)
  return 'code' in checked ? checked : null
}

const nameParameter: Parameter = {
  schema: { type: 'string', description: 'Only the group with this name, ignoring case and accents.' },
  problem: nameProblem
}
const externalIdParameter: Parameter = {
  schema: { type: 'string', description: 'Only groups with this `externalId`. Not together with `name`.' },
  problem: externalIdProblem
}

/** Declares the parameters of the list of groups. */
export function groupParameters (size: PageSize): Parameters {
  const { page, limit, after } = pagingParameters(size, GROUP_ID)
  const sort = choiceParameter(['createdAt', '-createdAt', 'name', '-name'], 'Oldest or newest first, or by name.')
  return { page, limit, sort, after, name: nameParameter, externalId: externalIdParameter }
}

/** Declares the parameters of the list of a user's groups. */
export const ownGroupParameters = (size: PageSize): Parameters => pagingParameters(size, GROUP_ID)

/** A list of groups after the check. */
export interface CheckedGroups extends Paging { byName: boolean, filter: { nameKey?: string, externalId?: string } }

/** Makes the checks of the parameters of lists. Both throw UsersError `validation_failed`. */
export function groupQueryChecks (size: PageSize) {
  const declared = groupParameters(size)
  const declaredOwn = ownGroupParameters(size)
  return {
    list (query: Query, priorFaults: readonly Fault[]): CheckedGroups {
      const faults = [...priorFaults, ...parameterFaults(declared, query)]
      const { sort, name, externalId } = query
      const byName = sort === 'name' || sort === '-name'
      const paging = readPaging(query, size, faults)
      const exclusive = (parameter: string, other: string): void => {
        faults.push({ parameter, code: 'exclusive', detail: `cannot be used together with ${other}` })
      }
      if (byName && query['after'] !== undefined) exclusive('after', 'the order of names')
      if (name !== undefined && externalId !== undefined) exclusive('externalId', 'name')
      if (faults.length > 0) throw validationFailed(faults)
      const checked = typeof name === 'string' ? checkName(name) : null
      return {
        ...paging,
        order: String(sort).startsWith('-') ? 'desc' : 'asc',
        byName,
        filter: {
          ...(checked !== null && 'key' in checked && { nameKey: checked.key }),
          ...(typeof externalId === 'string' && { externalId })
        }
      }
    },
    ofUser (query: Query, priorFaults: readonly Fault[]): Paging {
      const faults = [...priorFaults, ...parameterFaults(declaredOwn, query)]
      const paging = readPaging(query, size, faults)
      if (faults.length > 0) throw validationFailed(faults)
      return paging
    }
  }
}

function checkValues (
  { name, externalId }: { name?: string | undefined, externalId?: string | null | undefined }, faults: Fault[]
): GroupChanges {
  const changes: GroupChanges = {}
  if (name !== undefined) {
    const checked = checkName(name)
    if ('code' in checked) faults.push({ pointer: '/name', ...checked })
    else changes.name = { value: checked.value, key: searchKey(checked.value) }
  }
  if (externalId !== undefined) {
    const problem = externalId === null ? null : externalIdProblem(externalId)
    if (problem !== null) faults.push({ pointer: '/externalId', ...problem })
    changes.externalId = externalId
  }
  return changes
}

/** Checks the body of a creation. @throws UsersError `validation_failed` */
export function checkGroupInput (
  input: unknown, priorFaults: readonly Fault[]
): { name: { value: string, key: string }, externalId: string | null } {
  const result = readInput(input)
  if ('faults' in result) throw validationFailed([...priorFaults, ...result.faults])
  const faults = [...priorFaults]
  const { name, externalId = null } = checkValues(result.value, faults)
  if (faults.length > 0 || name === undefined) throw validationFailed(faults)
  return { name, externalId }
}

/** Checks the body of a change. @throws UsersError `validation_failed` */
export function checkGroupPatch (input: unknown, priorFaults: readonly Fault[]): GroupChanges {
  const result = readPatch(input)
  if ('faults' in result) throw validationFailed([...priorFaults, ...result.faults])
  const faults = [...priorFaults]
  const changes = checkValues(result.value, faults)
  if (faults.length > 0) throw validationFailed(faults)
  return changes
}

const UNKNOWN = { code: 'unknown', detail: 'is not the id of a user' }

/** The faults of ids in a list of the body. */
const idFaults = (list: string, ids: readonly string[], isFaulty: (id: string) => boolean): Fault[] =>
  ids.flatMap((id, i) => isFaulty(id) ? [{ pointer: `/${list}/${i}`, ...UNKNOWN }] : [])

/** Checks the body of a change of members. @throws UsersError `validation_failed` */
export function checkMembers (input: unknown, priorFaults: readonly Fault[]): Required<MembersInput> {
  const result = readMembers(input)
  if ('faults' in result) throw validationFailed([...priorFaults, ...result.faults])
  const { add = [], remove = [] } = result.value
  const faults = [...priorFaults]
  if (add.length + remove.length > MEMBERS_MAX) {
    const pointer = add.length > remove.length ? '/add' : '/remove'
    faults.push({ pointer, ...reasonFor('maxItems', { limit: MEMBERS_MAX }) })
  } else {
    const isWrong = (id: string): boolean => !isUserId(id)
    faults.push(...idFaults('add', add, isWrong), ...idFaults('remove', remove, isWrong))
  }
  if (faults.length > 0) throw validationFailed(faults)
  return { add, remove }
}

/** The error for users who are asked to join and are not there. */
export const unknownMembers = (add: readonly string[], unknown: readonly string[]) => {
  const missing = new Set(unknown)
  return validationFailed(idFaults('add', add, (id) => missing.has(id)))
}
