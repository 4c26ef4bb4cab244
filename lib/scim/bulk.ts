import type { Scope } from '../api-keys/scopes.ts'
import type { Call } from '../core/context.ts'
import type { UsersError } from '../core/errors.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { toUsersError } from '../storage/storage-errors.ts'
import { errorBody, OPERATIONS_MAX, scimError, tooManyOperations } from './errors.ts'
import type { ScimType } from './types.ts'

export const BULK_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse'

export interface BulkParts {
  types: { Users: ScimType, Groups?: ScimType }
  /** @throws UsersError if the caller lacks the scope, or has deleted as many users as it may */
  admit: (scope: Scope, isDeletion: boolean) => Promise<void>
  base: string
  call: Call
}

const SCOPES = { Users: 'scim:users', Groups: 'scim:groups' } as const
const PATH = /^\/(Users|Groups)(?:\/([^/]+))?$/
const REFERENCE = /^bulkId:(.+)$/

/** A value whose references to resources of the same request are their ids. */
function resolved (value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => resolved(each, ids))
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolved(each, ids)]))
  const name = typeof value === 'string' ? REFERENCE.exec(value)?.[1] : undefined
  if (name === undefined) return value
  const id = ids.get(name)
  if (id === undefined) throw scimError('invalidValue', 'A bulkId is of no resource that was made before.')
  return id
}

function versionsIn (version: unknown): { ifMatch?: number[] } {
  if (version === undefined) return {}
  const [, number = ''] = /^(?:W\/)?"(\d{1,15})"$/.exec(String(version)) ?? []
  return { ifMatch: number === '' ? [] : [Number(number)] }
}

const failure = (error: UsersError): JsonObject => {
  const { code, statusCode, message, errors } = error
  const of = { code, status: statusCode, detail: message, ...(errors !== undefined && { errors }) }
  return { status: String(statusCode), response: Object(errorBody(of)) }
}

/** Makes the operations of a request one after the other (RFC 7644 section 3.7). */
export async function runBulk (body: Readonly<Record<string, unknown>>, parts: BulkParts): Promise<JsonObject> {
  const { types, admit, base, call } = parts
  const { Operations: operations, failOnErrors } = body
  if (!Array.isArray(operations)) throw scimError('invalidSyntax', 'Operations must be a list.')
  if (operations.length > OPERATIONS_MAX) throw tooManyOperations()
  const ids = new Map<string, string>()
  const results: Json[] = []
  let failures = 0

  async function make (operation: Record<string, unknown>): Promise<JsonObject> {
    const { method, path, data, version, bulkId } = operation
    const verb = String(method).toUpperCase()
    const [, name = '', given] = PATH.exec(String(path)) ?? []
    const type = name === 'Users' ? types.Users : name === 'Groups' ? types.Groups : undefined
    if (type === undefined) throw scimError('invalidPath', 'path must be that of a resource, or of its type.')
    await admit(name === 'Users' ? SCOPES.Users : SCOPES.Groups, verb === 'DELETE' && name === 'Users')
    const value = resolved(data, ids)
    if (verb === 'POST' && given === undefined) {
      if (typeof bulkId !== 'string' || bulkId === '') throw scimError('invalidSyntax', 'A creation needs a bulkId.')
      if (ids.has(bulkId)) throw scimError('invalidSyntax', 'Another creation has this bulkId.')
      const made = await type.create(value, {}, base, call)
      ids.set(bulkId, String(made.value['id']))
      return { location: made.location, version: `"${made.version}"`, status: '201' }
    }
    if (given === undefined) throw scimError('invalidPath', 'path must name a resource.')
    const id = String(resolved(given, ids))
    const options = versionsIn(version)
    if (verb === 'DELETE') {
      await type.remove(id, options, call)
      return { location: `${base}/${name}/${id}`, status: '204' }
    }
    if (verb !== 'PUT' && verb !== 'PATCH') {
      throw scimError('invalidSyntax', 'method must be POST, PUT, PATCH or DELETE.')
    }
    const made = verb === 'PUT'
      ? await type.replace(id, value, {}, options, base, call)
      : await type.patch(id, value, {}, options, base, call)
    return { location: made.location, version: `"${made.version}"`, status: '200' }
  }

  /** Where the resource of an operation is; undefined: it names none. */
  function locationOf (path: unknown): string | undefined {
    const [, name = '', given] = PATH.exec(String(path)) ?? []
    const id = given === undefined ? undefined : ids.get(REFERENCE.exec(given)?.[1] ?? '') ?? given
    return id === undefined ? undefined : `${base}/${name}/${id}`
  }

  for (const each of operations) {
    const operation: Record<string, unknown> = isObject(each) ? each : {}
    const { method, bulkId } = operation
    const named = {
      method: String(method ?? '').toUpperCase(), ...(typeof bulkId === 'string' && { bulkId })
    }
    try {
      results.push({ ...named, ...await make(operation) })
    } catch (thrown) {
      const error = toUsersError(thrown)
      if (error.statusCode >= 500) throw error
      const location = locationOf(operation['path'])
      results.push({ ...named, ...(location !== undefined && { location }), ...failure(error) })
      failures++
    }
    if (typeof failOnErrors === 'number' && failOnErrors > 0 && failures >= failOnErrors) break
  }
  return { schemas: [BULK_SCHEMA], Operations: results }
}
