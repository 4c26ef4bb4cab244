import type { Schema } from './component-parts.ts'
import type { OperationDescription } from './operation-description.ts'

// What routes need where nothing is described.

/** The name of our security scheme in a description, unless the host has another of that name. */
export const SECURITY_SCHEME = 'usersApiKey'

/**
 * What `@fastify/swagger` (dynamic mode) calls for a route that describes itself. Its types are not named here, since
 * it need not be installed.
 */
export type Transform = (route: { url: string, openapiObject?: Described }) => { url: string, schema: Schema }
export type Describe = (operation: OperationDescription) => { swaggerTransform: Transform }

/** The description, as it is so far. */
export interface Described {
  openapi?: string
  paths?: Readonly<Record<string, object | undefined>>
  webhooks?: Readonly<Record<string, unknown>>
  tags?: ReadonlyArray<{ name: string, description?: string }>
  components?: {
    schemas?: Readonly<Record<string, unknown>>
    securitySchemes?: Readonly<Record<string, unknown>>
  }
}

/** The config of a route that descriptions omit. */
export const hidden: { swaggerTransform: Transform } = {
  swaggerTransform: ({ url }) => ({ url, schema: { hide: true } })
}
