import fc from 'fast-check'
import type { DescribedOperation, Description, JsonSchema } from './described.ts'
import { valuesOf } from './values.ts'

/** A request. If it is invalid, `wrong` names its fault, and `status` is that of the expected answer. */
export interface Request {
  method: string
  path: string
  query: Array<[string, string]>
  headers: Record<string, string>
  body: unknown
  wrong?: string
  status?: number
}

// RFC 9110 section 8.8.3.
const ENTITY_TAG = '"1"'

/** Parameters whose form the description says in words alone: lists of names, ids and values, and places. */
const IN_WORDS = /^(?:select|ids|cursor|columns)$|\[in\]$/

/** Values of another type, which are texts in a query. */
const TYPES = /: (?:a number|null|a list|true|an object)$/

/** Members of a change that are valid only as they are stored, which the description says in words. */
const STORED = ['id', 'version', 'createdAt', 'updatedAt', 'tenant']

/**
 * Generates requests from a description: valid ones, and ones with exactly one fault. `idsAt` returns the ids that
 * exist under a path.
 */
export function requestsOf (
  described: Description,
  idsAt: (path: string) => readonly string[]
): { valid: fc.Arbitrary<Request>; invalid: fc.Arbitrary<Request> } {
  const values = valuesOf(described)
  const operations = Object.entries(described.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation }))
  )
  type Each = DescribedOperation & { method: string; path: string }

  const parametersOf = ({ parameters = [] }: Each, place: string) =>
    parameters.filter((parameter) => parameter.in === place)

  function valid (operation: Each): fc.Arbitrary<Request> {
    const { method, path, requestBody } = operation
    const [id] = parametersOf(operation, 'path')
    const parameters = parametersOf(operation, 'query').filter(({ name }) => !IN_WORDS.test(name))
      .map(({ name, schema }): [string, fc.Arbitrary<string>] => [name, values.valid(schema).map(String)])
    const query = fc.record(Object.fromEntries(parameters), { requiredKeys: [], noNullPrototype: true })
      // The description says in its text that these two exclude each other.
      .map(({ page, ...others }) =>
        Object.entries({ ...others, ...(page !== undefined && !('after' in others) && { page }) }))
      // Of many, some exclude each other.
      .chain((all) => fc.shuffledSubarray(all, { maxLength: Math.min(3, all.length) }))
    const fields = parametersOf(operation, 'header').map(({ name, schema }): [string, fc.Arbitrary<string>] => [
      name.toLowerCase(),
      name.startsWith('If-')
        ? fc.constantFrom('*', ENTITY_TAG, `W/${ENTITY_TAG}, "7"`)
        : values.valid(schema).map(String)
    ])
    const headers = fc.record(Object.fromEntries(fields), { requiredKeys: [], noNullPrototype: true })
      // Most requests have no preconditions.
      .chain((all) => fc.nat(3).map((n) => (n === 0 ? all : withoutConditions(all))))
    const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
      values.valid(schema).map((body) => ({ type, body: sendable(Object(body)) })))
    const existing = fc.nat(2 ** 31 - 1).map((n) => idsAt(path)[n % Math.max(1, idsAt(path).length)] ?? 'x')
    const ids = id === undefined
      ? fc.constant('')
      : fc.oneof(
        { weight: 1, arbitrary: values.valid(id.schema).map(String) },
        { weight: 4, arbitrary: existing }
      )
    const contents = bodies.length === 0 ? fc.constant(null) : fc.oneof(...bodies)
    return fc.tuple(ids, query, headers, contents).map(([id, query, headers, content]) => ({
      method,
      path: path.replace('{id}', id),
      query: Object.entries(Object.fromEntries(query)),
      headers: { ...headers, ...(content !== null && { 'content-type': content.type }) },
      // An id in the body must be that of the path.
      body: content !== null && 'id' in content.body ? { ...content.body, id } : content?.body
    }))
  }

  /** What every operation refuses besides, whatever its description: test/contract/refusals.test.ts. */
  function invalid (operation: Each): Array<fc.Arbitrary<Request>> {
    const bad = (what: string, change: (request: Request) => Partial<Request>) =>
      valid(operation).map((request): Request => ({ ...request, ...change(request), wrong: what, status: 400 }))
    const badValue = (schema: JsonSchema, change: (request: Request, value: unknown, place: string) => object) =>
      fc.tuple(valid(operation), values.invalid(schema))
        .map(([request, { value, place }]): Request => ({ ...request, ...change(request, value, place), status: 400 }))
    const without = ({ query }: Request, ...names: string[]) => query.filter(([name]) => !names.includes(name))
    // What is wrong in a line of another media type is answered for that line alone.
    const whole = Object.entries(operation.requestBody?.content ?? {})
      .filter(([type]) => type.endsWith('json') && !type.includes('nd'))
    return [
      ...parametersOf(operation, 'query').flatMap(({ name, schema }) => [
        bad(`${name} twice`, (request) => ({ query: [...without(request, name), [name, '1'], [name, '1']] })),
        badValue({ ...schema, type: schema.type ?? 'string' }, (request, value, place) => ({
          query: [...without(request, name, 'page', 'after'), [name, typeof value === 'object' ? '[]' : String(value)]],
          wrong: `query ${name}: ${place}`
        })).filter(({ wrong }) => !(schema.type === 'string' && TYPES.test(String(wrong))))
      ]),
      ...parametersOf(operation, 'header').map(({ name }) => bad(`header ${name}`, ({ headers }) =>
        ({ headers: { ...headers, [name.toLowerCase()]: 'not a value' } }))),
      ...whole.map(([type, { schema }]) => badValue(schema, ({ headers }, body, place) =>
        ({ headers: { ...headers, 'content-type': type }, body, wrong: `body: ${place}` })))
    ]
  }

  return { valid: fc.oneof(...operations.map(valid)), invalid: fc.oneof(...operations.flatMap(invalid)) }
}

function withoutConditions<Value> (headers: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('if-')))
}

/** The body without `expiresIn` if it has `expiresAt`, which exclude each other, and without what is stored. */
function sendable (body: Record<string, unknown>): Record<string, unknown> {
  const left = 'expiresAt' in body ? [...STORED, 'expiresIn'] : STORED
  return Object.fromEntries(Object.entries(body).filter(([name]) => !left.includes(name)))
}
