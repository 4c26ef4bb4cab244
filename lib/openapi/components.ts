import { errorTable } from '../core/error-table.ts'
import { EMAIL_MAX, NAME_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import { EVENT_TYPES } from '../events/types.ts'
import { STATUSES } from '../users/status.ts'
import { batchComponents, capabilitiesComponents } from './batch-components.ts'
import {
  answer, body, eventId, known, LATER, list, moment, name, type Schema, userId, written
} from './component-parts.ts'
import type { DescribedFields } from './described-fields.ts'
import { groupComponents } from './group-components.ts'
import { KEY, keyComponents } from './key-components.ts'
import type { DescriptionSettings } from './operation-description.ts'
import { webhookComponents } from './webhook-components.ts'

const USER = {
  id: 'usr_01h455vb4pex5vsknk084sn02q',
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  status: 'active',
  statusReason: null,
  version: 1,
  createdAt: '2026-01-31T09:30:00.000Z',
  updatedAt: '2026-01-31T09:30:00.000Z'
}

const email: Schema = {
  type: 'string',
  format: 'email',
  maxLength: EMAIL_MAX,
  description: 'An ordinary e-mail address: trimmed, then checked; its case is kept. Unique, whatever the case.'
}

const statusReason: Schema = {
  type: ['string', 'null'],
  minLength: 1,
  maxLength: NAME_MAX,
  description: 'Why the user has this status: a text for people.'
}
const MEANING = 'Whether your applications should admit the user.'
/** The status in a patch, and in another body. */
const statusPatch = { status: { type: 'string', enum: STATUSES, description: MEANING }, statusReason }
const statusInput = {
  status: { type: 'string', enum: STATUSES, description: `${MEANING} Default: \`active\`.` }, statusReason
}
/** The status in an answer. */
const status = { status: known(STATUSES, MEANING), statusReason }
const actor: Schema = {
  type: ['object', 'null'],
  properties: {
    type: known(['api_key', 'static', 'host']), id: { type: 'string' }, name: { type: ['string', 'null'] }
  },
  required: ['type', 'id', 'name'],
  description: 'Who made the change, under the name used at that time. `null` if it was the server itself.'
}

/** The version of a user. */
const version: Schema = {
  type: 'integer',
  minimum: 1,
  description: 'Grows by one with every change. It is the ETag without the quotes, and orders the user’s events.'
}

const problemMembers: Readonly<Record<string, Schema>> = {
  type: { type: 'string', format: 'uri' },
  title: { type: 'string' },
  status: { type: 'integer', minimum: 400, maximum: 599 },
  code: known(Object.keys(errorTable), 'Stable: switch on it.'),
  detail: { type: 'string', description: 'For people.' }
}

/** Components of errors and lists. */
const sharedComponents = ({ max }: PageSize): Readonly<Record<string, Schema>> => ({
  /** Problem details (RFC 9457). */
  Problem: answer({
    ...problemMembers,
    requestId: { type: 'string', description: 'The id of the request in the server’s log.' },
    errors: { type: 'array', items: { $ref: 'Fault' }, minItems: 1, description: 'Every fault of the request.' }
  }, {
    optional: ['errors'],
    example: {
      type: 'urn:problem:fastify-users:user_not_found',
      title: errorTable.user_not_found.title,
      status: 404,
      code: 'user_not_found',
      detail: errorTable.user_not_found.detail,
      requestId: 'req-1'
    }
  }),
  /** Problem details of one operation among many. */
  PartProblem: answer({
    ...problemMembers,
    errors: { type: 'array', items: { $ref: 'Fault' }, minItems: 1, description: 'Every fault of the operation.' }
  }, { optional: ['errors'] }),
  Fault: answer({
    pointer: { type: 'string', description: 'JSON Pointer (RFC 6901) into the body.' },
    parameter: { type: 'string', description: 'Name of the query parameter.' },
    header: { type: 'string', description: 'Name of the request header, in lower case.' },
    code: { type: 'string', description: 'A stable word for the kind of fault.' },
    detail: { type: 'string', description: 'One sentence for people.' }
  }, {
    optional: ['pointer', 'parameter', 'header'],
    example: { pointer: '/email', code: 'format', detail: 'must be an e-mail address: it has no @' }
  }),
  ListMeta: answer({
    page: { type: 'integer', minimum: 1, description: 'Absent if the request has `after` or `cursor`.' },
    limit: { type: 'integer', minimum: 1, maximum: max },
    total: { type: 'integer', minimum: 0, description: 'The exact number of all matches, on all pages.' }
  }, { optional: ['page'], example: { page: 1, limit: 20, total: 1 } })
})

const STATUS_MEMBERS = Object.keys(statusInput)

const inputOf = (example: object) => ({ name: USER.name, email: USER.email, ...example })

/** Components of users. */
function userComponents (pageSize: PageSize, fields: DescribedFields): Readonly<Record<string, Schema>> {
  const { user, patch, optional, omissible, example } = fields
  const input = example && inputOf(example)
  const times = { createdAt: moment('When the user was created.'), updatedAt: moment('When the user last changed.') }
  const asStored = 'Read-only: send the stored value, or leave it out.'
  const stored = {
    version: { ...version, description: asStored }, createdAt: moment(asStored), updatedAt: moment(asStored)
  }
  const deletion = { deletedAt: moment('When the user was deleted.'), deletedBy: actor }
  return {
    User: answer(
      { id: userId, name, email, ...user, ...status, version, ...times },
      { optional, example: example && { ...USER, ...example } }
    ),
    DeletedUser: answer(
      { id: userId, name, email, ...user, ...status, version, ...times, ...deletion }, { optional }
    ),
    /** What the list tells a caller without `users:read`. */
    MinimalDeletedUser: answer({ id: userId, version, ...times, ...deletion }),
    ListedDeletedUser: {
      anyOf: [{ $ref: 'DeletedUser' }, { $ref: 'MinimalDeletedUser' }],
      description: 'Without the scope `users:read`, little more than the id and times.'
    },
    DeletedUserList: list('ListedDeletedUser', pageSize),
    /** Body of a reversal. */
    UserReversal: body({ event: eventId }, { example: { event: 'evt_01h455vb4pex5vsknk084sn02q' } }),
    /** What a write tells a caller without `users:read`. */
    MinimalUser: answer({ id: userId, ...times }),
    WrittenUser: written('User', 'MinimalUser', 'users:read'),
    UserList: list('User', pageSize),
    /** Body of POST. */
    UserInput: body({ name, email, ...user, ...statusInput }, {
      optional: [...omissible, ...STATUS_MEMBERS], example: input
    }),
    /** Body of PATCH (RFC 7396). */
    UserPatch: body({ id: userId, name, email, ...patch, ...statusPatch, ...stored }, {
      optional: ['id', 'name', 'email', ...Object.keys(patch), ...STATUS_MEMBERS, ...Object.keys(stored)],
      example: { name: 'Ada King' }
    }),
    /** Body of PUT. */
    UserReplacement: body({ id: userId, name, email, ...user, ...statusInput, ...stored }, {
      optional: ['id', ...omissible, ...STATUS_MEMBERS, ...Object.keys(stored)], example: input
    })
  }
}

/** Components of events. */
function eventComponents (pageSize: PageSize, { user, example }: DescribedFields): Readonly<Record<string, Schema>> {
  const own = Object.fromEntries(Object.keys(user).map((member) => [member, {}]))
  const text = { type: ['string', 'null'] }
  const nullable = { name: text, email: text }
  const changed = { ...nullable, ...own, status: status.status, statusReason: text }
  return {
    Event: answer({
      id: eventId,
      type: known(EVENT_TYPES),
      timestamp: moment('When the change was made.'),
      data: {
        anyOf: [
          { $ref: 'EventUser' },
          { $ref: 'EventApiKey' },
          { $ref: 'EventGroup' },
          { $ref: 'Webhook' },
          { type: 'object', additionalProperties: true, description: LATER }
        ],
        description: 'The user, key, group or webhook after the change.'
      },
      before: answer(changed, { optional: Object.keys(changed) }),
      actor,
      requestId: { type: ['string', 'null'], description: 'The id of the request in the server’s log.' },
      reverts: { ...eventId, description: 'The event whose change this one reverts. Absent if it reverts none.' }
    }, {
      optional: ['before', 'reverts'],
      example: example && {
        id: 'evt_01h455vb4pex5vsknk084sn02q',
        type: 'user.updated',
        timestamp: USER.updatedAt,
        data: { ...USER, ...example, version: 2 },
        before: { name: 'Ada Byron' },
        actor: { type: 'api_key', id: KEY.id, name: KEY.name },
        requestId: 'req-1'
      }
    }),
    /** A user in an event. After an erasure its values are null. */
    EventUser: answer({
      id: userId,
      ...nullable,
      ...own,
      status: status.status,
      statusReason: text,
      version,
      createdAt: moment('When the user was created.'),
      updatedAt: moment('When the user last changed.')
    }, { optional: Object.keys(own) }),
    EventList: answer({
      data: { type: 'array', items: { $ref: 'Event' }, maxItems: pageSize.max },
      meta: answer({
        limit: { type: 'integer', minimum: 1, maximum: pageSize.max },
        more: { type: 'boolean', description: 'True if more events can be read now.' },
        position: {
          ...eventId,
          description: 'The last event scanned, of any type: send it as `after` to continue. With `order=desc`, the ' +
            'newest event of the log, on the first page only. In an empty log, an id before all events.'
        },
        total: { type: 'integer', minimum: 0, description: 'On all pages. Only with both `order=desc` and `subject`.' }
      }, { optional: ['position', 'total'] })
    }),
    UserEventList: list('Event', pageSize),
    /** All that is stored of a person. */
    Subject: answer({
      user: { anyOf: [{ $ref: 'User' }, { $ref: 'DeletedUser' }, { type: 'null' }], description: '`null` if gone.' },
      groups: { type: 'array', items: { $ref: 'SubjectGroup' }, description: 'The groups that the user is in.' },
      events: { type: 'array', items: { $ref: 'Event' }, description: 'The history, newest first.' },
      deliveries: { type: 'array', items: { $ref: 'SubjectDelivery' }, description: 'Deliveries of these events.' }
    })
  }
}

/** The components that descriptions refer to, by name. */
export function componentsFor (
  { pageSize, scopes, trash }: DescriptionSettings,
  fields: DescribedFields
): Readonly<Record<string, Schema>> {
  return {
    ...sharedComponents(pageSize),
    ...userComponents(pageSize, fields),
    ...batchComponents(fields.example && inputOf(fields.example), trash),
    ...keyComponents(pageSize, scopes),
    ...eventComponents(pageSize, fields),
    ...groupComponents(pageSize),
    ...webhookComponents(pageSize),
    ...capabilitiesComponents
  }
}
