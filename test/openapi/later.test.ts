// A client made from the description of this version works with servers of later ones (contract §12): answers may have
// more members, codes and types of events. Requests may not.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { test } from 'tap'
import { EVENT_TYPES } from '../../lib/events/types.ts'
import { LATER } from '../../lib/openapi/component-parts.ts'
import { describe, operationsOf } from '../helpers/description.ts'

const ALL = { apiKeys: { routes: true }, eventLog: true, trash: true, webhooks: true, admin: true }
const moment = '2026-01-31T09:30:00.000Z'
const more = { addedLater: { a: 1 } }
const user = {
  id: 'usr_01h455vb4pex5vsknk084sn02q',
  name: 'Ann',
  email: 'ann@example.org',
  status: 'locked',
  statusReason: null,
  version: 1,
  createdAt: moment,
  updatedAt: moment
}
const key = {
  id: 'key_01h455vb4pex5vsknk084sn02q', name: 'k', scopes: ['groups:read'], start: 'uk_4fK8sQ1zXb0T', createdAt: moment
}
const webhook = {
  id: 'whk_01h455vb4pex5vsknk084sn02q',
  url: 'https://example.org/',
  types: ['group.*'],
  enabled: false,
  disabledReason: 'quota',
  createdAt: moment,
  updatedAt: moment
}
const delivery = {
  id: 'dlv_01h455vb4pex5vsknk084sn02q',
  event: 'evt_01h455vb4pex5vsknk084sn02q',
  type: 'group.created',
  status: 'cancelled',
  createdAt: moment,
  attempts: [{ at: moment, milliseconds: 1, ...more }]
}
const problem = { type: 'urn:x', title: 'x', status: 409, code: 'user_locked', detail: 'x' }
const fault = { pointer: '/email', code: 'x', detail: 'x', ...more }
const event = {
  id: 'evt_01h455vb4pex5vsknk084sn02q',
  type: 'group.created',
  timestamp: moment,
  data: { id: 'grp_1' },
  actor: { type: 'session', id: 'x', name: null, ...more },
  requestId: null
}
const deletion = { deletedAt: moment, deletedBy: event.actor, ...more }
const meta = { page: 1, limit: 20, total: 1, ...more }
const whole = { default: 20, max: 100, ...more }

/** Answers of a later version, by component. */
const answers: Record<string, object> = {
  User: user,
  WrittenUser: { id: user.id, createdAt: user.createdAt, updatedAt: user.updatedAt },
  DeletedUserList: {
    data: [
      { ...user, ...deletion }, { id: user.id, version: 1, createdAt: moment, updatedAt: moment, ...deletion }
    ],
    meta
  },
  Subject: {
    user: { ...user, ...deletion },
    events: [event],
    deliveries: [{ ...delivery, webhook: { id: webhook.id, origin: 'https://example.org', ...more } }]
  },
  UserList: { data: [{ ...user, ...more }], meta },
  Problem: { ...problem, requestId: 'r', errors: [fault], instance: '/v1/users/x' },
  BatchResults: {
    data: [{ status: 200, body: { ...user, ...more }, ...more }, { status: 409, body: { ...problem, errors: [fault] } }]
  },
  ApiKey: key,
  ApiKeyList: { data: [{ ...key, ...more }], meta },
  NewApiKey: { ...key, key: 'uk_x' },
  RotatedApiKey: { id: key.id, start: key.start, createdAt: key.createdAt, key: 'uk_x' },
  Event: event,
  EventList: {
    data: [
      { ...event, ...more },
      { ...event, type: 'user.updated', data: { ...user, version: 2, ...more }, before: { name: 'Al', ...more } }
    ],
    meta: { limit: 20, more: false, ...more }
  },
  UserEventList: { data: [event], meta },
  Webhook: webhook,
  WebhookList: { data: [{ ...webhook, ...more }], meta },
  NewWebhook: { ...webhook, secret: 'whsec_x' },
  CreatedWebhook: { id: webhook.id, createdAt: moment, updatedAt: moment },
  WrittenWebhook: { id: webhook.id, createdAt: moment, updatedAt: moment },
  RotatedWebhook: { id: webhook.id, createdAt: moment, updatedAt: moment, secret: 'whsec_x' },
  Delivery: delivery,
  WrittenDelivery: { id: delivery.id, status: 'cancelled', createdAt: moment },
  DeliveryList: { data: [{ ...delivery, ...more }], meta },
  Capabilities: {
    caller: { type: 'session', id: 'x', scopes: ['groups:read'], ...more },
    offers: { apiKeys: true, events: true, webhooks: true, tenants: true, trash: true, ...more },
    requireIfMatch: false,
    pageSize: whole,
    scopes: { 'orders:read': 'Read orders' },
    fields: { properties: {}, required: [], ...more },
    filterable: [],
    searchable: []
  }
}

