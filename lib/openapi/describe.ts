import { componentsFor } from './components.ts'
import { describeFields } from './described-fields.ts'
import { type DescriptionSettings, type OperationDescription, schemaOf } from './operation-description.ts'
import { referencedNames, withReferences } from './references.ts'
import type { Schema } from './component-parts.ts'
import { type Describe, type Described, hidden, SECURITY_SCHEME, type Transform } from './hidden.ts'
import { withTenants } from './tenant-components.ts'
import { webhookRequests } from './webhook-requests.ts'

const SCHEME = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'API key',
  description: 'An API key for this API.'
}
const TAGS = {
  users: 'User records: list, create, read, update, delete.',
  'api-keys': 'API keys: list, create, rotate, revoke.',
  events: 'Recorded changes to users and API keys.',
  webhooks: 'Endpoints that events are delivered to.',
  groups: 'Groups of users, and who is in them.',
  scim: 'Users and groups for identity providers (SCIM 2.0, RFC 7644).',
  tenants: 'Tenants, which users belong to: list, read, delete.',
  capabilities: 'What the caller can do.'
}

// The names of mounts in each description: mounts may be in contexts that do not know each other.
const mountNames = new WeakMap<Described, Map<string, DescriptionSettings>>()

/** The ids of a mount's operations and the ids of the host's routes that are added after it. */
interface OperationIds { own: ReadonlySet<string>, later: ReadonlySet<string> }

/** What the ids of a mount's operations end in. */
const suffixOf = (mount: string): string => mount === 'users' ? '' : `_${mount}`

/**
 * The name of a mount in a description, made from its decorator's. No other mount has it, and no component or
 * operation named with it has a name of the host's.
 */
function mountNameIn (description: Described, settings: DescriptionSettings, { own, later }: OperationIds): string {
  const taken = mountNames.get(description) ?? new Map<string, DescriptionSettings>()
  mountNames.set(description, taken)
  const isFree = (name: string): boolean => {
    if (taken.has(name)) return taken.get(name) === settings
    const schemas = Object.keys({ ...description.components?.schemas })
    const earlier = Object.values({ ...description.paths }).flatMap((path) => Object.values({ ...path }))
    const ids = new Set([...later, ...earlier.map((operation) => Object(operation).operationId)])
    const hasId = [...own].some((id) => ids.has(`${id}${suffixOf(name)}`))
    return !hasId && !schemas.some((each) => each.startsWith(`${name}.`))
  }
  // Only characters that names of components may have; and @fastify/swagger replaces one word in references.
  const base = settings.decoratorName.replace(/[^A-Za-z0-9_]/g, '_').replaceAll('definitions', 'defs')
  let name = base
  for (let n = 2; !isFree(name); n++) name = `${base}${n}`
  taken.set(name, settings)
  return name
}

/**
 * The names of a path's parameters in find-my-way's syntax: `::` is a colon, and parentheses hold a regular
 * expression.
 */
function parametersIn (url: string): string[] {
  const names: string[] = []
  let depth = 0
  for (const [part, name] of url.matchAll(/::|:(\w+)|[()]/g)) {
    if (part === '(') depth++
    else if (part === ')') depth--
    else if (name !== undefined && depth === 0) names.push(name)
  }
  return names
}

/** Adds our security scheme, and returns its name: one that no other scheme of the host's has. */
function addScheme (description: Described): string {
  const { securitySchemes = {} } = { ...description.components }
  const isFree = (name: string): boolean => !Object.hasOwn(securitySchemes, name) || securitySchemes[name] === SCHEME
  let name = SECURITY_SCHEME
  for (let n = 2; !isFree(name); n++) name = `${SECURITY_SCHEME}${n}`
  description.components = { ...description.components, securitySchemes: { [name]: SCHEME, ...securitySchemes } }
  return name
}

/** Adds what an operation refers to. A tag of the host's with the same name stays. */
function addReferenced (
  description: Described,
  { tag }: OperationDescription,
  own: Readonly<Record<string, unknown>>
): void {
  const { schemas = {} } = { ...description.components }
  description.components = { ...description.components, schemas: { ...schemas, ...own } }
  const { tags = [] } = description
  if (!tags.some(({ name }) => name === tag)) description.tags = [...tags, { name: tag, description: TAGS[tag] }]
}

/** Where components of a mount are in a description. */
const placeIn = (mount: string) => (name: string): string => `#/components/schemas/${mount}.${name}`

/** Adds the requests that receivers of webhooks get. Another mount's have its name before them. */
function addWebhooks (description: Described, requests: Readonly<Record<string, Schema>>, mount: string): void {
  const named = Object.entries(requests).map(([type, request]) =>
    [mount === 'users' ? type : `${mount}.${type}`, withReferences(request, placeIn(mount))])
  if (named.length > 0) description.webhooks = { ...description.webhooks, ...Object.fromEntries(named) }
}

/** True for OpenAPI 3.1 and later, whose schemas are JSON Schema. Earlier versions can't express ours. */
function isSupported (description: Described | undefined): description is Described {
  return description?.openapi !== undefined && !description.openapi.startsWith('3.0')
}

/**
 * Makes the description of operations: a member of a route's `config` that only `@fastify/swagger` reads. Routes have
 * no `schema`, so that the host's compilers and shared schemas do not affect ours. `later`: the ids of the host's
 * routes that are added after ours. `onUnsupported` is called, once, for a description before OpenAPI 3.1.
 */
export function createDescribe (
  settings: DescriptionSettings,
  later: ReadonlySet<string>,
  onUnsupported: () => void
): Describe {
  const usual = componentsFor(settings, describeFields(settings.fields))
  const components = settings.tenants ? withTenants(usual, settings.pageSize) : usual
  const own = new Set<string>()
  let warned = false
  const transformOf = (operation: OperationDescription): Transform => ({ url, openapiObject }) => {
    if (!isSupported(openapiObject)) {
      if (!warned) onUnsupported()
      warned = true
      return hidden.swaggerTransform({ url })
    }
    const mount = mountNameIn(openapiObject, settings, { own, later })
    const suffix = suffixOf(mount)
    const operationId = `${operation.operationId}${suffix}`
    const schema = schemaOf({ ...operation, operationId }, parametersIn(url), settings)
    const requests = operation.tag === 'webhooks' ? webhookRequests(suffix) : {}
    addWebhooks(openapiObject, requests, mount)
    const names = referencedNames(requests, components, referencedNames(schema, components))
    const place = placeIn(mount)
    const named = [...names].map((name) => [`${mount}.${name}`, withReferences(components[name], place)] as const)
    addReferenced(openapiObject, operation, Object.fromEntries(named))
    const security = [{ [addScheme(openapiObject)]: [] }]
    return { url, schema: { ...Object(withReferences(schema, placeIn(mount))), security } }
  }
  return (operation) => {
    own.add(operation.operationId)
    return { swaggerTransform: transformOf(operation) }
  }
}
