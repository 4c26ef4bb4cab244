import { tenantForbidden } from '../api-keys/challenge.ts'
import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import type { Parameter } from '../core/parameters.ts'
import { isTenant, TENANT, TENANT_FORM } from '../core/tenant.ts'
import { callerOf } from '../http/caller.ts'
import type { ParsedQuery } from '../http/query.ts'
import type { Operation, OperationRequest } from './operation.ts'

/** The parameter by which the platform's callers narrow an operation to one tenant. */
export const tenantParameter: Parameter = {
  schema: {
    type: 'string',
    pattern: TENANT.source,
    description: 'Only what belongs to this tenant. A key bound to a tenant cannot name another.'
  },
  problem: (value) => isTenant(value) ? null : { code: 'format', detail: TENANT_FORM }
}

/** Where a request says which tenant it is about. */
interface Named {
  /** By the parameter of the prefix. */
  path: unknown
  /** By the parameter of the query. */
  query: string | undefined
  /** By the body. `null`: by none. */
  body: unknown
}

function faultsOf ({ query, body }: Named): Fault[] {
  const isWrong = (value: unknown): boolean => value !== undefined && value !== null && !isTenant(value)
  return [
    ...isWrong(query) ? [{ parameter: 'tenant', code: 'format', detail: TENANT_FORM }] : [],
    ...isWrong(body) ? [{ pointer: '/tenant', code: 'format', detail: TENANT_FORM }] : []
  ]
}

/** Takes the tenant out of the body of a request, unless the service judges it. */
function takeFromBody (
  request: OperationRequest,
  { body: declared, streamsBody = false, keepsTenant = false }: Operation
): unknown {
  const { body } = request
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (declared === undefined || streamsBody || !isObject || !Object.hasOwn(body, 'tenant')) return undefined
  const { tenant, ...rest }: Record<string, unknown> = Object(body)
  if (!keepsTenant) request.body = rest
  return tenant
}

/** The faults of a body that names another tenant than that of the record which it changes. */
async function movingFaults (request: OperationRequest, { findTenant }: Operation, named: unknown): Promise<Fault[]> {
  if (findTenant === undefined || named === undefined) return []
  // The operation itself says that there is no such record.
  const own = await findTenant(request.params.id).catch((error) => {
    if (error instanceof UsersError && error.statusCode === 404) return named
    throw error
  })
  const detail = 'must be the tenant of the record, which never changes'
  return own === named ? [] : [{ pointer: '/tenant', code: 'immutable', detail }]
}

/** Which tenant a request is about. */
interface RequestTenant {
  /** undefined: the platform's caller asks for all. */
  tenant: string | undefined
  /** The faults of a change that names another tenant than that of the record. */
  faults: () => Promise<Fault[]>
}

/**
 * Finds the tenant that a request is about. What is named only confirms what the key is bound to (contract §16).
 * @throws UsersError `not_found` for a path of another tenant, and for what is the platform's; `tenant_forbidden`,
 * `validation_failed`
 */
export function tenantOf (
  request: OperationRequest, operation: Operation, { pairs, faults: queryFaults }: ParsedQuery
): RequestTenant {
  const { principal: { tenant: own } } = callerOf(request)
  const params: Record<string, unknown> = Object(request.params)
  const named = {
    path: params['tenant'],
    query: pairs.find(([name]) => name === 'tenant')?.[1],
    body: takeFromBody(request, operation)
  }
  const { path } = named
  if (path !== undefined && (!isTenant(path) || (own !== undefined && path !== own))) throw new UsersError('not_found')
  // One that can't be read must not become all of them.
  const faults = [...queryFaults.filter(({ parameter }) => parameter === 'tenant'), ...faultsOf(named)]
  if (faults.length > 0) throw validationFailed(faults)
  const bound = own ?? path
  if (bound === undefined && named.query === undefined && operation.findTenant !== undefined) {
    return { tenant: undefined, faults: () => movingFaults(request, operation, named.body) }
  }
  const others = [named.query, named.body].filter((value) => value !== undefined)
  if (bound !== undefined && others.some((value) => value !== bound)) throw tenantForbidden()
  // That of what is changed narrows nothing: a user of another tenant is there, and can't be moved.
  const narrowing = operation.keepsTenant === true ? [bound, named.query] : [bound, ...others]
  const [first, ...more] = narrowing.filter(isTenant)
  if (more.some((value) => value !== first)) throw tenantForbidden()
  return { tenant: first, faults: async () => [] }
}

/** A query without the parameter that was dealt with. */
export function withoutTenant ({ pairs, faults }: ParsedQuery): ParsedQuery {
  return { pairs: pairs.filter(([name]) => name !== 'tenant'), faults }
}
