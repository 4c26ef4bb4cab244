import { scopesOf } from '../api-keys/scopes.ts'
import { errorTable } from '../core/error-table.ts'
import { EMAIL_MAX, NAME_MAX, OVERLAP_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import { EVENT_TYPES } from '../events/types.ts'
import { batchComponents, capabilitiesComponents } from './batch-components.ts'
import {
  answer, body, eventId, keyId, known, LATER, list, moment, type Schema, userId, written
} from './component-parts.ts'
import type { DescribedFields } from './described-fields.ts'
import { webhookComponents } from './webhook-components.ts'

const USER = {
  id: 'usr_01h455vb4pex5vsknk084sn02q',
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  createdAt: '2026-01-31T09:30:00.000Z',
  updatedAt: '2026-01-31T09:30:00.000Z'
}
const KEY = {
  id: 'key_01h455vb4pex5vsknk084sn02q',
  name: 'reporting',
  scopes: ['users:read'],
  start: 'uk_4fK8sQ1zXb0T',
  createdAt: '2026-01-31T09:30:00.000Z',
  expiresAt: '2027-01-31T09:30:00.000Z'
}

const name: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: NAME_MAX,
  pattern: '\\S',
  description: 'Kept in NFC and trimmed, and checked in that form; a character that can be seen, no control characters.'
}
const email: Schema = {
  type: 'string',
  format: 'email',
  maxLength: EMAIL_MAX,
  description: 'An ordinary address, kept as sent, trimmed, and checked in that form; unique in any case.'
}

const keyText: Schema = { type: 'string', description: 'The key’s text: shown only in this answer.' }
const keyMembers = {
  id: keyId,
  name,
  scopes: { type: 'array', items: known(scopesOf(false)), minItems: 1, description: 'What the key may do.' },
  start: { type: 'string', description: 'The first characters of the key’s text, safe to show.' },
  createdAt: moment('When the key was created.'),
  expiresAt: moment('When the key expires; absent: never.'),
  revokedAt: moment('When the key was revoked; absent: it was not.'),
  lastUsedAt: moment('When the key was used last, to the minute; absent: never.'),
  rotatedFrom: { ...keyId, description: 'The key that this one replaces.' }
} satisfies Readonly<Record<string, Schema>>
const { start, createdAt, expiresAt } = keyMembers
const OPTIONAL_KEY_MEMBERS = ['expiresAt', 'revokedAt', 'lastUsedAt', 'rotatedFrom']

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
    header: { type: 'string', description: 'Name of the request header, lower case.' },
    code: { type: 'string', description: 'A stable word for the kind of fault.' },
    detail: { type: 'string', description: 'One sentence for people.' }
  }, {
    optional: ['pointer', 'parameter', 'header'],
    example: { pointer: '/email', code: 'format', detail: 'must be an e-mail address' }
  }),
  ListMeta: answer({
    page: { type: 'integer', minimum: 1, description: 'Absent in a walk by `after`.' },
    limit: { type: 'integer', minimum: 1, maximum: max },
    total: { type: 'integer', minimum: 0, description: 'The exact number of all matches, on all pages.' }
  }, { optional: ['page'], example: { page: 1, limit: 20, total: 1 } })
})

const inputOf = (example: object) => ({ name: USER.name, email: USER.email, ...example })

/** Components of users. */
function userComponents (pageSize: PageSize, fields: DescribedFields): Readonly<Record<string, Schema>> {
  const { user, patch, optional, omissible, example } = fields
  const input = example && inputOf(example)
  const times = { createdAt: moment('When the user was created.'), updatedAt: moment('When the user last changed.') }
  return {
    User: answer(
      { id: userId, name, email, ...user, ...times },
      { optional, example: example && { ...USER, ...example } }
    ),
    /** What a write tells a caller without `users:read`. */
    MinimalUser: answer({ id: userId, ...times }),
    WrittenUser: written('User', 'MinimalUser', 'users:read'),
    UserList: list('User', pageSize),
    /** Body of POST. */
    UserInput: body({ name, email, ...user }, { optional: omissible, example: input }),
    /** Body of PATCH (RFC 7396). */
    UserPatch: body({ id: userId, name, email, ...patch }, {
      optional: ['id', 'name', 'email', ...Object.keys(patch)],
      example: { name: 'Ada King' }
    }),
    /** Body of PUT. */
    UserReplacement: body({ id: userId, name, email, ...user }, { optional: ['id', ...omissible], example: input })
  }
}

