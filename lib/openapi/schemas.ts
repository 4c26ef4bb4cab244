import { OVERLAP_MAX } from '../api-keys/rules.ts'
import { SCOPES } from '../api-keys/scopes.ts'
import { errorTable } from '../errors.ts'
import { API_KEY_ID, USER_ID } from '../ids.ts'
import type { Limits } from '../paging.ts'
import { EMAIL_MAX, NAME_MAX } from '../users/rules.ts'
import type { DescribedFields } from './fields.ts'

/** A JSON Schema, as OpenAPI has it; `$ref` is the bare name of a component. */
export type Schema = Readonly<Record<string, unknown>>

const USER = { id: 'usr_01h455vb4pex5vsknk084sn02q', name: 'Ada Lovelace', email: 'ada@example.org', createdAt: '2026-01-31T09:30:00.000Z', updatedAt: '2026-01-31T09:30:00.000Z' }
const KEY = { id: 'key_01h455vb4pex5vsknk084sn02q', name: 'reporting', scopes: ['users:read'], start: 'uk_4fK8sQ1zXb0T', createdAt: '2026-01-31T09:30:00.000Z', expiresAt: '2027-01-31T09:30:00.000Z' }

const moment = (description: string): Schema => ({ type: 'string', format: 'date-time', description })

export const userId = { type: 'string', pattern: USER_ID.source, description: 'The user’s id: a TypeID, sortable by creation.' }
export const keyId = { type: 'string', pattern: API_KEY_ID.source, description: 'The id of the API key’s record: a TypeID, sortable by creation.' }

const name = { type: 'string', minLength: 1, maxLength: NAME_MAX, pattern: '\\S', description: 'Kept in NFC and trimmed, and judged so; no control characters.' }
export const email = { type: 'string', format: 'email', maxLength: EMAIL_MAX, description: 'An ordinary address, kept as sent, trimmed, and judged so; unique whatever its case.' }

const object = (properties: Readonly<Record<string, Schema>>, optional: readonly string[] = [], example?: unknown): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((each) => !optional.includes(each)),
  additionalProperties: false,
  ...(example !== undefined && { examples: [example] })
})

const list = (item: string, { max }: Limits): Schema => object({ data: { type: 'array', items: { $ref: item }, maxItems: max }, meta: { $ref: 'ListMeta' } })

const scopes = { type: 'array', items: { type: 'string', enum: SCOPES }, minItems: 1, description: 'What the key may do.' }
const keyMembers = {
  id: keyId,
  name,
  scopes,
  start: { type: 'string', description: 'The first characters of the key’s text, safe to show.' },
  createdAt: moment('When the key was made.'),
  expiresAt: moment('When the key expires; absent: never.'),
  revokedAt: moment('When the key was revoked; absent: it was not.'),
  lastUsedAt: moment('When the key was used last, to the minute; absent: never.'),
  rotatedFrom: { ...keyId, description: 'The key whose successor this is.' }
}
const SOMETIMES = ['expiresAt', 'revokedAt', 'lastUsedAt', 'rotatedFrom']

/** What descriptions refer to, by name. */
export const componentsFor = (limits: Limits, { user, patch, optional, omissible, example }: DescribedFields): Readonly<Record<string, Schema>> => ({
  /** Problem details (RFC 9457). */
  Problem: object({
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    code: { type: 'string', enum: Object.keys(errorTable), description: 'Stable: switch on it.' },
    detail: { type: 'string', description: 'For people.' },
    requestId: { type: 'string', description: 'What the server’s log has it under.' },
    errors: { type: 'array', items: { $ref: 'Fault' }, minItems: 1, description: 'Every fault of the request.' }
  }, ['errors'], { type: 'urn:problem:fastify-users:user_not_found', title: errorTable.user_not_found.title, status: 404, code: 'user_not_found', detail: errorTable.user_not_found.detail, requestId: 'req-1' }),
  Fault: object({
    pointer: { type: 'string', description: 'JSON Pointer (RFC 6901) into the body.' },
    parameter: { type: 'string', description: 'Name of the query parameter.' },
    header: { type: 'string', description: 'Name of the request header, lower case.' },
    code: { type: 'string', description: 'A stable word for the kind of fault.' },
    detail: { type: 'string', description: 'One sentence for people.' }
  }, ['pointer', 'parameter', 'header'], { pointer: '/email', code: 'format', detail: 'must be an e-mail address' }),
  ListMeta: object({
    page: { type: 'integer', minimum: 1, description: 'Absent in a walk by `after`.' },
    limit: { type: 'integer', minimum: 1, maximum: limits.max },
    total: { type: 'integer', minimum: 0, description: 'All of them, exactly, not those of this page.' }
  }, ['page'], { page: 1, limit: 20, total: 1 }),
  User: object(
    { id: userId, name, email, ...user, createdAt: moment('When the user was created.'), updatedAt: moment('When the user was changed last.') },
    optional,
    example && { ...USER, ...example }
  ),
  UserList: list('User', limits),
  /** Body of POST. */
  UserInput: object({ name, email, ...user }, omissible, example && { name: USER.name, email: USER.email, ...example }),
  /** Body of PATCH (RFC 7396). */
  UserPatch: object({ id: userId, name, email, ...patch }, ['id', 'name', 'email', ...Object.keys(patch)], { name: 'Ada King' }),
  /** Body of PUT. */
  UserReplacement: object({ id: userId, name, email, ...user }, ['id', ...omissible], example && { name: USER.name, email: USER.email, ...example }),
  ApiKey: object(keyMembers, SOMETIMES, KEY),
  ApiKeyList: list('ApiKey', limits),
  NewApiKey: object({ ...keyMembers, key: { type: 'string', description: 'The key’s text: shown this once.' } }, SOMETIMES, { ...KEY, key: 'uk_…' }),
  ApiKeyInput: object({
    name,
    scopes: { ...scopes, description: 'None beyond the caller’s own. Absent: those of the three of users that the caller has.' },
    expiresAt: { type: ['string', 'null'], format: 'date-time', description: 'Not beyond the caller’s own expiry; null: never. Absent: in a year. Not together with `expiresIn`.' },
    expiresIn: { type: 'integer', minimum: 1, description: 'Seconds from now, instead of `expiresAt`.' }
  }, ['scopes', 'expiresAt', 'expiresIn'], { name: 'reporting', scopes: ['users:read'], expiresIn: 2_592_000 }),
  Rotation: object({ overlap: { type: 'integer', minimum: 0, maximum: OVERLAP_MAX, description: 'Seconds that the old key goes on working. Absent: a day.' } }, ['overlap'], { overlap: 3600 })
})
