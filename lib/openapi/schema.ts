/** A JSON Schema in the dialect of OpenAPI 3.1. `$ref` is the bare name of a component. */
export type Schema = Readonly<Record<string, unknown>>
