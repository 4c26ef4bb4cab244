// A client made from the description of this version works with servers of later ones (contract §12): answers may have
// more members, codes and types of events. Requests may not.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { test, type Test } from 'tap'
import { LATER } from '../../lib/openapi/component-parts.ts'
import { describe, operationsOf } from '../helpers/description.ts'

const ALL = {
  apiKeys: { routes: true }, eventLog: true, trash: true, webhooks: true, groups: true, tenants: true, admin: true
}
const OF_LATER = { type: 'string', description: LATER }

/** A schema and where it stands; `beside`: the other schemas of the list that it stands in. */
interface Place { path: string, schema: Record<string, unknown>, beside: readonly unknown[] }

async function described (t: Test) {
  const { description } = await describe(t, { mounts: [ALL] })
  const operations = operationsOf(description)
  /** Every schema in these, each component once. */
  function placesIn (contents: ReadonlyArray<Record<string, { schema: object }> | undefined>): Place[] {
    const places: Place[] = []
    const seen = new Set<string>()
    function visit (value: unknown, path: string, beside: readonly unknown[] = []): void {
      if (typeof value !== 'object' || value === null) return
      if (Array.isArray(value)) {
        for (const [i, each] of value.entries()) visit(each, `${path}/${i}`, value)
        return
      }
      const schema: Record<string, unknown> = { ...value }
      if (typeof schema['$ref'] === 'string') {
        const name = schema['$ref'].replace('#/components/schemas/', '')
        if (!seen.has(name)) visit(description.components.schemas[name], name)
        seen.add(name)
        return
      }
      places.push({ path, schema, beside })
      const { enum: _values, examples, default: _default, properties, ...keywords } = schema
      for (const [name, each] of Object.entries(Object(properties))) visit(each, `${path}/${name}`)
      for (const [keyword, each] of Object.entries(keywords)) visit(each, `${path} ${keyword}`)
    }
    for (const content of contents) {
      for (const [type, media] of Object.entries(Object(content))) visit(Object(media).schema, type)
    }
    return places
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(description, 'description')
  const validatorOf = (name: string) => ajv.compile({ $ref: `description#/components/schemas/users.${name}` })
  return { description, operations, placesIn, ajv, validatorOf }
}

test('a description admits the answers of later versions', async (t) => {
  const { description, operations, placesIn, ajv, validatorOf } = await described(t)
  const places = placesIn(operations.flatMap(({ operation: { responses } }) =>
    Object.values(responses).map(({ content }) => content)))
  t.ok(places.length > 300, `${places.length} schemas`)
  const isClosed = ({ schema }: Place) =>
    schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false || 'oneOf' in schema
  // Numbers among them are statuses.
  const isFinal = ({ schema: { enum: values }, beside }: Place) => Array.isArray(values) &&
    typeof values[0] === 'string' && JSON.stringify(beside.at(-1)) !== JSON.stringify(OF_LATER)
  t.strictSame(places.filter((place) => isClosed(place) || isFinal(place)).map(({ path }) => path), [])

  const event = {
    id: 'evt_01h455vb4pex5vsknk084sn02q',
    type: 'group.created',
    timestamp: '2026-01-31T09:30:00.000Z',
    data: { id: 'grp_1' },
    actor: { type: 'session', id: 'x', name: null },
    requestId: null
  }
  t.ok(validatorOf('Event')(event), 'of what this version does not know')
  const conflict = description.paths['/v1/users']?.['post']?.responses['409']?.content?.['application/problem+json']
  const { allOf } = Object(conflict?.schema)
  t.ok(ajv.compile(allOf[1])({ type: 'urn:x', title: 'x', status: 409, code: 'user_locked', detail: 'x' }))
  t.strictSame(allOf[1].properties.code.anyOf, [
    { type: 'string', enum: ['email_taken', 'field_taken', 'idempotency_in_progress'] }, OF_LATER
  ], 'and names the codes of this one')
})

test('a description closes requests', async (t) => {
  const { operations, placesIn, validatorOf } = await described(t)
  const places = placesIn(operations.map(({ operation: { requestBody } }) => requestBody?.content))
    .filter(({ schema }) => 'properties' in schema)
  t.ok(places.length > 10, `${places.length} objects`)
  t.strictSame(places.filter(({ schema }) => schema['additionalProperties'] !== false).map(({ path }) => path), [])
  t.notOk(validatorOf('ApiKeyInput')({ name: 'k', scopes: ['roles:read'] }))
  t.notOk(validatorOf('WebhookInput')({ url: 'https://example.org/', types: ['role.*'] }))
})
