import { describeFields } from './fields.ts'
import { type DescriptionSettings, type Operation, schemaOf } from './operation.ts'
import { referred, written } from './references.ts'
import { componentsFor, type Schema } from './schemas.ts'

/** The name of our security scheme in a description. */
const SECURITY_SCHEME = 'usersApiKey'
const SCHEME = { type: 'http', scheme: 'bearer', bearerFormat: 'API key', description: 'An API key of the users’ API.' }
const TAGS = { users: 'User records: list, create, read, update, delete.', 'api-keys': 'API keys: list, make, rotate, revoke.' }

/** What `@fastify/swagger` (dynamic mode) asks a route that has a say of its own; its types are not named here, since it need not be installed. */
export type Transform = (route: { url: string, openapiObject?: Described }) => { url: string, schema: Schema }
export type Describe = (operation: Operation) => { swaggerTransform: Transform }

/** The description as it is so far. */
interface Described {
  openapi?: string
  tags?: ReadonlyArray<{ name: string, description?: string }>
  components?: { schemas?: Readonly<Record<string, unknown>>, securitySchemes?: Readonly<Record<string, unknown>> }
}

const hidden: Transform = ({ url }) => ({ url, schema: { hide: true } })

/** Keeps a route out of descriptions. */
export const hide: { swaggerTransform: Transform } = { swaggerTransform: hidden }

// Who has which name in a description: mounts may lie in contexts that don't know of each other.
const spaces = new WeakMap<Described, Map<string, DescriptionSettings>>()

/** The name of a mount in a description, after its decorator. */
function spaceIn (description: Described, settings: DescriptionSettings): string {
  const taken = spaces.get(description) ?? new Map<string, DescriptionSettings>()
  spaces.set(description, taken)
  // What names of components may hold; and the package takes one word in references for its own.
  const base = settings.decoratorName.replace(/[^A-Za-z0-9_]/g, '_').replaceAll('definitions', 'defs')
  let name = base
  for (let n = 2; (taken.get(name) ?? settings) !== settings; n++) name = `${base}${n}`
  taken.set(name, settings)
  return name
}

/** The names of a path's parameters, as find-my-way has them: `::` is a colon, and parentheses hold a regular expression. */
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

/** Adds what an operation refers to; a scheme or a tag of the host's that has the name already stays. */
function provide (description: Described, { tag }: Operation, own: Readonly<Record<string, unknown>>): void {
  const { schemas = {}, securitySchemes = {} } = { ...description.components }
  description.components = { ...description.components, schemas: { ...schemas, ...own }, securitySchemes: { [SECURITY_SCHEME]: SCHEME, ...securitySchemes } }
  const { tags = [] } = description
  if (!tags.some(({ name }) => name === tag)) description.tags = [...tags, { name: tag, description: TAGS[tag] }]
}

/**
 * Makes the description of operations: a part of a route's `config` that `@fastify/swagger` asks, and nobody else. Routes have no `schema`, so that neither the
 * host's compilers nor its shared schemas meet ours. `onUnfit` is told, once, of a description in Swagger 2.0, which can't say what there is to say: the package
 * makes that where it has no option `openapi`.
 */
export function createDescribe (settings: DescriptionSettings, onUnfit: () => void): Describe {
  let told = false
  return (operation) => ({
    swaggerTransform: ({ url, openapiObject }) => {
      if (openapiObject === undefined) {
        if (!told) onUnfit()
        told = true
        return hidden({ url })
      }
      const old = openapiObject.openapi?.startsWith('3.0') === true
      const components = componentsFor(settings.limits, describeFields(settings.fields, old ? 'old' : 'current'))
      const space = spaceIn(openapiObject, settings)
      const parameters = parametersIn(url)
      const operationId = space === 'users' ? operation.operationId : `${operation.operationId}_${space}`
      const schema = schemaOf({ ...operation, operationId }, parameters, settings)
      provide(openapiObject, operation, Object.fromEntries([...referred(schema, components)].map((name) => [`${space}.${name}`, written(components[name], space, old)])))
      return { url, schema: { ...Object(written(schema, space, false)), security: [{ [SECURITY_SCHEME]: [] }] } }
    }
  })
}