test('a description admits the answers of later versions', async (t) => {
  const { description } = await describe(t, { mounts: [ALL] })
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(description, 'description')
  const operations = operationsOf(description)
  const bodies = operations.flatMap(({ operation: { responses } }) =>
    Object.values(responses).flatMap(({ content }) => Object.values({ ...content }).map(({ schema }) => schema.$ref)))
  const named = [...new Set(bodies)].flatMap((name) => name?.replace('#/components/schemas/users.', '') ?? [])
  t.strictSame(named.filter((name) => !(name in answers)), [], 'each answer is among them')
  for (const [name, answer] of Object.entries(answers)) {
    const validate = ajv.compile({ $ref: `description#/components/schemas/users.${name}` })
    t.ok(validate({ ...answer, ...more }), `${name} ${ajv.errorsText(validate.errors)}`)
  }
  const conflict = description.paths['/v1/users']?.['post']?.responses['409']?.content?.['application/problem+json']
  const { allOf } = Object(conflict?.schema)
  const narrowed = ajv.compile(allOf[1])
  t.ok(narrowed({ ...problem, ...more }))
  t.strictSame(allOf[1].properties.code.anyOf, [
    { type: 'string', enum: ['email_taken', 'field_taken', 'idempotency_in_progress'] },
    { type: 'string', description: LATER }
  ], 'and names the codes of this one')
})

test('a description closes requests', async (t) => {
  const { description } = await describe(t, { mounts: [ALL] })
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(description, 'description')
  const bodies: Record<string, object> = {
    UserInput: { name: 'Ann', email: 'ann@example.org' },
    UserPatch: { name: 'Ann' },
    UserReplacement: { name: 'Ann', email: 'ann@example.org' },
    Batch: { operations: [{ op: 'delete', id: user.id }] },
    BatchCreation: { op: 'create', body: { name: 'Ann', email: 'ann@example.org' } },
    BatchUpdate: { op: 'update', id: user.id, body: { name: 'Ann' } },
    BatchDeletion: { op: 'delete', id: user.id },
    ApiKeyInput: { name: 'k', scopes: ['users:read'] },
    Rotation: { overlap: 1 },
    WebhookInput: { url: 'https://example.org/', types: [EVENT_TYPES[0]] },
    WebhookPatch: { types: ['user.*'] },
    WebhookReplay: { since: moment }
  }
  for (const [name, body] of Object.entries(bodies)) {
    const validate = ajv.compile({ $ref: `description#/components/schemas/users.${name}` })
    t.strictSame([validate(body), validate({ ...body, ...more })], [true, false], name)
  }
  const [input, webhookInput] = ['ApiKeyInput', 'WebhookInput'].map((name) =>
    ajv.compile({ $ref: `description#/components/schemas/users.${name}` }))
  t.notOk(input?.({ name: 'k', scopes: ['groups:read'] }))
  t.notOk(webhookInput?.({ url: 'https://example.org/', types: ['group.*'] }))
})
