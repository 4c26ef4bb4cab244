import fc from 'fast-check'
import { BATCH_BODY_MAX } from '../../lib/core/limits.ts'
import type { DescribedOperation, Description } from './described.ts'
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

  function invalid (operation: Each): Array<fc.Arbitrary<Request>> {
    const { requestBody, method, path } = operation
    const bad = (what: string, status: number, change: (request: Request) => Partial<Request>) =>
      valid(operation).map((request): Request => ({ ...request, ...change(request), wrong: what, status }))
    const sending = (what: string, status: number, headers: Record<string, string>, body?: unknown) =>
      bad(what, status, (request) => ({
        headers: { ...request.headers, ...headers }, ...(body !== undefined && { body })
      }))
    const without = ({ query }: Request, ...names: string[]) => query.filter(([name]) => !names.includes(name))
    const types = Object.keys(requestBody?.content ?? {})
    // What is wrong in a line of another media type is answered for that line alone.
    const whole = Object.entries(requestBody?.content ?? {})
      .filter(([type]) => type.endsWith('json') && !type.includes('nd'))
    return [
      sending('no key', 401, { authorization: '' }),
      sending('an unknown key', 401, { authorization: 'Bearer uk_unknown' }),
      bad('another method', 405, ({ path }) => ({ method: 'OPTIONS', path, headers: {}, body: undefined })),
      bad('an unknown parameter', 400, ({ query }) => ({ query: [...query, ['unknownParameter', '1']] })),
      ...parametersOf(operation, 'query').flatMap(({ name, schema }) => [
        bad(`${name} twice`, 400, (request) => ({ query: [...without(request, name), [name, '1'], [name, '1']] })),
        fc.tuple(valid(operation), values.invalid({ ...schema, type: schema.type ?? 'string' })
          .filter(({ value }) => !(schema.type === 'string' && typeof value !== 'string'))
        ).map(([request, { value, place }]): Request => ({
          ...request,
          query: [
            ...without(request, name, 'page', 'after'), [name, typeof value === 'object' ? '[]' : String(value)]
          ],
          wrong: `query ${name}: ${place}`,
          status: 400
        }))
      ]),
      ...(method === 'GET' && path.endsWith('users')
        ? [bad('page and after', 400, () =>
            ({ query: [['page', '1'], ['after', 'usr_01h455vb4pex5vsknk084sn02q']] }))]
        : []),
      ...parametersOf(operation, 'header').map(({ name }) =>
        sending(`header ${name}`, 400, { [name.toLowerCase()]: 'not a value' })),
      ...parametersOf(operation, 'path').map(() => bad('an unknown id', 404, ({ body, headers }) => ({
        path: path.replace('{id}', 'x'), headers: withoutConditions(headers), body: withoutId(body)
      }))),
      ...types.flatMap((type) => [
        sending('another media type', 415, { 'content-type': 'text/plain' }),
        sending('a content coding', 415, { 'content-type': type, 'content-encoding': 'gzip' })
      ]),
      ...whole.flatMap(([type, { schema }]) => [
        fc.tuple(valid(operation), values.invalid(schema)).map(([request, { value, place }]): Request => ({
          ...request,
          headers: { ...request.headers, 'content-type': type },
          body: value,
          wrong: `body: ${place}`,
          status: 400
        })),
        sending('no JSON', 400, { 'content-type': type }, '{"name":'),
        sending('too large', 413, { 'content-type': type }, {
          name: 'x'.repeat(path.endsWith('/batch') ? BATCH_BODY_MAX : 20_000)
        })
      ])
    ]
  }

  return { valid: fc.oneof(...operations.map(valid)), invalid: fc.oneof(...operations.flatMap(invalid)) }
}

function withoutId (body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'id'))
}

function withoutConditions<Value> (headers: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('if-')))
}

/** The body without `expiresIn` if it has `expiresAt`, which exclude each other, and without what is stored. */
function sendable (body: Record<string, unknown>): Record<string, unknown> {
  const left = 'expiresAt' in body ? [...STORED, 'expiresIn'] : STORED
  return Object.fromEntries(Object.entries(body).filter(([name]) => !left.includes(name)))
}
