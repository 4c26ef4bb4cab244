import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { converted, defaulted, type Option, optional, type OptionsOf, readOptions } from './core/option-table.ts'
import { Type } from './core/typebox.ts'
import type { Quota } from './http/limits/rate-limit-options.ts'
import { requireMount } from './mount/mounts.ts'
import { flag, identifier, quota } from './mount/option-schemas.ts'
import { scimOperations } from './operations/scim.ts'
import { errorBody } from './scim/errors.ts'
import { createScimGroups } from './scim/groups.ts'
import { createMapping, type MappingOptions } from './scim/mapping.ts'
import { createScimServer } from './scim/server.ts'
import { createScimUsers } from './scim/users.ts'

const CLOSED = { additionalProperties: false }

const mapping: Option<MappingOptions, MappingOptions, false> = converted<MappingOptions, MappingOptions>(
  (given = {}) => structuredClone(given), {
    schema: Type.Object({
      userName: Type.Optional(Type.String()),
      externalId: Type.Optional(Type.String()),
      attributes: Type.Optional(Type.Record(Type.String(), Type.String())),
      unknown: Type.Optional(Type.Union([Type.Literal('ignore'), Type.Literal('refuse')]))
    }, CLOSED),
    message: 'must be { userName, externalId, attributes, unknown }, with paths and fields as strings, and unknown ' +
      'ignore or refuse'
  })

const optionTable = {
  /** Path of the server; prefixes of outer scopes come before it. */
  prefix: defaulted<string>('/scim/v2', {
    schema: Type.String({ pattern: "^(?:/[A-Za-z0-9._~!$&'()*+,=:@-]+)+$" }),
    message: 'must be a path that begins with / and does not end with it'
  }),
  /** Name of the users decorator that the server is for. */
  users: defaulted<string>('users', identifier),
  /** Which attribute is which member of users: `{ userName, externalId, attributes, unknown }`. */
  mapping,
  /** Answer what describes the server without a key. */
  openDiscovery: defaulted<boolean>(false, flag),
  /**
   * At most `max` requests of a key in `window` seconds; more get 429. `limits.requests` of the users does not count
   * these requests. Needs @fastify/rate-limit.
   */
  requests: optional<Quota>(quota)
}

/** The options of SCIM. */
export interface ScimOptions extends OptionsOf<typeof optionTable> {}

const NAME = 'fastify-users/scim'

const plugin: FastifyPluginAsync<ScimOptions> = async (host, given) => {
  const options = readOptions(NAME, optionTable, given)
  const mount = requireMount(host, NAME, options.users)
  const { users, groups, fields } = mount
  const mapped = createMapping(options.mapping, fields)
  const filterable = new Set(fields.filters.keys())
  const server = createScimServer(
    mapped, createScimUsers(users, mapped, filterable), groups === null ? null : createScimGroups(groups)
  )
  await mount.addServer(host, {
    prefix: options.prefix,
    requests: options.requests,
    errorFormat: ({ code, status, detail, errors }) =>
      errorBody({ code, status, detail, ...(errors !== undefined && { errors }) }),
    errorType: 'application/scim+json',
    operations: (admission) => scimOperations({
      server, hasGroups: groups !== null, openDiscovery: options.openDiscovery, admission
    })
  })
}

/** The plugin: `await app.register(scim, { prefix: '/scim/v2' })`, after fastify-users. */
export const scim = fp(plugin, { name: 'fastify-users-scim', fastify: '5.x || 6.x' })
export default scim
export type { MappingOptions } from './scim/mapping.ts'
