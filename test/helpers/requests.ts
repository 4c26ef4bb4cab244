import fc from 'fast-check'
import type { DescribedOperation, Description, JsonSchema } from './described.ts'

/** A request; `wrong` says what of it is, and `status` what it must be answered with. */
export interface Request {
  method: string
  path: string
  query: Array<[string, string]>
  headers: Record<string, string>
  body: unknown
  wrong?: string
  status?: number
}

const WITHOUT_CONTROL = /^\P{Cc}*$/u
// RFC 9110 section 8.8.3.
const ENTITY_TAG = '"1"'

/** Makes values that schemas allow, and values that they don't. */
export function valuesOf ({ components }: Description) {
  const resolve = (schema: JsonSchema): JsonSchema => schema.$ref === undefined ? schema : components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}

  /** Values that the schema allows. */
  function right (given: JsonSchema): fc.Arbitrary<unknown> {
    const schema = resolve(given)
    const { type, enum: choices, format, pattern, minLength = 0, maxLength = 60, minimum = 0, maximum = 2 ** 31, minItems = 0, items = {}, properties = {}, required = [], anyOf } = schema
    if (anyOf !== undefined) return fc.oneof(...anyOf.map(right))
    if (choices !== undefined) return fc.constantFrom(...choices)
    // Anything at all.
    if (Object.keys(schema).every((keyword) => keyword === 'description')) return fc.constantFrom('text', 5, false, null, { a: [1] })
    if (Array.isArray(type)) return fc.oneof(...type.map((each) => each === 'null' ? fc.constant(null) : right({ ...schema, type: each })))
    switch (type) {
      case 'string':
        if (format === 'email') return fc.emailAddress({ size: 'small' }).filter((text) => text.length <= maxLength && text.indexOf('@') <= 64)
        // Keys can't expire in the past, which no schema can say.
        if (format === 'date-time') return fc.date({ min: new Date(Date.now() + 86_400_000), max: new Date('2999-12-31'), noInvalidDate: true }).map((date) => date.toISOString())
        if (pattern !== undefined && pattern !== '\\S') return fc.stringMatching(new RegExp(pattern))
        return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) }).filter((text) => WITHOUT_CONTROL.test(text) && (pattern === undefined || text.trim() !== '') && [...text.normalize('NFC')].length >= minLength && [...text].length <= maxLength)
      case 'number': return fc.double({ min: minimum, max: maximum, noNaN: true })
      case 'integer': return fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) })
      case 'null': return fc.constant(null)
      case 'boolean': return fc.boolean()
      case 'array': return fc.uniqueArray(right(items), { minLength: minItems, maxLength: 4 })
      default: return fc.record(Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, right(each)])), { requiredKeys: required, noNullPrototype: true })
    }
  }

  /** Values of which exactly one place, which is named, is not as the schema says. */
  function wrong (given: JsonSchema): fc.Arbitrary<{ value: unknown, place: string }> {
    const schema = resolve(given)
    const { type, enum: choices, pattern, format, minLength = 0, maxLength, minimum, maximum, minItems = 0, items, properties, required = [], anyOf } = schema
    const value = (place: string, ...values: unknown[]) => values.map((each) => fc.constant({ value: each, place }))
    if (anyOf !== undefined || (type === undefined && choices === undefined)) return fc.constant({ value: 'a\u0000b', place: 'characters' })
    const types = [type].flat()
    const others = [...value('a number', ...(types.includes('integer') || types.includes('number') ? [] : [5])), ...value('a text', ...(types.includes('string') ? [] : ['text'])), ...value('null', ...(types.includes('null') ? [] : [null])),
      ...value('a list', ...(types.includes('array') ? [] : [[]])), ...value('true', ...(types.includes('boolean') ? [] : [true])), ...value('an object', ...(properties === undefined ? [{}] : []))]
    const own = [
      ...(choices === undefined ? [] : value('no choice', types.includes('string') ? 'none-of-them' : -1)),
      ...(maxLength === undefined ? [] : value('too long', 'x'.repeat(maxLength + 1))),
      ...(minLength > 0 || pattern !== undefined || format === 'email' || format === 'date-time' ? value('empty', '') : []),
      ...(pattern === '\\S' ? value('blank', ' \u00a0 ') : []),
      ...(format === 'email' ? value('no address', 'a', 'a@b', 'a@@b.org', 'a b@example.org', '@example.org', 'ä@example.org') : []),
      ...(format === 'date-time' ? value('no date', 'today', '2026-02-30T00:00:00Z', '2999-01-01') : []),
      ...(types.includes('string') && choices === undefined && format === undefined && pattern === '\\S' ? value('characters', 'a\u0000b', 'a\ud800b', 'a\u0007') : []),
      ...(types.includes('string') && choices === undefined && format === undefined && pattern === undefined ? value('characters', 'a\u0000b') : []),
      ...(minimum === undefined ? [] : value('too small', minimum - 1)),
      ...(maximum === undefined ? [] : value('too large', maximum + 1)),
      ...(types.includes('integer') ? value('no whole number', 1.5) : []),
      ...(minItems > 0 ? value('no items', []) : [])
    ]
    const inner = items === undefined ? [] : [wrong(items).map((each) => ({ value: [each.value], place: `item: ${each.place}` }))]
    if (properties === undefined) return fc.oneof(...others, ...own, ...inner)
    return fc.oneof(
      ...others,
      right(schema).map((whole) => ({ value: { ...Object(whole), unheardOf: 1 }, place: 'an unknown member' })),
      ...required.map((name) => right(schema).map((whole) => ({ value: Object.fromEntries(Object.entries(Object(whole)).filter(([each]) => each !== name)), place: `no ${name}` }))),
      ...Object.entries(properties).map(([name, each]) => fc.tuple(right(schema), wrong(each)).map(([whole, { value, place }]) => ({ value: { ...Object(whole), [name]: value }, place: `${name}: ${place}` })))
    )
  }

  return { right, wrong }
}