/** Components of API keys. */
const keyComponents = (pageSize: PageSize): Readonly<Record<string, Schema>> => ({
  ApiKey: answer(keyMembers, { optional: OPTIONAL_KEY_MEMBERS, example: KEY }),
  ApiKeyList: list('ApiKey', pageSize),
  NewApiKey: answer(
    { ...keyMembers, key: keyText },
    { optional: OPTIONAL_KEY_MEMBERS, example: { ...KEY, key: 'uk_…' } }
  ),
  MinimalNewApiKey: answer({ id: keyId, start, createdAt, expiresAt, key: keyText }, { optional: ['expiresAt'] }),
  RotatedApiKey: written('NewApiKey', 'MinimalNewApiKey', 'keys:read'),
  ApiKeyInput: body({
    name,
    scopes: {
      type: 'array',
      items: { type: 'string', enum: scopesOf(false) },
      minItems: 1,
      description: 'Only scopes that the caller has. Absent: those of the three of users that the caller has.'
    },
    expiresAt: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Not later than the caller’s own expiry; null: never. Absent: in a year. ' +
        'Not together with `expiresIn`.'
    },
    expiresIn: { type: 'integer', minimum: 1, description: 'Seconds from now, instead of `expiresAt`.' }
  }, {
    optional: ['scopes', 'expiresAt', 'expiresIn'],
    example: { name: 'reporting', scopes: ['users:read'], expiresIn: 2_592_000 }
  }),
  Rotation: body({
    overlap: {
      type: 'integer',
      minimum: 0,
      maximum: OVERLAP_MAX,
      description: 'Seconds that the old key keeps working. Absent: a day.'
    }
  }, { optional: ['overlap'], example: { overlap: 3600 } })
})

/** Components of events. */
function eventComponents (pageSize: PageSize, { user, example }: DescribedFields): Readonly<Record<string, Schema>> {
  const version = { type: 'integer', minimum: 1, description: 'Of one user, events come in the order of its versions.' }
  const own = Object.fromEntries(Object.keys(user).map((member) => [member, {}]))
  const nullable = { name: { type: ['string', 'null'] }, email: { type: ['string', 'null'] } }
  return {
    Event: answer({
      id: eventId,
      type: known(EVENT_TYPES),
      timestamp: moment('When the change was made.'),
      data: {
        anyOf: [
          { $ref: 'EventUser' },
          { $ref: 'ApiKey' },
          { $ref: 'Webhook' },
          { type: 'object', additionalProperties: true, description: LATER }
        ],
        description: 'The user, key or webhook after the change.'
      },
      before: answer({ ...nullable, ...own }, { optional: ['name', 'email', ...Object.keys(own)] }),
      actor: {
        type: ['object', 'null'],
        properties: { type: known(['api_key', 'static', 'host']), id: { type: 'string' } },
        required: ['type', 'id'],
        description: 'Who made the change; null: the server itself.'
      },
      requestId: { type: ['string', 'null'], description: 'The id of the request in the server’s log.' }
    }, {
      optional: ['before'],
      example: example && {
        id: 'evt_01h455vb4pex5vsknk084sn02q',
        type: 'user.updated',
        timestamp: USER.updatedAt,
        data: { ...USER, ...example, version: 2 },
        before: { name: 'Ada Byron' },
        actor: { type: 'api_key', id: KEY.id },
        requestId: 'req-1'
      }
    }),
    /** A user in an event. After an erasure its values are null. */
    EventUser: answer({
      id: userId,
      ...nullable,
      ...own,
      version,
      createdAt: moment('When the user was created.'),
      updatedAt: moment('When the user last changed.')
    }, { optional: Object.keys(own) }),
    EventList: answer({
      data: { type: 'array', items: { $ref: 'Event' }, maxItems: pageSize.max },
      meta: answer({
        limit: { type: 'integer', minimum: 1, maximum: pageSize.max },
        more: { type: 'boolean', description: 'True if more events follow at this moment.' },
        position: {
          ...eventId,
          description: 'The last event that was passed, of whatever type: `after` to read on. Absent: the log is empty.'
        }
      }, { optional: ['position'] })
    }),
    UserEventList: list('Event', pageSize)
  }
}

/** The components that descriptions refer to, by name. */
export function componentsFor (pageSize: PageSize, fields: DescribedFields): Readonly<Record<string, Schema>> {
  return {
    ...sharedComponents(pageSize),
    ...userComponents(pageSize, fields),
    ...batchComponents(fields.example && inputOf(fields.example)),
    ...keyComponents(pageSize),
    ...eventComponents(pageSize, fields),
    ...webhookComponents(pageSize),
    ...capabilitiesComponents
  }
}
