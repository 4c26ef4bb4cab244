import type { FastifyReply } from 'fastify'
import { insufficientScope } from '../api-keys/challenge.ts'
import type { UsersError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { JSON_TYPE } from '../http/body.ts'
import type { Schema } from '../openapi/component-parts.ts'
import { providerConfig, resourceTypesOf, schemasOf } from '../scim/discovery.ts'
import { ERROR_SCHEMA, scimError } from '../scim/errors.ts'
import type { Mapping } from '../scim/mapping.ts'
import type { Operation, OperationCall } from './operation.ts'

const SCIM_TYPE = 'application/scim+json'

// Attributes are those of the mapping, and the schemas of the server describe them.
const resource: Schema = {
  type: 'object', properties: { schemas: { type: 'array', items: { type: 'string' } } }, additionalProperties: true
}

/** The content of answers and bodies, for descriptions. */
export const media = { [SCIM_TYPE]: resource }
export const body = { types: [SCIM_TYPE, JSON_TYPE], schema: resource } as const

export const send = (reply: FastifyReply, value: object, status = 200): FastifyReply =>
  reply.code(status).type(SCIM_TYPE).send(JSON.stringify(value))

const PARAMETERS = new Map([
  'filter', 'startIndex', 'count', 'cursor', 'sortBy', 'sortOrder', 'attributes', 'excludedAttributes'
].map((name) => [name.toLowerCase(), name]))

const wrongParameter = (name: string, detail: string): UsersError =>
  scimError(name === 'filter' ? 'invalidFilter' : 'invalidValue', `${name} ${detail}.`)

/**
 * The parameters that are ours, by their names in any case. Others mean nothing, as clients send their own.
 * @throws UsersError for one that is repeated
 */
export function parametersIn (given: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const known = new Map<string, unknown>()
  for (const [each, value] of given) {
    const name = PARAMETERS.get(each.toLowerCase())
    if (name === undefined) continue
    if (known.has(name)) throw wrongParameter(name, 'must not be given more than once')
    known.set(name, value)
  }
  return Object.fromEntries(known)
}

/**
 * The parameters of a query.
 * @throws UsersError for one that can't be read or is repeated, since a list without its filter is one of everybody
 */
export function queryOf ({ pairs, faults: [fault] }: OperationCall): Record<string, unknown> {
  if (fault === undefined) return parametersIn(pairs)
  const { parameter = '', detail } = fault
  throw wrongParameter(PARAMETERS.get(parameter.toLowerCase()) ?? parameter, detail)
}

/** Where the server is, as the client sees it. */
export function baseOf ({ request, collection }: OperationCall): string {
  const { protocol, host } = request
  return `${protocol}://${host}${collection.slice(0, collection.lastIndexOf('/'))}`
}

const error = (status: number, detail: string): object => ({ schemas: [ERROR_SCHEMA], status: String(status), detail })
const NOT_IMPLEMENTED = error(501, 'A key is nobody: there is no resource of its own.')
const NOT_THERE = error(404, 'There is nothing with this id.')

export interface DiscoveryOptions {
  mapping: Mapping
  listed: (all: readonly JsonObject[]) => JsonObject
  hasGroups: boolean
  /** True if it needs no key. */
  isOpen: boolean
}

/** The operations by which clients learn what the server has, and the one that it has not. */
export function discoveryOperations ({ mapping, listed, hasGroups, isOpen }: DiscoveryOptions): Operation[] {
  const common = { tag: 'scim', keepsTenant: true, scope: null } as const
  const shared = {
    ...common,
    method: 'GET',
    open: isOpen,
    limitsItself: true,
    ...isOpen && { counted: 'never' as const },
    success: { status: 200, description: 'The description.', media }
  } as const

  const lists = (
    path: string, operationId: string, summary: string, of: (base: string) => JsonObject[]
  ): Operation[] => [
    {
      ...shared,
      path,
      operationId,
      summary,
      query: {},
      codes: ['validation_failed'],
      // RFC 7644 section 4: a filter is refused, for it would be ignored.
      async handler (call) {
        if (queryOf(call)['filter'] !== undefined) throw insufficientScope([], { detail: 'This list has no filter.' })
        return send(call.reply, listed(of(baseOf(call))))
      }
    },
    {
      ...shared,
      path: `${path}/:id`,
      id: { type: 'string' },
      operationId: `${operationId}One`,
      summary: `${summary}, one of them`,
      query: {},
      codes: ['validation_failed', 'not_found'],
      async handler (call) {
        const found = of(baseOf(call)).find((each) => each['id'] === call.request.params.id)
        return found === undefined ? send(call.reply, NOT_THERE, 404) : send(call.reply, found)
      }
    }
  ]

  return [
    ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method): Operation => ({
      ...common,
      method,
      path: '/Me',
      operationId: `scimMe${method}`,
      summary: 'Not implemented',
      undescribed: true,
      ...method !== 'GET' && method !== 'DELETE' && { body },
      success: { status: 501, description: 'Not implemented.', media },
      codes: [],
      handler: async ({ reply }) => send(reply, NOT_IMPLEMENTED, 501)
    })),
    {
      ...shared,
      path: '/ServiceProviderConfig',
      operationId: 'scimServiceProviderConfig',
      summary: 'Read what the server supports',
      query: {},
      codes: [],
      handler: async (call) => send(call.reply, providerConfig(baseOf(call)))
    },
    ...lists('/ResourceTypes', 'scimResourceTypes', 'Read the types of resources', (base) =>
      resourceTypesOf(mapping, hasGroups, base)),
    ...lists('/Schemas', 'scimSchemas', 'Read the schemas', (base) => schemasOf(mapping, hasGroups, base))
  ]
}