/** Makes requests from a description: valid ones, and ones that are wrong in one place. `idsAt`: those that there are below a path. */
export function requestsOf (described: Description, idsAt: (path: string) => readonly string[]): { valid: fc.Arbitrary<Request>, invalid: fc.Arbitrary<Request> } {
  const { right, wrong } = valuesOf(described)
  const operations = Object.entries(described.paths).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })))
  type Each = DescribedOperation & { method: string, path: string }

  const parametersOf = ({ parameters = [] }: Each, place: string) => parameters.filter((parameter) => parameter.in === place)

  function valid (operation: Each): fc.Arbitrary<Request> {
    const { method, path, requestBody } = operation
    const [id] = parametersOf(operation, 'path')
    const query = fc.record(Object.fromEntries(parametersOf(operation, 'query').map(({ name, schema }) => [name, right(schema).map(String)])), { requiredKeys: [], noNullPrototype: true })
      // Two that the description says, in words, don't go together.
      .map(({ page, ...others }) => Object.entries({ ...others, ...(page !== undefined && !('after' in others) && { page }) }))
    const headers = fc.record(Object.fromEntries(parametersOf(operation, 'header').map(({ name, schema }) => [name.toLowerCase(), name.startsWith('If-') ? fc.constantFrom('*', ENTITY_TAG, `W/${ENTITY_TAG}, "7"`) : right(schema).map(String)])), { requiredKeys: [], noNullPrototype: true })
      // Most come without.
      .chain((found) => fc.nat(3).map((n) => n === 0 ? found : withoutConditions(found)))
    const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => right(schema).map((body) => ({ type, body: exclusive(Object(body)) })))
    return fc.record({
      id: id === undefined ? fc.constant('') : fc.oneof({ weight: 1, arbitrary: right(id.schema).map(String) }, { weight: 4, arbitrary: fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((n) => idsAt(path)[n % Math.max(1, idsAt(path).length)] ?? 'x') }),
      query,
      headers,
      content: bodies.length === 0 ? fc.constant(null) : fc.oneof(...bodies)
    }).map(({ id, query, headers, content }) => {
      // An id in a body is that of the path.
      const body = content !== null && 'id' in content.body ? { ...content.body, id } : content?.body
      return { method, path: path.replace('{id}', id), query: Object.entries(Object.fromEntries(query)), headers: { ...headers, ...(content !== null && { 'content-type': content.type }) }, body }
    })
  }

  function invalid (operation: Each): Array<fc.Arbitrary<Request>> {
    const bad = (what: string, status: number, change: (request: Request) => Partial<Request>): fc.Arbitrary<Request> =>
      valid(operation).map((request) => ({ ...request, ...change(request), wrong: what, status }))
    const { requestBody, method, path } = operation
    return [
      bad('no key', 401, ({ headers }) => ({ headers: { ...headers, authorization: '' } })),
      bad('a key of nobody', 401, ({ headers }) => ({ headers: { ...headers, authorization: 'Bearer uk_nobody' } })),
      bad('another method', 405, ({ path }) => ({ method: 'OPTIONS', path, headers: {}, body: undefined })),
      bad('an unknown parameter', 400, ({ query }) => ({ query: [...query, ['unheardOf', '1']] })),
      ...parametersOf(operation, 'query').flatMap(({ name, schema }) => [
        bad(`${name} twice`, 400, ({ query }) => ({ query: [...query.filter(([each]) => each !== name), [name, '1'], [name, '1']] })),
        fc.tuple(valid(operation), wrong({ ...schema, type: schema.type ?? 'string' }).filter(({ value }) => !(schema.type === 'string' && typeof value !== 'string'))).map(([request, { value, place }]) =>
          ({ ...request, query: [...request.query.filter(([each]) => each !== name && each !== 'page' && each !== 'after'), [name, typeof value === 'object' ? '[]' : String(value)] satisfies [string, string]], wrong: `query ${name}: ${place}`, status: 400 }))
      ]),
      ...(method === 'GET' && path.endsWith('users') ? [bad('page and after', 400, () => ({ query: [['page', '1'], ['after', 'usr_01h455vb4pex5vsknk084sn02q']] }))] : []),
      ...parametersOf(operation, 'header').map(({ name }) => bad(`header ${name}`, 400, ({ headers }) => ({ headers: { ...headers, [name.toLowerCase()]: 'not a value' } }))),
      ...(parametersOf(operation, 'path').length === 0 ? [] : [bad('an id of nobody', 404, ({ body, headers }) => ({ path: path.replace('{id}', 'x'), headers: withoutConditions(headers), body: withoutId(body) }))]),
      ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => [
        fc.tuple(valid(operation), wrong(schema)).map(([request, { value, place }]) => ({ ...request, headers: { ...request.headers, 'content-type': type }, body: value, wrong: `body: ${place}`, status: 400 })),
        bad('another media type', 415, ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/plain' } })),
        bad('no JSON', 400, ({ headers }) => ({ headers: { ...headers, 'content-type': type }, body: '{"name":' })),
        bad('too large', 413, ({ headers }) => ({ headers: { ...headers, 'content-type': type }, body: { name: 'x'.repeat(20_000) } })),
        bad('a content coding', 415, ({ headers }) => ({ headers: { ...headers, 'content-type': type, 'content-encoding': 'gzip' } }))
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

/** Two members that the description says, in words, don't go together. */
function exclusive (body: Record<string, unknown>): Record<string, unknown> {
  return 'expiresAt' in body ? Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'expiresIn')) : body
}
